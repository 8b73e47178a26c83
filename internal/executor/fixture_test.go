package executor_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"asyncgate/internal/asyncop"
	"asyncgate/internal/asyncop/sqlite"
	"asyncgate/internal/executor"
)

const staleAfter = time.Minute

var errAway = errors.New("the store is away")

// rig is a pool at work on a real store, in a bubble where hours take no time.
// It is the store's waker, and hands on what it hears to the pool, unless deaf.
type rig struct {
	store   *sqlite.Store
	queue   executor.Queue // the store, or a store with faults
	options executor.PoolOptions
	deaf    bool
	log     journal

	pool *executor.Pool
	quit context.CancelFunc
	done chan struct{} // closed once Run has returned

	stopSweep func()
}

// underPool runs a rule in a bubble, on a fresh store. The rule starts the pool.
func underPool(t *testing.T, rule func(t *testing.T, r *rig)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := &rig{stopSweep: func() {}}
		r.options = executor.PoolOptions{
			Node: "node-1", Concurrency: 8, PollInterval: time.Second, StaleAfter: staleAfter,
			DrainTimeout: 5 * time.Minute, Log: slog.New(slog.NewTextHandler(&r.log, nil)),
		}
		store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "store.db"), sqlite.Options{Waker: r, Migrate: true})
		if err != nil {
			t.Fatal(err)
		}
		r.store, r.queue = store, store
		defer store.Close()
		defer func() {
			r.stop()
			r.stopSweep()
		}()
		rule(t, r)
	})
}

func (r *rig) Due() {
	if r.pool != nil && !r.deaf {
		r.pool.Due()
	}
}

func (r *rig) Missed() { r.Due() }

func (r *rig) Changed(...uuid.UUID) {}

// start runs the pool, and returns once it has done what there is to do now.
func (r *rig) start(t *testing.T, worker executor.Attempter) {
	t.Helper()
	r.pool, r.done = executor.NewPool(worker, r.options), make(chan struct{})
	ctx, quit := context.WithCancel(context.WithoutCancel(t.Context()))
	r.quit = quit
	go func() {
		defer close(r.done)
		if err := r.pool.Run(ctx, r.queue); err != nil {
			t.Error(err)
		}
	}()
	synctest.Wait()
}

// stop stops the pool and answers how long it took to end.
func (r *rig) stop() time.Duration {
	if r.pool == nil {
		return 0
	}
	began := time.Now()
	r.quit()
	<-r.done
	return time.Since(began)
}

// submit makes a QUEUED operation, and returns once the pool has done with it
// what it can do now.
func (r *rig) submit(t *testing.T, edits ...func(*asyncop.Submission)) asyncop.Operation {
	t.Helper()
	s := asyncop.Submission{
		ID:     uuid.Must(uuid.NewV7()),
		Tenant: "acme", Issuer: "idp", Subject: "ada", Authority: ada.Encode(),
		Mutations: []string{"pay"}, Document: `mutation { pay(amount: 1) { thing { id } } }`,
		Priority: 4, MaxAttempts: 3, StartWithin: 1000 * time.Hour,
	}
	for _, edit := range edits {
		edit(&s)
	}
	submitted, err := r.store.Submit(t.Context(), []asyncop.Submission{s})
	if err == nil {
		err = submitted[0].Err
	}
	if err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
	return submitted[0].Operation
}

func idempotent(s *asyncop.Submission) { s.Idempotent = true }

func (r *rig) get(t *testing.T, id uuid.UUID) asyncop.Operation {
	t.Helper()
	op, err := r.store.Get(t.Context(), asyncop.EverythingScope(), id)
	if err != nil {
		t.Fatal(err)
	}
	return op
}

// expect compares what an operation is now: its state, its failure's code
// ("" for none) and the attempts that count.
func (r *rig) expect(t *testing.T, id uuid.UUID, state asyncop.State, code asyncop.Code, attempts int) asyncop.Operation {
	t.Helper()
	op := r.get(t, id)
	var got asyncop.Code
	if op.Failure != nil {
		got = op.Failure.Code
	}
	if op.State != state || got != code || op.Attempts != attempts {
		t.Errorf("%s %q after %d attempts, want %s %q after %d", op.State, got, op.Attempts, state, code, attempts)
	}
	return op
}

