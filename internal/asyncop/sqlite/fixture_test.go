package sqlite

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"

	"asyncgate/internal/asyncop"
)

const node = "node-1"

var everything = asyncop.EverythingScope()

// open opens the file for the length of the test.
func open(t testing.TB, path string, opts Options) *Store {
	t.Helper()
	store, err := Open(t.Context(), path, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return store
}

// fresh opens a file of its own for the test.
func fresh(t testing.TB, opts Options) *Store {
	t.Helper()
	opts.Migrate = true
	return open(t, filepath.Join(t.TempDir(), "store.db"), opts)
}

// submission is one that the store accepts, changed by edits.
func submission(edits ...func(*asyncop.Submission)) asyncop.Submission {
	s := asyncop.Submission{
		ID:     uuid.Must(uuid.NewV7()),
		Tenant: "acme", Issuer: "https://id.example/", Subject: "ada",
		Authority: json.RawMessage(`{"sub":"ada"}`),
		Mutations: []string{"pay"}, Document: "mutation { pay { id } }",
		Priority: 4, MaxAttempts: 3, StartWithin: time.Hour,
	}
	for _, edit := range edits {
		edit(&s)
	}
	return s
}

func submit(t testing.TB, store *Store, edits ...func(*asyncop.Submission)) asyncop.Operation {
	t.Helper()
	submitted, err := store.Submit(t.Context(), []asyncop.Submission{submission(edits...)})
	if err == nil {
		err = submitted[0].Err
	}
	if err != nil {
		t.Fatal(err)
	}
	return submitted[0].Operation
}

func beat(t testing.TB, store *Store) {
	t.Helper()
	if _, err := store.Heartbeat(t.Context(), node, nil); err != nil {
		t.Fatal(err)
	}
}

// claim answers what the node may claim now.
func claim(t testing.TB, store *Store) []asyncop.Claim {
	t.Helper()
	beat(t, store)
	claimed, err := store.Claim(t.Context(), asyncop.Intake{Node: node, Limit: 10, Look: true})
	claims := claimed.Claims
	if err != nil {
		t.Fatal(err)
	}
	return claims
}

func claimOne(t testing.TB, store *Store) asyncop.Claim {
	t.Helper()
	claims := claim(t, store)
	if len(claims) != 1 {
		t.Fatalf("%d claims, want 1", len(claims))
	}
	return claims[0]
}

func get(t testing.TB, store *Store, id uuid.UUID) asyncop.Operation {
	t.Helper()
	op, err := store.Get(t.Context(), everything, id)
	if err != nil {
		t.Fatal(err)
	}
	return op
}

func retry(t testing.TB, store *Store, claim asyncop.Claim, after time.Duration) {
	t.Helper()
	settled, err := store.Retry(t.Context(), []asyncop.Retried{{
		Claim: claim.Ref(), After: after, Uncounted: true,
		Failure: asyncop.Failure{Code: asyncop.CodeUpstreamUnavailable, Message: "Nothing was sent."},
	}})
	if err == nil {
		err = settled[0].Err
	}
	if err != nil {
		t.Fatal(err)
	}
}

func finish(t testing.TB, store *Store, claim asyncop.Claim, outcome asyncop.Outcome) {
	t.Helper()
	settled, err := store.Finish(t.Context(), []asyncop.Finished{{Claim: claim.Ref(), Outcome: outcome}})
	if err == nil {
		err = settled[0].Err
	}
	if err != nil {
		t.Fatal(err)
	}
}

func fileSize(t testing.TB, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}
