package executor_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"asyncgate/internal/asyncop"
	"asyncgate/internal/executor"
)

func TestTheOutcomeOfAnAttemptDecides(t *testing.T) {
	type fate struct {
		state    asyncop.State
		attempts int
	}
	over, again, givenBack := fate{asyncop.Failed, 1}, fate{asyncop.Queued, 1}, fate{asyncop.Queued, 0}
	cases := []struct {
		code             asyncop.Code
		execution        asyncop.Execution
		once, idempotent fate
	}{
		{asyncop.CodeExecutionFailed, asyncop.Executed, over, over},
		{asyncop.CodeExecutionFailed, asyncop.UnknownExecution, over, over},
		{asyncop.CodeUpstreamUnavailable, asyncop.NotExecuted, givenBack, givenBack},
		{asyncop.CodeUpstreamRejected, asyncop.NotExecuted, over, over},
		{asyncop.CodeOutcomeUnknown, asyncop.UnknownExecution, over, again},
		{asyncop.CodeTimeout, asyncop.UnknownExecution, over, again},
		{asyncop.CodeResultTooLarge, asyncop.Executed, over, over},
		{asyncop.CodeCredentialExpired, asyncop.NotExecuted, over, over},
		{asyncop.CodeDocumentInvalid, asyncop.NotExecuted, over, over},
		{asyncop.CodeMutationNotAllowed, asyncop.NotExecuted, over, over},
		{asyncop.CodeTenantUnknown, asyncop.NotExecuted, over, over},
		{asyncop.CodeForbidden, asyncop.NotExecuted, over, over},
	}
	underPool(t, func(t *testing.T, r *rig) {
		for _, c := range cases {
			r.start(t, attempter(func(context.Context, asyncop.Claim) executor.Attempted { return failed(c.code, c.execution) }))
			once, idem := r.submit(t), r.submit(t, idempotent)
			r.stop()
			for id, want := range map[uuid.UUID]fate{once.ID: c.once, idem.ID: c.idempotent} {
				op := r.expect(t, id, want.state, c.code, want.attempts)
				if op.Execution != c.execution || len(op.AttemptLog) != 1 || op.AttemptLog[0].Code != c.code {
					t.Errorf("%s: %s, attempt log %+v", c.code, op.Execution, op.AttemptLog)
				}
			}
		}
	})
}

func TestAFailedExecutionKeepsItsEnvelope(t *testing.T) {
	underPool(t, func(t *testing.T, r *rig) {
		const answer = `{ "errors":[{"message":"no"}],"data":{"pay":9007199254740993} }`
		r.start(t, attempter(func(context.Context, asyncop.Claim) executor.Attempted {
			done := failed(asyncop.CodeExecutionFailed, asyncop.Executed)
			done.Envelope = json.RawMessage(answer)
			return done
		}))
		if op := r.get(t, r.submit(t).ID); string(op.Result) != answer {
			t.Errorf("kept %s", op.Result)
		}
	})
}

func TestTheLastFailureStandsWhenAttemptsRunOut(t *testing.T) {
	underPool(t, func(t *testing.T, r *rig) {
		codes := []asyncop.Code{"", asyncop.CodeOutcomeUnknown, asyncop.CodeOutcomeUnknown, asyncop.CodeTimeout}
		r.start(t, attempter(func(_ context.Context, claim asyncop.Claim) executor.Attempted {
			return failed(codes[claim.Operation.Attempts], asyncop.UnknownExecution)
		}))
		op := r.submit(t, idempotent)
		time.Sleep(time.Minute)
		r.expect(t, op.ID, asyncop.Failed, asyncop.CodeTimeout, 3)
	})
}

func TestWhatIsGivenBackIsTriedAgainUncounted(t *testing.T) {
	underPool(t, func(t *testing.T, r *rig) {
		tries := 0
		r.start(t, attempter(func(context.Context, asyncop.Claim) executor.Attempted {
			if tries++; tries < 10 {
				return failed(asyncop.CodeUpstreamUnavailable, asyncop.NotExecuted)
			}
			return succeeded()
		}))
		op := r.submit(t) // not idempotent, three attempts at most
		time.Sleep(10 * time.Minute)
		op = r.expect(t, op.ID, asyncop.Succeeded, "", 1)
		if len(op.AttemptLog) != 10 {
			t.Errorf("%d attempts logged, want 10", len(op.AttemptLog))
		}
	})
}

func TestBackoffDoublesToFiveMinutesAndHalfOfItIsRandom(t *testing.T) {
	t.Parallel()
	for name, code := range map[string]asyncop.Code{
		"Retried": asyncop.CodeOutcomeUnknown, "GivenBack": asyncop.CodeUpstreamUnavailable,
	} {
		t.Run(name, func(t *testing.T) {
			underPool(t, func(t *testing.T, r *rig) {
				r.options.PollInterval = 10 * time.Second
				r.start(t, attempter(func(context.Context, asyncop.Claim) executor.Attempted {
					return failed(code, asyncop.UnknownExecution)
				}))
				op := r.submit(t, idempotent, func(s *asyncop.Submission) { s.MaxAttempts = 50 })
				full, even := time.Second, 0
				for range 14 {
					op = r.get(t, op.ID)
					backoff := time.Until(op.NotBefore)
					if backoff < full/2 || backoff > full {
						t.Errorf("backoff %s, want half of %s to all of it", backoff, full)
					}
					if backoff == full {
						even++
					}
					full = min(2*full, 5*time.Minute)
					time.Sleep(backoff)
					r.pool.Due()
					synctest.Wait()
				}
				if even > 7 {
					t.Error("the backoff has no jitter")
				}
			})
		})
	}
}