// steal recovers what the pool has claimed, as another node would that had not
// heard of it.
func (r *rig) steal(t *testing.T) {
	t.Helper()
	if _, err := r.store.Recover(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
}

// attempter is a worker that does as it is told.
type attempter func(ctx context.Context, claim asyncop.Claim) executor.Attempted

func (f attempter) Attempt(ctx, _ context.Context, claim asyncop.Claim) executor.Attempted {
	return f(ctx, claim)
}

var envelope = json.RawMessage(`{"data":{"pay":null}}`)

func succeeded() executor.Attempted { return executor.Attempted{Envelope: envelope} }

func failed(code asyncop.Code, execution asyncop.Execution) executor.Attempted {
	return executor.Attempted{Failure: &asyncop.Failure{Code: code, Message: "It failed.", Execution: execution}}
}

// succeeding is a worker whose attempts take so long, and then succeed.
func succeeding(after time.Duration) attempter {
	return func(context.Context, asyncop.Claim) executor.Attempted {
		time.Sleep(after)
		return succeeded()
	}
}

// enduring is a worker whose attempts last until they are cut off. It tells
// causes why they were.
func enduring(causes chan<- error) attempter {
	return func(ctx context.Context, _ asyncop.Claim) executor.Attempted {
		<-ctx.Done()
		causes <- context.Cause(ctx)
		return failed(asyncop.CodeOutcomeUnknown, asyncop.UnknownExecution)
	}
}

// faultyQueue calls what is set instead of the real method.
type faultyQueue struct {
	executor.Queue
	claim     func(ctx context.Context, intake asyncop.Intake) (asyncop.Claimed, error)
	heartbeat func(ctx context.Context, node string, claims []asyncop.ClaimRef) ([]asyncop.Pulse, error)
	finish    func(ctx context.Context, batch []asyncop.Finished) ([]asyncop.Settled, error)
	release   func(ctx context.Context, claims []asyncop.ClaimRef) ([]asyncop.Settled, error)
	recover   func(ctx context.Context, staleAfter time.Duration) ([]uuid.UUID, error)
}

func (q *faultyQueue) Claim(ctx context.Context, intake asyncop.Intake) (asyncop.Claimed, error) {
	if q.claim != nil {
		return q.claim(ctx, intake)
	}
	return q.Queue.Claim(ctx, intake)
}

func (q *faultyQueue) Heartbeat(ctx context.Context, node string, claims []asyncop.ClaimRef) ([]asyncop.Pulse, error) {
	if q.heartbeat != nil {
		return q.heartbeat(ctx, node, claims)
	}
	return q.Queue.Heartbeat(ctx, node, claims)
}

func (q *faultyQueue) Finish(ctx context.Context, batch []asyncop.Finished) ([]asyncop.Settled, error) {
	if q.finish != nil {
		return q.finish(ctx, batch)
	}
	return q.Queue.Finish(ctx, batch)
}

func (q *faultyQueue) Release(ctx context.Context, claims []asyncop.ClaimRef) ([]asyncop.Settled, error) {
	if q.release != nil {
		return q.release(ctx, claims)
	}
	return q.Queue.Release(ctx, claims)
}

func (q *faultyQueue) Recover(ctx context.Context, staleAfter time.Duration) ([]uuid.UUID, error) {
	if q.recover != nil {
		return q.recover(ctx, staleAfter)
	}
	return q.Queue.Recover(ctx, staleAfter)
}

// journal is what was logged.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer // guarded by mu
}

func (j *journal) Write(line []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(line)
}

// tells reports whether one line holds all of words.
func (j *journal) tells(words ...string) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
lines:
	for line := range strings.Lines(j.text.String()) {
		for _, word := range words {
			if !strings.Contains(line, word) {
				continue lines
			}
		}
		return true
	}
	return false
}
