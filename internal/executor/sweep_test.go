package executor_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"asyncgate/internal/asyncop"
	"asyncgate/internal/executor"
)

// sweep runs a sweeper until the rig is stopped.
func (r *rig) sweep(t *testing.T, shelf executor.Shelf) {
	t.Helper()
	ctx, quit := context.WithCancel(t.Context())
	sweeper := executor.Sweeper{
		Shelf: shelf, Retention: asyncop.Retention{Result: 10 * time.Minute, Operation: time.Hour},
		ExpireEvery: 10 * time.Second, Log: r.options.Log,
	}
	swept := make(chan struct{})
	go func() {
		defer close(swept)
		if err := sweeper.Run(ctx); err != nil {
			t.Error(err)
		}
	}()
	r.stopSweep = func() {
		quit()
		<-swept
	}
}

func startWithin(d time.Duration) func(*asyncop.Submission) {
	return func(s *asyncop.Submission) { s.StartWithin = d }
}

func TestWhatIsNotStartedInTimeExpires(t *testing.T) {
	underPool(t, func(t *testing.T, r *rig) {
		r.sweep(t, r.store)
		op := r.submit(t, startWithin(time.Minute))
		time.Sleep(time.Minute - time.Second)
		r.expect(t, op.ID, asyncop.Queued, "", 0)
		time.Sleep(11 * time.Second)
		synctest.Wait()
		r.expect(t, op.ID, asyncop.Failed, asyncop.CodeStartDeadlineExceeded, 0)
	})
}

func TestWhatIsGivenBackAgainAndAgainExpires(t *testing.T) {
	underPool(t, func(t *testing.T, r *rig) {
		r.sweep(t, r.store)
		r.start(t, attempter(func(context.Context, asyncop.Claim) executor.Attempted {
			return failed(asyncop.CodeUpstreamUnavailable, asyncop.NotExecuted)
		}))
		op := r.submit(t, startWithin(10*time.Minute))
		time.Sleep(10*time.Minute + 10*time.Second)
		synctest.Wait()
		op = r.expect(t, op.ID, asyncop.Failed, asyncop.CodeStartDeadlineExceeded, 0)
		if op.Execution != asyncop.NotExecuted || len(op.AttemptLog) < 5 {
			t.Errorf("%s after %d tries", op.Execution, len(op.AttemptLog))
		}
	})
}

func TestResultsAndThenOperationsAreRemovedWhenTheirRetentionEnds(t *testing.T) {
	underPool(t, func(t *testing.T, r *rig) {
		r.sweep(t, r.store)
		r.start(t, succeeding(0))
		op := r.submit(t)
		r.stop()
		time.Sleep(9 * time.Minute)
		if op := r.get(t, op.ID); op.Purged || op.Result == nil {
			t.Error("purged too early")
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if op := r.get(t, op.ID); !op.Purged || op.Result != nil {
			t.Error("not purged")
		}
		time.Sleep(50 * time.Minute)
		synctest.Wait()
		if _, err := r.store.Get(t.Context(), asyncop.EverythingScope(), op.ID); !errors.Is(err, asyncop.ErrNotFound) {
			t.Errorf("got %v, want it deleted", err)
		}
	})
}

// crowdedShelf has more to expire and to sweep than one batch holds, and fails
// at first.
type crowdedShelf struct {
	expire, sweep   int // left
	expires, sweeps int // calls
}

func (s *crowdedShelf) Expire(_ context.Context, limit int) ([]uuid.UUID, error) {
	if s.expires++; s.expires == 1 {
		return nil, errAway
	}
	n := min(limit, s.expire)
	s.expire -= n
	return make([]uuid.UUID, n), nil
}

func (s *crowdedShelf) Sweep(_ context.Context, _ asyncop.Retention, limit int) (asyncop.Swept, error) {
	if s.sweeps++; s.sweeps == 1 {
		return asyncop.Swept{}, errAway
	}
	n := min(limit, s.sweep)
	s.sweep -= n
	return asyncop.Swept{Deleted: n}, nil
}

func TestASweepGoesOnWhileBatchesAreFullAndAfterAFault(t *testing.T) {
	underPool(t, func(t *testing.T, r *rig) {
		shelf := &crowdedShelf{expire: 1200, sweep: 1200}
		r.sweep(t, shelf)
		time.Sleep(121 * time.Second)
		r.stopSweep()
		if shelf.expire != 0 || shelf.expires != 14 { // one fails, one goes on over three batches
			t.Errorf("%d left to expire after %d calls", shelf.expire, shelf.expires)
		}
		if shelf.sweep != 0 || shelf.sweeps != 4 {
			t.Errorf("%d left to sweep after %d calls", shelf.sweep, shelf.sweeps)
		}
		if !r.log.tells("step=expire", errAway.Error()) || !r.log.tells("step=sweep", errAway.Error()) {
			t.Error("the log does not tell of the faults")
		}
	})
}
