package postgres_test

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"asyncgate/internal/asyncop"
	"asyncgate/internal/asyncop/postgres"
	"asyncgate/internal/asyncop/storetest"
	"asyncgate/test/pgtest"
)

// TestMain looks for leaks after the tests and before the cluster goes, whose
// own goroutine ends with it.
func TestMain(m *testing.M) {
	code := pgtest.Main(m)
	if err := goleak.Find(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func TestStore(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T, waker asyncop.Waker) asyncop.Store {
		t.Helper()
		return open(t, pgtest.URL(t), waker)
	})
}

// open opens a migrated store, closed when the test ends.
func open(t *testing.T, url string, waker asyncop.Waker) *postgres.Store {
	t.Helper()
	store, err := postgres.Open(t.Context(), url, postgres.Options{Waker: waker, Migrate: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	return store
}

// TestURLsForOldPgBouncersWork takes the exec modes that avoid named prepared
// statements.
func TestURLsForOldPgBouncersWork(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"cache_describe", "exec", "simple_protocol"} {
		store := open(t, pgtest.URL(t)+"&default_query_exec_mode="+mode, nil)
		submitted, err := store.Submit(t.Context(), []asyncop.Submission{submission(), submission()})
		if err != nil || submitted[1].Err != nil {
			t.Fatalf("%s: submit: %v", mode, err)
		}
		if _, err := store.Heartbeat(t.Context(), mode, nil); err != nil {
			t.Errorf("%s: heartbeat: %v", mode, err)
		}
		if claimed, err := store.Claim(t.Context(), asyncop.Intake{Node: mode, Limit: 10, Look: true}); err != nil || len(claimed.Claims) != 2 {
			t.Errorf("%s: %d claims, %v", mode, len(claimed.Claims), err)
		}
	}
}