func TestRetryAfterIsALowerBound(t *testing.T) {
	underPool(t, func(t *testing.T, r *rig) {
		var wish atomic.Int64
		r.start(t, attempter(func(context.Context, asyncop.Claim) executor.Attempted {
			done := failed(asyncop.CodeUpstreamUnavailable, asyncop.NotExecuted)
			done.RetryAfter = time.Duration(wish.Load())
			return done
		}))
		wish.Store(int64(time.Hour))
		if due := r.get(t, r.submit(t).ID).NotBefore; !due.Equal(time.Now().Add(time.Hour)) {
			t.Errorf("due at %s", due)
		}
		wish.Store(1)
		if due := r.get(t, r.submit(t).ID).NotBefore; due.Before(time.Now().Add(500 * time.Millisecond)) {
			t.Errorf("due at %s: a short wish makes the backoff no shorter", due)
		}
	})
}

func TestACancellationStopsFurtherAttempts(t *testing.T) {
	underPool(t, func(t *testing.T, r *rig) {
		r.start(t, attempter(func(context.Context, asyncop.Claim) executor.Attempted {
			time.Sleep(time.Minute)
			return failed(asyncop.CodeTimeout, asyncop.UnknownExecution)
		}))
		op := r.submit(t, idempotent)
		if _, err := r.store.Cancel(t.Context(), asyncop.EverythingScope(), op.ID); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Minute)
		r.expect(t, op.ID, asyncop.Cancelled, asyncop.CodeCancelled, 1)
	})
}

func TestAnOutcomeIsKeptWhileTheStoreIsAway(t *testing.T) {
	underPool(t, func(t *testing.T, r *rig) {
		var away atomic.Bool
		away.Store(true)
		r.queue = &faultyQueue{Queue: r.store, finish: func(ctx context.Context, batch []asyncop.Finished) ([]asyncop.Settled, error) {
			if away.Load() {
				return nil, errAway
			}
			return r.store.Finish(ctx, batch)
		}}
		r.start(t, succeeding(0))
		op := r.submit(t)
		time.Sleep(5 * time.Minute)
		r.expect(t, op.ID, asyncop.Running, "", 1)
		away.Store(false)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		r.expect(t, op.ID, asyncop.Succeeded, "", 1)
	})
}

func TestAnOutcomeWhoseAnswerWasLostIsWrittenOnce(t *testing.T) {
	underPool(t, func(t *testing.T, r *rig) {
		tries := 0
		r.queue = &faultyQueue{Queue: r.store, finish: func(ctx context.Context, batch []asyncop.Finished) ([]asyncop.Settled, error) {
			settled, err := r.store.Finish(ctx, batch)
			if tries++; tries == 1 {
				return nil, errAway
			}
			return settled, err
		}}
		r.start(t, succeeding(0))
		op := r.submit(t)
		time.Sleep(10 * staleAfter)
		r.expect(t, op.ID, asyncop.Succeeded, "", 1)
		if tries != 2 {
			t.Errorf("written %d times", tries)
		}
	})
}

// Its operation would else be RUNNING for as long as the node lives.
func TestAResultThatTheStoreRefusesIsLeftOut(t *testing.T) {
	underPool(t, func(t *testing.T, r *rig) {
		refused := errors.New("cannot be stored")
		r.queue = &faultyQueue{Queue: r.store, finish: func(ctx context.Context, batch []asyncop.Finished) ([]asyncop.Settled, error) {
			settled := make([]asyncop.Settled, len(batch))
			for i, one := range batch {
				if strings.Contains(string(one.Outcome.Result()), "unstorable") {
					settled[i].Err = refused
					continue
				}
				fates, err := r.store.Finish(ctx, batch[i:i+1])
				if err != nil {
					return nil, err
				}
				settled[i] = fates[0]
			}
			return settled, nil
		}}
		r.start(t, attempter(func(_ context.Context, claim asyncop.Claim) executor.Attempted {
			switch claim.Operation.Label {
			case "success":
				return executor.Attempted{Envelope: json.RawMessage(`{"data":"unstorable"}`)}
			case "failure":
				done := failed(asyncop.CodeExecutionFailed, asyncop.UnknownExecution)
				done.Envelope = json.RawMessage(`{"errors":["unstorable"]}`)
				return done
			default:
				return succeeded()
			}
		}))
		labelled := func(label string) uuid.UUID {
			return r.submit(t, func(s *asyncop.Submission) { s.Label = label }).ID
		}
		success, failure, neighbour := labelled("success"), labelled("failure"), labelled("")
		if op := r.expect(t, success, asyncop.Failed, asyncop.CodeResultTooLarge, 1); op.Execution != asyncop.Executed {
			t.Errorf("it was executed, and reads %s", op.Execution)
		}
		r.expect(t, failure, asyncop.Failed, asyncop.CodeExecutionFailed, 1)
		r.expect(t, neighbour, asyncop.Succeeded, "", 1)
	})
}

func TestOutcomesGatherWhileABatchIsWritten(t *testing.T) {
	underPool(t, func(t *testing.T, r *rig) {
		r.options.Concurrency = 50
		var sizes []int
		r.queue = &faultyQueue{Queue: r.store, finish: func(ctx context.Context, batch []asyncop.Finished) ([]asyncop.Settled, error) {
			sizes = append(sizes, len(batch))
			time.Sleep(time.Second)
			return r.store.Finish(ctx, batch)
		}}
		r.start(t, succeeding(0))
		for range 50 {
			r.submit(t)
		}
		time.Sleep(3 * time.Second)
		synctest.Wait()
		if len(sizes) != 2 || sizes[0] != 1 || sizes[1] != 49 {
			t.Errorf("batches of %v, want 1 and 49", sizes)
		}
	})
}
