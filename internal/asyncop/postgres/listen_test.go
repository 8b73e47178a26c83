package postgres

import (
	"context"
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
	defer conn.Close(context.WithoutCancel(t.Context()))
	if err := store.send(t.Context(), []string{store.tag + " " + kindEcho}); err != nil {
		t.Fatal(err)
	}
	heard, err := store.receive(t.Context(), conn, 100*time.Millisecond, untilEcho)
	if err != nil || heard {
		t.Errorf("heard %v, %v", heard, err)
	}
	if err := conn.Ping(t.Context()); err != nil {
		t.Errorf("the connection did not survive the wait: %v", err)
	}
}
