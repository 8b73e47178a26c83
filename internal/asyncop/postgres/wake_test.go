package postgres_test

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"asyncgate/internal/asyncop"
	"asyncgate/internal/asyncop/postgres"
	"asyncgate/test/pgtest"
)

const patience = 20 * time.Second

// recorder is a Waker that counts.
type recorder struct {
	mu          sync.Mutex
	due, missed int
	changed     []uuid.UUID
}

func (r *recorder) record(change func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change()
}

func (r *recorder) Due()    { r.record(func() { r.due++ }) }
func (r *recorder) Missed() { r.record(func() { r.missed++ }) }
func (r *recorder) Changed(ids ...uuid.UUID) {
	r.record(func() { r.changed = append(r.changed, ids...) })
}

func (r *recorder) counts(id uuid.UUID) (due, missed, changed int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.changed {
		if c == id {
			changed++
		}
	}
	return r.due, r.missed, changed
}

// node is a store that runs.
type node struct {
	*postgres.Store
	wakes *recorder
}

// start runs a store, until the test ends, and waits until it listens.
func start(t *testing.T, url string) node {
	t.Helper()
	n := node{wakes: &recorder{}}
	n.Store = open(t, url, n.wakes)
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- n.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("run: %v", err)
		}
	})
	eventually(t, "listening", n.Listening)
	return n
}

func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	deadline := time.After(patience)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("not %s within %s", what, patience)
		}
	}
}

func submission() asyncop.Submission {
	return asyncop.Submission{
		ID: uuid.Must(uuid.NewV7()), Issuer: "issuer", Subject: "ada", Authority: json.RawMessage(`{}`),
		Mutations: []string{"pay"}, Document: "mutation { pay }", Priority: 4, MaxAttempts: 3, StartWithin: time.Hour,
	}
}

func (n node) submit(t *testing.T) uuid.UUID {
	t.Helper()
	s := submission()
	if _, err := n.Submit(t.Context(), []asyncop.Submission{s}); err != nil {
		t.Fatal(err)
	}
	return s.ID
}

func (n node) cancel(t *testing.T, id uuid.UUID) {
	t.Helper()
	if _, err := n.Cancel(t.Context(), asyncop.EverythingScope(), id); err != nil {
		t.Fatal(err)
	}
}

func TestNodesHearEachOther(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	here, there := start(t, url), start(t, url)
	id := here.submit(t)
	eventually(t, "told that a row is due", func() bool { due, _, _ := there.wakes.counts(id); return due > 0 })
	here.cancel(t, id)
	eventually(t, "told of the change", func() bool { _, _, changed := there.wakes.counts(id); return changed == 1 })
	if due, _, changed := here.wakes.counts(id); due != 1 || changed != 1 {
		t.Errorf("the node that made the changes was told %d and %d times, want once each", due, changed)
	}
}

func TestManyChangesAllArrive(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	here, there := start(t, url), start(t, url)
	var ids []uuid.UUID
	batch := make([]asyncop.Submission, 500) // more than one payload holds
	for i := range batch {
		batch[i] = submission()
		ids = append(ids, batch[i].ID)
	}
	if _, err := here.Submit(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
	if _, err := here.Heartbeat(t.Context(), "here", nil); err != nil {
		t.Fatal(err)
	}
	if claimed, err := here.Claim(t.Context(), asyncop.Intake{Node: "here", Limit: len(batch), Look: true}); err != nil || len(claimed.Claims) != len(batch) {
		t.Fatalf("%d claims, %v", len(claimed.Claims), err)
	}
	eventually(t, "told of all changes", func() bool {
		there.wakes.mu.Lock()
		defer there.wakes.mu.Unlock()
		return !slices.ContainsFunc(ids, func(id uuid.UUID) bool { return !slices.Contains(there.wakes.changed, id) })
	})
}

func TestWhatANodeDidLastIsToldAtItsEnd(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	there := start(t, url)
	here := node{Store: open(t, url, &recorder{})} // it does not run, as at its end
	id := here.submit(t)
	here.cancel(t, id)
	here.Close()
	eventually(t, "told", func() bool { due, _, changed := there.wakes.counts(id); return due > 0 && changed == 1 })
}

func execute(t *testing.T, url, sql string, args ...any) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	if _, err := conn.Exec(t.Context(), sql, args...); err != nil {
		t.Fatal(err)
	}
}

func TestALostListenerConnectsAgainAndTellsMissed(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	here, there := start(t, url), start(t, url)
	_, before, _ := there.wakes.counts(uuid.Nil)
	execute(t, url, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
		WHERE datname = current_database() AND query = 'LISTEN asyncgate'`)
	// Once when it is lost, and once when it listens again.
	eventually(t, "told Missed", func() bool { _, missed, _ := there.wakes.counts(uuid.Nil); return missed > before+1 })
	id := here.submit(t)
	here.cancel(t, id)
	eventually(t, "told of the change", func() bool { _, _, changed := there.wakes.counts(id); return changed > 0 })
	eventually(t, "listening again", there.Listening)
}

func TestForeignNotificationsAreIgnored(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	here, there := start(t, url), start(t, url)
	execute(t, url, `SELECT pg_notify('asyncgate', p) FROM unnest(ARRAY['', ' ', 'x', 'x c', 'x c nothing', 'x y z', repeat('é', 3000)]) AS p`)
	id := here.submit(t)
	here.cancel(t, id)
	eventually(t, "told of the change", func() bool { _, _, changed := there.wakes.counts(id); return changed > 0 })
	there.wakes.mu.Lock()
	defer there.wakes.mu.Unlock()
	if len(there.wakes.changed) != 1 || there.wakes.missed != 1 {
		t.Errorf("told of %v, missed %d times", there.wakes.changed, there.wakes.missed)
	}
}

func TestARestartedDatabaseIsFoundAgain(t *testing.T) {
	t.Parallel()
	cluster := pgtest.New(t)
	url := cluster.NewDatabase(t)
	here, there := start(t, url), start(t, url)
	kept := here.submit(t)
	if err := cluster.Restart(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "answering", func() bool { return here.Ping(t.Context()) == nil })
	eventually(t, "told Missed", func() bool { _, missed, _ := there.wakes.counts(uuid.Nil); return missed > 1 })
	_, before, _ := there.wakes.counts(kept)
	here.cancel(t, kept)
	// The first notification may meet a connection that the restart cut.
	eventually(t, "told of the change, or that it missed some", func() bool {
		_, missed, changed := there.wakes.counts(kept)
		return changed > 0 || missed > before
	})
}
