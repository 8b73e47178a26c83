package asyncop_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"asyncgate/internal/asyncop"
)

const poll = time.Second

var (
	errAway    = errors.New("the store is away")
	quiet      = slog.New(slog.DiscardHandler)
	everything = asyncop.EverythingScope()
)

// shelf is a Reader in memory, with the faults that a store can have. It tells
// no one of changes.
type shelf struct {
	mu         sync.Mutex
	operations map[uuid.UUID]asyncop.Operation // guarded by mu
	err        error                           // guarded by mu: what every call answers
	hangs      bool                            // guarded by mu: calls last as long as their context
	proven     bool                            // guarded by mu: wakes are said to arrive
	gets       int                             // guarded by mu
	batches    []int                           // guarded by mu: the sizes of the look-ups
}

func (s *shelf) Get(ctx context.Context, scope asyncop.Scope, id uuid.UUID) (asyncop.Operation, error) {
	s.mu.Lock()
	s.gets++
	op, ok := s.operations[id]
	s.mu.Unlock()
	if err := s.fault(ctx); err != nil {
		return asyncop.Operation{}, err
	}
	if !ok || !scope.Reaches(op) {
		return asyncop.Operation{}, asyncop.ErrNotFound
	}
	return op, nil
}

func (s *shelf) Revisions(ctx context.Context, ids []uuid.UUID) (map[uuid.UUID]int64, error) {
	if err := s.fault(ctx); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.batches = append(s.batches, len(ids))
	revisions := map[uuid.UUID]int64{}
	for _, id := range ids {
		if op, ok := s.operations[id]; ok {
			revisions[id] = op.Revision
		}
	}
	return revisions, nil
}

func (s *shelf) Proven(context.Context) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.proven
}

func (s *shelf) fault(ctx context.Context) error {
	s.mu.Lock()
	hangs, err := s.hangs, s.err
	s.mu.Unlock()
	if hangs {
		<-ctx.Done()
		return ctx.Err()
	}
	return err
}

// put makes a fresh operation.
func (s *shelf) put() uuid.UUID {
	id := uuid.Must(uuid.NewV7())
	s.mu.Lock()
	defer s.mu.Unlock()
	s.operations[id] = asyncop.Operation{ID: id, State: asyncop.Queued, Revision: 1}
	return id
}

// become moves an operation on.
func (s *shelf) become(id uuid.UUID, state asyncop.State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	op := s.operations[id]
	op.State = state
	op.Revision++
	s.operations[id] = op
}

func (s *shelf) remove(id uuid.UUID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.operations, id)
}

// fail sets what every call answers from now on; nil mends it.
func (s *shelf) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = err
}

func (s *shelf) hang() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hangs = true
}

func (s *shelf) prove() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.proven = true
}

func (s *shelf) counted() (gets int, batches []int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.gets, s.batches
}

// desk is a hub at work, on a shelf.
type desk struct {
	*shelf
	hub  *asyncop.Hub
	stop func() // ends the hub's Run, and returns once it has
}

// underHub runs a rule in a bubble. At its end nobody may be registered.
func underHub(t *testing.T, rule func(t *testing.T, d desk)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := desk{shelf: &shelf{operations: map[uuid.UUID]asyncop.Operation{}}, hub: asyncop.NewHub(poll, quiet)}
		ctx, quit := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			if err := d.hub.Run(ctx, d.shelf); err != nil {
				t.Error(err)
			}
		}()
		d.stop = func() {
			quit()
			<-ended
		}
		defer d.stop()
		rule(t, d)
		synctest.Wait()
		if n := d.hub.Waiting(); n != 0 {
			t.Errorf("%d registrations are left behind", n)
		}
	})
}

func (d desk) handle(id uuid.UUID) asyncop.Handle { return d.hub.Handle(d, everything, id) }

// awaited is what Await answered, and how long it took.
type awaited struct {
	op   asyncop.Operation
	err  error
	took time.Duration
}

// await waits on another goroutine, and returns once it does.
func (d desk) await(ctx context.Context, id uuid.UUID, wait time.Duration) <-chan awaited {
	answers := make(chan awaited, 1)
	go func() {
		began := time.Now()
		op, err := d.handle(id).Await(ctx, wait)
		answers <- awaited{op, err, time.Since(began)}
	}()
	synctest.Wait()
	return answers
}

func (a awaited) expect(t *testing.T, state asyncop.State, took time.Duration) {
	t.Helper()
	if a.err != nil || a.op.State != state || a.took != took {
		t.Errorf("%s, %v after %s, want %s after %s", a.op.State, a.err, a.took, state, took)
	}
}
