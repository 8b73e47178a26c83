package asyncop_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/google/uuid"

	"asyncgate/internal/asyncop"
	"asyncgate/internal/asyncop/sqlite"
)

// Whoever watches an operation gets its state now, and its end as soon as
// that is durable.
func ExampleUpdates() {
	if err := watchCancellation(); err != nil {
		fmt.Println(err)
	}
	// Output:
	// QUEUED
	// CANCELLED
	// done: true
}

func watchCancellation() error {
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	folder, err := os.MkdirTemp("", "example")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)

	hub := asyncop.NewHub(time.Second, slog.New(slog.DiscardHandler))
	store, err := sqlite.Open(ctx, filepath.Join(folder, "store.db"), sqlite.Options{Waker: hub, Migrate: true})
	if err != nil {
		return err
	}
	defer store.Close()
	submitted, err := store.Submit(ctx, []asyncop.Submission{{
		ID: uuid.Must(uuid.NewV7()), Issuer: "https://id.example/", Subject: "ada",
		Mutations: []string{"generateReport"}, Document: "mutation { generateReport { id } }",
		MaxAttempts: 1, StartWithin: time.Hour,
	}})
	if err != nil {
		return err
	}
	id := submitted[0].Operation.ID
	ada := asyncop.SubmitterScope("", "https://id.example/", "ada")

	updates, err := asyncop.Updates(ctx, hub.Handle(store, ada, id), func(op asyncop.Operation) asyncop.State { return op.State })
	if err != nil {
		return err
	}
	fmt.Println(<-updates)
	if _, err := store.Cancel(ctx, ada, id); err != nil {
		return err
	}
	fmt.Println(<-updates)

	op, err := hub.Handle(store, ada, id).Await(ctx, time.Minute) // no wait: it is done
	fmt.Println("done:", op.Done())
	return err
}
