package executor_test

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"asyncgate/internal/asyncop"
	"asyncgate/internal/executor"
)

// clocked is the real store that notes when heartbeats and recoveries came,
// counted from the start.
type clocked struct {
	executor.Queue
	began      time.Time
	beats      []time.Duration
	recoveries []time.Duration
	fault      func(beat int) error // what becomes of a heartbeat's answer, counted from 0
}

func (q *clocked) Heartbeat(ctx context.Context, node string, claims []asyncop.ClaimRef) ([]asyncop.Pulse, error) {
	q.beats = append(q.beats, time.Since(q.began))
	pulses, err := q.Queue.Heartbeat(ctx, node, claims)
	if err == nil && q.fault != nil {
		err = q.fault(len(q.beats) - 1)
	}
	return pulses, err
}

func (q *clocked) Recover(ctx context.Context, staleAfter time.Duration) ([]uuid.UUID, error) {
	q.recoveries = append(q.recoveries, time.Since(q.began))
	return q.Queue.Recover(ctx, staleAfter)
}

// clock runs the pool for so long and answers what was noted.
func (r *rig) clock(t *testing.T, length time.Duration, fault func(beat int) error) *clocked {
	t.Helper()
	r.options.PollInterval = time.Hour
	q := &clocked{Queue: r.store, began: time.Now(), fault: fault}
	r.queue = q
	r.start(t, succeeding(0))
	time.Sleep(length)
	synctest.Wait()
	return q
}

func TestHeartbeatsComeEverySixthOfTheStaleTime(t *testing.T) {
	underPool(t, func(t *testing.T, r *rig) {
		q := r.clock(t, 35*time.Second, nil)
		if want := []time.Duration{0, 10 * time.Second, 20 * time.Second, 30 * time.Second}; !slices.Equal(q.beats, want) {
			t.Errorf("heartbeats at %v", q.beats)
		}
	})
}

func TestANodeRecoversOnlyAfterAStaleTimeWithoutAGap(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		fault func(beat int) error
		first time.Duration // recovery
	}{
		"NoGap": {nil, staleAfter},
		"AFailedHeartbeat": {func(beat int) error {
			if beat == 3 {
				return errAway
			}
			return nil
		}, 40*time.Second + staleAfter},
		"ALongOutage": {func(beat int) error {
			if beat >= 5 && beat < 30 {
				return errAway
			}
			return nil
		}, 300*time.Second + staleAfter},
		"TheNodeItselfStoodStill": {func(beat int) error {
			if beat == 3 {
				time.Sleep(200 * time.Second)
			}
			return nil
		}, 230*time.Second + staleAfter},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			underPool(t, func(t *testing.T, r *rig) {
				q := r.clock(t, 400*time.Second, c.fault)
				if len(q.recoveries) == 0 || q.recoveries[0] != c.first {
					t.Errorf("recoveries at %v, want the first at %s", q.recoveries, c.first)
				}
			})
		})
	}
}

func TestASilentNodesClaimsAreRecoveredAndRun(t *testing.T) {
	underPool(t, func(t *testing.T, r *rig) {
		once, again := r.submit(t), r.submit(t, idempotent)
		if _, err := r.store.Heartbeat(t.Context(), "node-2", nil); err != nil {
			t.Fatal(err)
		}
		if claimed, err := r.store.Claim(t.Context(), asyncop.Intake{Node: "node-2", Limit: 10, Look: true}); err != nil || len(claimed.Claims) != 2 {
			t.Fatalf("%d claims, %v", len(claimed.Claims), err)
		}
		r.start(t, succeeding(0))
		time.Sleep(staleAfter - time.Second)
		r.expect(t, once.ID, asyncop.Running, "", 1)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		r.expect(t, once.ID, asyncop.Failed, asyncop.CodeOutcomeUnknown, 1)
		r.expect(t, again.ID, asyncop.Succeeded, "", 2)
	})
}

func TestALongAttemptIsNotRecoveredUnderALiveNode(t *testing.T) {
	underPool(t, func(t *testing.T, r *rig) {
		r.start(t, succeeding(10*staleAfter))
		op := r.submit(t, idempotent)
		time.Sleep(11 * staleAfter)
		r.expect(t, op.ID, asyncop.Succeeded, "", 1)
	})
}

func TestALostClaimCutsAnIdempotentAttemptOff(t *testing.T) {
	underPool(t, func(t *testing.T, r *rig) {
		causes := make(chan error, 1)
		r.start(t, attempter(func(ctx context.Context, claim asyncop.Claim) executor.Attempted {
			if claim.Operation.Attempts > 1 {
				return succeeded()
			}
			return enduring(causes)(ctx, claim)
		}))
		op := r.submit(t, idempotent)
		r.steal(t)
		time.Sleep(staleAfter/6 + time.Second)
		synctest.Wait()
		select {
		case cause := <-causes:
			if !errors.Is(cause, asyncop.ErrClaimLost) {
				t.Errorf("cut off because of %v", cause)
			}
		default:
			t.Fatal("the attempt goes on beside a second one")
		}
		time.Sleep(time.Second)
		synctest.Wait()
		r.expect(t, op.ID, asyncop.Succeeded, "", 2)
	})
}

func TestAClaimThatIsBeingSettledIsNotLost(t *testing.T) {
	underPool(t, func(t *testing.T, r *rig) {
		r.queue = &faultyQueue{Queue: r.store, finish: func(ctx context.Context, batch []asyncop.Finished) ([]asyncop.Settled, error) {
			fates, err := r.store.Finish(ctx, batch)
			time.Sleep(staleAfter / 2) // heartbeats come before the answer
			return fates, err
		}}
		r.start(t, succeeding(0))
		op := r.submit(t)
		time.Sleep(staleAfter)
		r.expect(t, op.ID, asyncop.Succeeded, "", 1)
		if r.log.tells("claim lost") {
			t.Error("the log tells of a lost claim")
		}
	})
}

func TestALostClaimLetsAnotherAttemptEndAndDropsItsOutcome(t *testing.T) {
	underPool(t, func(t *testing.T, r *rig) {
		var cutOff, ended atomic.Bool
		r.start(t, attempter(func(ctx context.Context, _ asyncop.Claim) executor.Attempted {
			time.Sleep(5 * time.Minute)
			cutOff.Store(ctx.Err() != nil)
			ended.Store(true)
			return succeeded()
		}))
		op := r.submit(t)
		r.steal(t)
		time.Sleep(6 * time.Minute)
		if !ended.Load() || cutOff.Load() {
			t.Error("the attempt was cut off: its outcome is known to nobody")
		}
		r.expect(t, op.ID, asyncop.Failed, asyncop.CodeOutcomeUnknown, 1)
		if !r.log.tells("outcome of a lost claim dropped", op.ID.String(), "outcome=SUCCEEDED") {
			t.Error("the log does not tell what would have been written")
		}
	})
}

// A claim can be lost between two heartbeats, when nobody knows yet.
func TestASupersededWorkersLateResultChangesNothing(t *testing.T) {
	underPool(t, func(t *testing.T, r *rig) {
		r.start(t, succeeding(5*time.Second))
		op := r.submit(t)
		r.steal(t)
		time.Sleep(6 * time.Second)
		synctest.Wait()
		r.expect(t, op.ID, asyncop.Failed, asyncop.CodeOutcomeUnknown, 1)
		if !r.log.tells("outcome not written", op.ID.String()) {
			t.Error("the log does not tell")
		}
	})
}
