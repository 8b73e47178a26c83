package executor_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"asyncgate/internal/asyncop"
	"asyncgate/internal/executor"
)

func TestASubmissionIsClaimedAtOnce(t *testing.T) {
	underPool(t, func(t *testing.T, r *rig) {
		r.options.PollInterval = time.Hour
		r.start(t, succeeding(0))
		began := time.Now()
		op := r.submit(t)
		if waited := time.Since(began); waited != 0 {
			t.Errorf("it took %s", waited)
		}
		r.expect(t, op.ID, asyncop.Succeeded, "", 1)
	})
}

func TestThePollClaimsWhatNoWakeTold(t *testing.T) {
	underPool(t, func(t *testing.T, r *rig) {
		r.deaf = true
		r.queue = &faultyQueue{Queue: r.store} // does not tell whether wakes arrive
		r.start(t, succeeding(0))
		op := r.submit(t)
		r.expect(t, op.ID, asyncop.Queued, "", 0)
		time.Sleep(r.options.PollInterval)
		synctest.Wait()
		r.expect(t, op.ID, asyncop.Succeeded, "", 1)
	})
}

func TestMissedWakesMakeThePoolClaim(t *testing.T) {
	underPool(t, func(t *testing.T, r *rig) {
		r.options.PollInterval, r.deaf = time.Hour, true
		r.start(t, succeeding(0))
		op := r.submit(t)
		r.pool.Missed()
		synctest.Wait()
		r.expect(t, op.ID, asyncop.Succeeded, "", 1)
	})
}

func TestNothingIsClaimedBeforeTheFirstHeartbeat(t *testing.T) {
	underPool(t, func(t *testing.T, r *rig) {
		var away atomic.Bool
		away.Store(true)
		claims := 0
		r.queue = &faultyQueue{
			Queue: r.store,
			heartbeat: func(ctx context.Context, node string, refs []asyncop.ClaimRef) ([]asyncop.Pulse, error) {
				if away.Load() {
					return nil, errAway
				}
				return r.store.Heartbeat(ctx, node, refs)
			},
			claim: func(ctx context.Context, intake asyncop.Intake) (asyncop.Claimed, error) {
				claims++
				return r.store.Claim(ctx, intake)
			},
		}
		op := r.submit(t)
		r.start(t, succeeding(0))
		time.Sleep(10*time.Second + time.Millisecond)
		synctest.Wait()
		if claims != 0 {
			t.Errorf("%d claims before the first heartbeat", claims)
		}
		away.Store(false)
		time.Sleep(time.Second) // and not a whole interval: nothing runs until then
		synctest.Wait()
		r.expect(t, op.ID, asyncop.Succeeded, "", 1)
	})
}

// Attempts that end in one instant free several slots at once, and that a
// slot is free must be noticed then too.
func TestAFullPoolClaimsAgainWhenSlotsAreFree(t *testing.T) {
	underPool(t, func(t *testing.T, r *rig) {
		r.options.PollInterval, r.options.Concurrency = 24*time.Hour, 3
		var running, most atomic.Int32
		r.start(t, attempter(func(context.Context, asyncop.Claim) executor.Attempted {
			most.Store(max(most.Load(), running.Add(1)))
			time.Sleep(time.Minute)
			running.Add(-1)
			return succeeded()
		}))
		var ids []uuid.UUID
		for range 10 {
			ids = append(ids, r.submit(t).ID)
		}
		time.Sleep(4*time.Minute + time.Second)
		synctest.Wait()
		for _, id := range ids {
			r.expect(t, id, asyncop.Succeeded, "", 1)
		}
		if most.Load() != 3 {
			t.Errorf("%d attempts at a time, want 3", most.Load())
		}
	})
}

