package executor

import (
	"context"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"asyncgate/internal/asyncop"
)

// Shelf is the part of asyncop.Store that a sweeper needs.
type Shelf interface {
	Expire(ctx context.Context, limit int) ([]uuid.UUID, error)
	Sweep(ctx context.Context, retention asyncop.Retention, limit int) (asyncop.Swept, error)
}

// Sweeper ends what was not started in time, and removes what has been kept
// long enough. Any number of nodes may run one.
type Sweeper struct {
	Shelf       Shelf
	Retention   asyncop.Retention
	ExpireEvery time.Duration
	Log         *slog.Logger
}

// The bounds of a sweep: small batches, so that nobody waits for their locks.
const (
	sweepEvery = time.Minute
	sweepBatch = 500
)

// Run expires and sweeps until ctx ends.
func (s *Sweeper) Run(ctx context.Context) error {
	expire := time.NewTicker(s.ExpireEvery)
	defer expire.Stop()
	sweep := time.NewTicker(sweepEvery)
	defer sweep.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-expire.C:
			s.repeat(ctx, "expire", func(ctx context.Context) (int, error) {
				expired, err := s.Shelf.Expire(ctx, sweepBatch)
				return len(expired), err
			})
		case <-sweep.C:
			s.repeat(ctx, "sweep", func(ctx context.Context) (int, error) {
				swept, err := s.Shelf.Sweep(ctx, s.Retention, sweepBatch)
				return max(swept.Purged, swept.Deleted), err
			})
		}
	}
}

// repeat runs a step while it finds full batches.
func (s *Sweeper) repeat(ctx context.Context, what string, step func(context.Context) (int, error)) {
	for ctx.Err() == nil {
		bounded, cancel := context.WithTimeout(ctx, storeTimeout)
		n, err := step(bounded)
		cancel()
		if err != nil {
			if ctx.Err() == nil {
				s.Log.WarnContext(ctx, "maintain operations", "step", what, "error", err)
			}
			return
		}
		if n < sweepBatch {
			return
		}
	}
}
