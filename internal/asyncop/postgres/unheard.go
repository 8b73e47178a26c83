package postgres

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"asyncgate/internal/asyncop"
)

// unheardFor is how long a claim statement that failed here may still be
// committed by the database.
const unheardFor = 2 * statementTimeout

// closeTimeout bounds the last look for unheard claims and the last wakes.
const closeTimeout = 3 * time.Second

// unheard are the claim statements whose answer never came. What they claimed
// would stay RUNNING, held by nobody, for as long as its node lives.
type unheard struct {
	mu    sync.Mutex
	calls []unheardCall // guarded by mu
}

type unheardCall struct {
	node  string
	seed  uuid.UUID
	until time.Time
}

func (u *unheard) add(node string, seed uuid.UUID) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.calls = append(u.calls, unheardCall{node, seed, time.Now().Add(unheardFor)})
}

func (u *unheard) all() []unheardCall {
	u.mu.Lock()
	defer u.mu.Unlock()
	return slices.Clone(u.calls)
}

// forget drops the calls whose time is over.
func (u *unheard) forget(now time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.calls = slices.DeleteFunc(u.calls, func(c unheardCall) bool { return now.After(c.until) })
}

// releaseUnheard gives back what this store claimed and never heard of, under
// whatever name: a reload gives the pool another one. It looks
// again before each claim until the time of the lost call is over.
func (s *Store) releaseUnheard(ctx context.Context) error {
	looked := time.Now()
	if err := s.releaseCalls(ctx, s.unheard.all()); err != nil {
		return err
	}
	s.unheard.forget(looked)
	return nil
}

func (s *Store) releaseCalls(ctx context.Context, calls []unheardCall) error {
	for _, call := range calls {
		claims, err := query(ctx, s, pgx.RowToStructByPos[asyncop.ClaimRef], unheardSQL, call.node, call.seed)
		if err != nil {
			return err
		}
		if _, err := s.Release(ctx, claims); err != nil {
			return err
		}
	}
	return nil
}

// releaseUnheardAtEnd looks a last time, since after this process no one knows
// the seeds. What it cannot give back is recovered when the node is stale.
func (s *Store) releaseUnheardAtEnd(ctx context.Context) {
	calls := s.unheard.all()
	if len(calls) == 0 {
		return
	}
	if err := s.releaseCalls(ctx, calls); err != nil {
		s.logger.WarnContext(ctx, "claims whose answer was lost stay claimed until this node is stale", "error", err)
	}
}