func TestClaimsAskForNoMoreThanTheFreeSlots(t *testing.T) {
	underPool(t, func(t *testing.T, r *rig) {
		r.options.Concurrency = 5
		var limits []int
		r.queue = &faultyQueue{Queue: r.store, claim: func(ctx context.Context, intake asyncop.Intake) (asyncop.Claimed, error) {
			limits = append(limits, intake.Limit)
			return r.store.Claim(ctx, intake)
		}}
		for range 3 {
			r.submit(t)
		}
		r.start(t, succeeding(time.Hour))
		r.submit(t)
		if len(limits) != 2 || limits[0] != 5 || limits[1] != 2 {
			t.Errorf("asked for %v, want 5 and then 2", limits)
		}
	})
}

func TestAnOutageWhileAttemptsRunLosesNone(t *testing.T) {
	underPool(t, func(t *testing.T, r *rig) {
		var away atomic.Bool
		r.queue = &faultyQueue{
			Queue: r.store,
			claim: func(ctx context.Context, intake asyncop.Intake) (asyncop.Claimed, error) {
				if away.Load() {
					return asyncop.Claimed{}, errAway
				}
				return r.store.Claim(ctx, intake)
			},
			heartbeat: func(ctx context.Context, node string, refs []asyncop.ClaimRef) ([]asyncop.Pulse, error) {
				if away.Load() {
					return nil, errAway
				}
				return r.store.Heartbeat(ctx, node, refs)
			},
		}
		r.start(t, succeeding(5*time.Minute))
		before := r.submit(t)
		away.Store(true)
		time.Sleep(3 * staleAfter)
		away.Store(false)
		after := r.submit(t)
		time.Sleep(6 * time.Minute)
		r.expect(t, before.ID, asyncop.Succeeded, "", 1)
		r.expect(t, after.ID, asyncop.Succeeded, "", 1)
	})
}

func TestAfterAStopNothingIsClaimed(t *testing.T) {
	underPool(t, func(t *testing.T, r *rig) {
		r.start(t, succeeding(time.Minute))
		running := r.submit(t)
		r.quit()
		synctest.Wait()
		queued := r.submit(t)
		<-r.done
		r.expect(t, running.ID, asyncop.Succeeded, "", 1)
		r.expect(t, queued.ID, asyncop.Queued, "", 0)
	})
}

func TestAStopWaitsForRunningAttempts(t *testing.T) {
	underPool(t, func(t *testing.T, r *rig) {
		r.start(t, succeeding(4*time.Minute))
		op := r.submit(t)
		if took := r.stop(); took != 4*time.Minute {
			t.Errorf("the stop took %s", took)
		}
		r.expect(t, op.ID, asyncop.Succeeded, "", 1)
	})
}

func TestAttemptsAreCutOffAfterTheDrainTimeout(t *testing.T) {
	underPool(t, func(t *testing.T, r *rig) {
		causes := make(chan error, 2)
		r.start(t, enduring(causes))
		once, again := r.submit(t), r.submit(t, idempotent)
		if took := r.stop(); took != r.options.DrainTimeout {
			t.Errorf("the stop took %s", took)
		}
		r.expect(t, once.ID, asyncop.Failed, asyncop.CodeOutcomeUnknown, 1)
		r.expect(t, again.ID, asyncop.Queued, asyncop.CodeOutcomeUnknown, 1)
		if cause := <-causes; !strings.Contains(cause.Error(), "stopping") {
			t.Errorf("cut off because of %v", cause)
		}
	})
}

// A store that hangs is a store that is away.
func TestAStopEndsThoughTheStoreIsAway(t *testing.T) {
	underPool(t, func(t *testing.T, r *rig) {
		var away atomic.Bool
		hang := func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		}
		r.queue = &faultyQueue{
			Queue: r.store,
			claim: func(ctx context.Context, intake asyncop.Intake) (asyncop.Claimed, error) {
				if away.Load() {
					return asyncop.Claimed{}, hang(ctx)
				}
				return r.store.Claim(ctx, intake)
			},
			finish: func(ctx context.Context, _ []asyncop.Finished) ([]asyncop.Settled, error) { return nil, hang(ctx) },
		}
		causes := make(chan error, 1)
		r.start(t, enduring(causes))
		op := r.submit(t)
		away.Store(true)
		time.Sleep(r.options.PollInterval) // a claim hangs when the stop comes
		synctest.Wait()
		if took := r.stop(); took > r.options.DrainTimeout+5*time.Second {
			t.Errorf("the stop took %s", took)
		}
		r.expect(t, op.ID, asyncop.Running, "", 1) // nobody knows better: it will be recovered
	})
}

