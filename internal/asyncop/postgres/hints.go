package postgres

import (
	"sync"
	"time"

	"github.com/google/uuid"

	"asyncgate/internal/asyncop"
)

// hintLimit bounds the ids that wait to be notified. What is beyond becomes one
// hint to look at everything.
const hintLimit = 10_000

// hints are the wakes that other nodes have not been told of yet. Adding never
// blocks, whether or not anyone takes.
type hints struct {
	// added holds a token while there is something to take.
	added chan struct{}

	mu      sync.Mutex
	pending wakes // guarded by mu
}

// wakes are what a Waker can be told.
type wakes struct {
	due, missed bool
	changed     []uuid.UUID
}

func newHints() *hints { return &hints{added: make(chan struct{}, 1)} }

func (h *hints) add(w wakes) {
	h.mu.Lock()
	h.pending.due = h.pending.due || w.due
	h.pending.missed = h.pending.missed || w.missed
	if len(h.pending.changed)+len(w.changed) > hintLimit {
		h.pending.missed, h.pending.changed = true, nil
	} else {
		h.pending.changed = append(h.pending.changed, w.changed...)
	}
	h.mu.Unlock()
	select {
	case h.added <- struct{}{}:
	default: // a token is there already
	}
}

// take answers all that was added since the last take.
func (h *hints) take() wakes {
	h.mu.Lock()
	defer h.mu.Unlock()
	taken := h.pending
	h.pending = wakes{}
	return taken
}

// queued notes a row that is due in a while, and tells this process at once and
// other nodes soon. A row of the future is this node's to remember: the others
// find it when they look.
func (s *Store) queued(backlog asyncop.Backlog, in time.Duration) {
	if in > 0 {
		s.turns.DueIn(in)
		s.waker.Due()
		return
	}
	s.turns.Add(backlog)
	s.waker.Due()
	s.hints.add(wakes{due: true})
}

// tellChanged tells this process at once and other nodes soon.
func (s *Store) tellChanged(ids []uuid.UUID) {
	if len(ids) == 0 {
		return
	}
	s.waker.Changed(ids...)
	s.hints.add(wakes{changed: ids})
}
