package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	// notifyGap is the least time between two NOTIFY transactions of a node:
	// each takes a database-wide lock. The first after a rest goes at once.
	notifyGap = 5 * time.Millisecond
	// notifyTimeout bounds one of them.
	notifyTimeout = 5 * time.Second
)

// notify sends hints to the other nodes until ctx ends, those of a moment in
// one statement. Where that fails, it tells them later that they missed some.
func (s *Store) notify(ctx context.Context) {
	for {
		select {
		case <-s.hints.added:
		case <-ctx.Done():
			return
		}
		gap := notifyGap
		if err := s.send(ctx, payloads(s.tag, s.hints.take())); err != nil {
			s.hints.add(wakes{missed: true})
			gap = time.Second
		}
		if !pause(ctx, gap) {
			return
		}
	}
}

// notifyAtEnd sends what is left, since after this process no one knows of it.
func (s *Store) notifyAtEnd(ctx context.Context) {
	if err := s.send(ctx, payloads(s.tag, s.hints.take())); err != nil {
		s.logger.WarnContext(ctx, "other nodes are not told of the last changes, and find them when they look", "error", err)
	}
}

func (s *Store) send(ctx context.Context, payloads []string) error {
	if len(payloads) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, notifyTimeout)
	defer cancel()
	_, err := query(ctx, s, func(pgx.CollectableRow) (struct{}, error) { return struct{}{}, nil }, notifySQL, payloads)
	return err
}

// pause waits, and answers false when ctx ended first.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