func TestAClaimAnsweredWhileStoppingIsReleased(t *testing.T) {
	underPool(t, func(t *testing.T, r *rig) {
		r.queue = stoppingClaim(r, nil)
		r.start(t, succeeding(0))
		op := r.submit(t)
		<-r.done
		if op = r.expect(t, op.ID, asyncop.Queued, "", 0); len(op.AttemptLog) != 0 {
			t.Errorf("%d attempts logged", len(op.AttemptLog))
		}
	})
}

func TestAReleaseThatCannotBeWrittenHoldsNoStopUp(t *testing.T) {
	underPool(t, func(t *testing.T, r *rig) {
		r.queue = stoppingClaim(r, errAway)
		r.start(t, succeeding(0))
		r.submit(t)
		if took := r.stop(); took > r.options.DrainTimeout+5*time.Second {
			t.Errorf("the stop took %s", took)
		}
	})
}

// stoppingClaim stops the pool while a claim is on its way back.
func stoppingClaim(r *rig, release error) executor.Queue {
	q := &faultyQueue{Queue: r.store, claim: func(ctx context.Context, intake asyncop.Intake) (asyncop.Claimed, error) {
		claimed, err := r.store.Claim(ctx, intake)
		if len(claimed.Claims) > 0 {
			r.quit()
		}
		return claimed, err
	}}
	if release != nil {
		q.release = func(context.Context, []asyncop.ClaimRef) ([]asyncop.Settled, error) { return nil, release }
	}
	return q
}

func TestLogLinesHoldIDsAndNothingOfTheOperation(t *testing.T) {
	underPool(t, func(t *testing.T, r *rig) {
		const canary = "correct horse battery staple"
		r.options.Concurrency = 1
		results := make(chan executor.Attempted, 10)
		for _, done := range []executor.Attempted{
			{Envelope: json.RawMessage(`{"data":"` + canary + `"}`)},
			{Envelope: json.RawMessage(`{"errors":["` + canary + `"]}`), Failure: &asyncop.Failure{
				Code: asyncop.CodeExecutionFailed, Message: "It failed.", Execution: asyncop.Executed}},
			failed(asyncop.CodeUpstreamUnavailable, asyncop.NotExecuted),
			{Envelope: json.RawMessage(`{"data":"` + canary + `"}`)}, // under a lost claim
			succeeded(), // what was given back
		} {
			results <- done
		}
		r.start(t, attempter(func(context.Context, asyncop.Claim) executor.Attempted {
			time.Sleep(30 * time.Second)
			return <-results
		}))
		var ids []uuid.UUID
		for range 4 {
			ids = append(ids, r.submit(t, func(s *asyncop.Submission) {
				s.Document = "mutation { pay } # " + canary
				s.Variables = json.RawMessage(`{"card":"` + canary + `"}`)
				s.Authority = json.RawMessage(`{"token":"` + canary + `"}`)
				s.Label = canary
			}).ID)
		}
		time.Sleep(100 * time.Second)
		r.steal(t)
		time.Sleep(time.Minute)
		synctest.Wait()
		for _, id := range ids {
			if !r.log.tells("operation.id="+id.String(), "operation.mutations=[pay]") {
				t.Errorf("no line tells of %s", id)
			}
		}
		if r.log.tells(canary) {
			t.Error("the log holds documents, variables, identities or results")
		}
	})
}
