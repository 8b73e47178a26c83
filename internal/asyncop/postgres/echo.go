package postgres

import (
	"context"
	"sync"
	"time"

	"github.com/google/uuid"
)

// echoes are the words that this store has sent to itself and not heard yet. An
// echo is the only proof that notifications arrive: LISTEN is accepted behind
// PgBouncer in transaction mode too, and a connection whose packets vanish is
// silent.
type echoes struct {
	mu      sync.Mutex
	waiting map[uuid.UUID]chan struct{} // guarded by mu
}

func (e *echoes) expect() (word uuid.UUID, heard <-chan struct{}, forget func()) {
	word, c := uuid.New(), make(chan struct{})
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.waiting == nil {
		e.waiting = map[uuid.UUID]chan struct{}{}
	}
	e.waiting[word] = c
	return word, c, func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		delete(e.waiting, word)
	}
}

func (e *echoes) hear(words []uuid.UUID) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, word := range words {
		if c, ok := e.waiting[word]; ok {
			close(c)
			delete(e.waiting, word)
		}
	}
}

// echo sends a word through the pool, never through the connection that
// listens, and reports whether it came back in time.
func (s *Store) echo(ctx context.Context, patience time.Duration) bool {
	word, heard, forget := s.echoes.expect()
	defer forget()
	timed, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := s.send(timed, []string{s.tag + " " + kindEcho + " " + word.String()}); err != nil {
		return false
	}
	select {
	case <-heard:
		return true
	case <-timed.Done():
		return false
	}
}

// proofTimeout is what a proof may take that someone waits for.
const proofTimeout = 700 * time.Millisecond

// Proven reports whether the wakes of other nodes arrive, by an echo that it
// waits for, less than a second. Where none comes, the listening connection is
// looked at, and replaced if it stays deaf.
func (s *Store) Proven(ctx context.Context) bool {
	if !s.Listening() {
		return false
	}
	if s.echo(ctx, proofTimeout) {
		return true
	}
	s.listening.Store(false)
	select {
	case s.suspect <- struct{}{}:
	default: // it is suspect already
	}
	return false
}
