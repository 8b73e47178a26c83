package postgres

import (
	"context"
	"sync"
)

// Run tells other nodes of this one's changes and the Waker of theirs, until
// ctx ends. It reconnects as often as it takes and answers nil, once all that
// it started has ended. While it does not run, changes are still told to this
// process's own Waker.
func (s *Store) Run(ctx context.Context) error {
	var wg sync.WaitGroup
	wg.Go(func() { s.notify(ctx) })
	wg.Go(func() { s.listen(ctx) })
	wg.Wait()
	return nil
}

// Listening reports whether other nodes' wakes are proven to arrive: while it
// is false, look at the store as often as a result must not be later.
func (s *Store) Listening() bool { return s.listening.Load() }
