package postgres

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"asyncgate/test/pgtest"
)

// TestADeafConnectionHearsNoEcho listens as one does behind PgBouncer in
// transaction mode: not at all.
func TestADeafConnectionHearsNoEcho(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	store, err := Open(t.Context(), url, Options{Migrate: true})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	var reading sync.WaitGroup
	reading.Go(func() { _ = store.receive(ctx, conn) })
	defer conn.Close(context.WithoutCancel(ctx))
	defer reading.Wait()
	defer stop()
	if store.echo(ctx, 100*time.Millisecond) {
		t.Error("heard an echo without LISTEN")
	}
	store.listening.Store(true)
	if store.Proven(ctx) || store.Listening() {
		t.Error("a deaf connection is taken for proven")
	}
}
