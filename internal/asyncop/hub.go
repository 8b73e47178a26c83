package asyncop

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
)

// Reader is the part of Store that the hub and its handles need.
type Reader interface {
	Get(ctx context.Context, scope Scope, id uuid.UUID) (Operation, error)
	Revisions(ctx context.Context, ids []uuid.UUID) (map[uuid.UUID]int64, error)
}

// Prover is a Reader that can tell whether wakes arrive. It takes less than a
// second.
type Prover interface {
	Proven(ctx context.Context) bool
}

// Hub wakes everyone in this process who waits for an operation: at once when
// it is told of a change. Wakes may be lost, so every poll interval it asks for
// a proof that they arrive, and without one looks everyone up in one batch. Now
// and then it does so with one too: a node that is killed between its commit and
// its wake sends none. It does neither while nobody waits. It is a Waker for the
// store.
type Hub struct {
	poll   atomic.Int64 // nanoseconds
	log    *slog.Logger
	missed chan struct{} // holds one: look everyone up
	closed chan struct{} // closed under mu: Run has ended, nobody waits any more
	tasks  sync.WaitGroup

	mu      sync.Mutex
	waiting map[uuid.UUID]map[*waiter]struct{} // guarded by mu
}

// waiter is one registration with the hub.
type waiter struct {
	wake chan struct{} // holds one: look at your operation
	seen int64         // guarded by Hub.mu: the revision it knows
}

// NewHub makes a hub with that poll interval.
func NewHub(poll time.Duration, log *slog.Logger) *Hub {
	h := &Hub{
		log:     log,
		missed:  make(chan struct{}, 1),
		closed:  make(chan struct{}),
		waiting: map[uuid.UUID]map[*waiter]struct{}{},
	}
	h.SetPoll(poll)
	return h
}

// SetPoll changes the poll interval, from the next look-up on.
func (h *Hub) SetPoll(poll time.Duration) { h.poll.Store(int64(poll)) }

// trust is how long wakes that arrive are taken for all that there were.
const trust = 15 * time.Second

// Run looks waiters up until ctx ends. Then it ends the streams that handles
// began, and returns when they have ended.
func (h *Hub) Run(ctx context.Context, reader Reader) error {
	next := time.NewTimer(time.Duration(h.poll.Load()))
	defer next.Stop()
	looked := time.Now()
	look := func() {
		looked = time.Now()
		h.lookUp(ctx, reader)
	}
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-next.C:
			next.Reset(time.Duration(h.poll.Load()))
			if h.Waiting() > 0 && (time.Since(looked) >= trust || !proven(ctx, reader)) {
				look()
			}
		case <-h.missed:
			look()
		}
	}
	h.mu.Lock()
	close(h.closed)
	h.mu.Unlock()
	h.tasks.Wait()
	return nil
}

func proven(ctx context.Context, reader Reader) bool {
	prover, ok := reader.(Prover)
	return ok && prover.Proven(ctx)
}

// stream runs task where Run waits for its end. Once Run has ended it does
// nothing and answers false.
func (h *Hub) stream(task func()) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	select {
	case <-h.closed:
		return false
	default:
		h.tasks.Go(task)
		return true
	}
}

// Due is for workers; the hub ignores it.
func (h *Hub) Due() {}

// Changed wakes those who wait for ids.
func (h *Hub) Changed(ids ...uuid.UUID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, id := range ids {
		for w := range h.waiting[id] {
			signal(w.wake)
		}
	}
}

// Missed makes the hub look every waiter up in one batch.
func (h *Hub) Missed() { signal(h.missed) }

// Waiting is how many registrations there are.
func (h *Hub) Waiting() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := 0
	for _, waiters := range h.waiting {
		n += len(waiters)
	}
	return n
}

// subscribe registers for id, before the first read, so that no change slips
// between. The caller must call cancel.
func (h *Hub) subscribe(id uuid.UUID) (w *waiter, cancel func()) {
	w = &waiter{wake: make(chan struct{}, 1)}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.waiting[id] == nil {
		h.waiting[id] = map[*waiter]struct{}{}
	}
	h.waiting[id][w] = struct{}{}
	return w, func() { h.unsubscribe(id, w) }
}

func (h *Hub) unsubscribe(id uuid.UUID, w *waiter) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.waiting[id], w)
	if len(h.waiting[id]) == 0 {
		delete(h.waiting, id)
	}
}

// saw tells the hub which revision w knows: the poll wakes it at another.
func (h *Hub) saw(w *waiter, revision int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	w.seen = revision
}

// lookUpBatch bounds one look-up's statement.
const lookUpBatch = 10_000

// lookUp wakes every waiter whose operation is not at the revision it knows,
// or is gone.
func (h *Hub) lookUp(ctx context.Context, reader Reader) {
	ids := h.ids()
	for len(ids) > 0 {
		batch := ids[:min(lookUpBatch, len(ids))]
		ids = ids[len(batch):]
		bounded, cancel := context.WithTimeout(ctx, readTimeout)
		revisions, err := reader.Revisions(bounded, batch)
		cancel()
		if err != nil {
			if ctx.Err() == nil {
				h.log.WarnContext(ctx, "look up waiting operations", "error", err)
			}
			return // the next poll asks again
		}
		h.wakeStale(batch, revisions)
	}
}

func (h *Hub) ids() []uuid.UUID {
	h.mu.Lock()
	defer h.mu.Unlock()
	ids := make([]uuid.UUID, 0, len(h.waiting))
	for id := range h.waiting {
		ids = append(ids, id)
	}
	return ids
}

func (h *Hub) wakeStale(ids []uuid.UUID, revisions map[uuid.UUID]int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, id := range ids {
		revision, exists := revisions[id]
		for w := range h.waiting[id] {
			if !exists || w.seen != revision {
				signal(w.wake)
			}
		}
	}
}

// signal wakes without blocking: one pending wake is as good as many.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
