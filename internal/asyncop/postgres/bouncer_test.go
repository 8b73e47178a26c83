package postgres_test

import (
	"context"
	"log/slog"
	"sync"
	"testing"

	"asyncgate/internal/asyncop"
	"asyncgate/internal/asyncop/postgres"
	"asyncgate/test/pgtest"
)

// TestBehindPgBouncerInTransactionModeWakesArePolledFor has LISTEN accepted, and
// nothing heard.
func TestBehindPgBouncerInTransactionModeWakesArePolledFor(t *testing.T) {
	t.Parallel()
	direct := pgtest.URL(t)
	by := start(t, direct)
	here := waiting{hub: asyncop.NewHub(pollInterval, slog.New(slog.DiscardHandler))}
	store, err := postgres.Open(t.Context(), pgtest.Bouncer(t, direct), postgres.Options{Waker: here.hub})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	here.Store = store
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	var running sync.WaitGroup
	running.Go(func() { _ = here.Store.Run(ctx) })
	running.Go(func() { _ = here.hub.Run(ctx, here.Store) })
	t.Cleanup(func() {
		cancel()
		running.Wait()
	})
	for range 5 {
		if took := here.pushed(t, by, func() {}); took > latestPush {
			t.Errorf("told after %v", took)
		}
	}
	if here.Listening() {
		t.Error("a LISTEN that hears nothing is taken for proven")
	}
	id := by.submit(t)
	if _, err := here.Heartbeat(t.Context(), "behind", nil); err != nil {
		t.Fatal(err)
	}
	claimed, err := here.Claim(t.Context(), asyncop.Intake{Node: "behind", Limit: 10, Look: true})
	if err != nil || len(claimed.Claims) != 1 || claimed.Claims[0].Operation.ID != id {
		t.Fatalf("claimed %v, %v", claimed.Claims, err)
	}
	settled, err := here.Finish(t.Context(), []asyncop.Finished{{Claim: claimed.Claims[0].Ref(), Outcome: asyncop.Succeed([]byte(`{"data":{}}`))}})
	if err != nil || settled[0].Err != nil {
		t.Errorf("finish: %v, %v", settled, err)
	}
}
