package storetest

import (
	"testing"
	"time"

	"asyncgate/internal/asyncop"
)

var retryRules = map[string]rule{
	"ARetryIsQueuedWithItsFailure":    retryIsQueued,
	"ItIsDueAfterTheBackoff":          dueAfterBackoff,
	"AnUncountedAttemptIsTakenBack":   uncountedIsTakenBack,
	"CancellationWins":                cancellationWins,
	"TheLastAttemptFails":             lastAttemptFails,
	"AnUncountedOneIsNeverTheLast":    uncountedIsNeverLast,
	"TheFailureIsHiddenWhileItRuns":   failureIsHidden,
	"AttemptsNeverPassTheMaximum":     attemptsNeverPass,
	"ALostOneFailsNoNeighboursRetry":  lostOneInRetryBatch,
	"AnEndlessBackoffIsNoError":       endlessBackoff,
	"TheScheduleMovesButNotTheExpiry": scheduleMoves,
	"ARetryThatEndsMovesNoSchedule":   endMovesNothing,
}

func retryIsQueued(t *testing.T, f fixture) {
	claim := f.submitAndClaim(t)
	expect(t, "fate", f.retry(t, claim, unknown), asyncop.Settled{State: asyncop.Queued})
	op := f.get(t, claim.Operation.ID)
	expect(t, "state", op.State, asyncop.Queued)
	expect(t, "failure", op.Failure, &unknown)
	expect(t, "attempts", op.Attempts, 1)
	expect(t, "started", op.StartedAt, claim.Operation.StartedAt)
	if op.FinishedAt != nil || op.Result != nil {
		t.Errorf("finished %v, result %s", op.FinishedAt, op.Result)
	}
	if op.Revision <= claim.Operation.Revision {
		t.Errorf("revision %d after %d", op.Revision, claim.Operation.Revision)
	}
}

func after(d time.Duration) func(*asyncop.Retried) {
	return func(r *asyncop.Retried) { r.After = d }
}

func dueAfterBackoff(t *testing.T, f fixture) {
	claim := f.submitAndClaim(t)
	f.retry(t, claim, unknown, after(50*time.Millisecond))
	due := f.get(t, claim.Operation.ID).NotBefore
	var claims []asyncop.Claim
	eventually(t, "due again", func() bool {
		claims = f.claim(t, node, 1)
		return len(claims) == 1
	})
	if started := claims[0].Operation.StartedAt; started.Before(due) {
		t.Errorf("started %s, due %s", started, due)
	}
	f.retry(t, claims[0], unknown, after(time.Hour))
	expect(t, "claims within the hour", len(f.claim(t, node, 1)), 0)
}

func uncountedIsTakenBack(t *testing.T, f fixture) {
	claim := f.submitAndClaim(t)
	expect(t, "fate", f.retry(t, claim, unsent, uncounted), asyncop.Settled{State: asyncop.Queued})
	op := f.get(t, claim.Operation.ID)
	expect(t, "attempts", op.Attempts, 0)
	expect(t, "failure", op.Failure, &unsent)
	expect(t, "logged attempts", len(op.AttemptLog), 1)
	expect(t, "the next attempt", f.claimOne(t).Operation.Attempts, 1)
}

func cancellationWins(t *testing.T, f fixture) {
	claim := f.submitAndClaim(t)
	f.cancel(t, claim.Operation.ID)
	expect(t, "fate", f.retry(t, claim, unknown), asyncop.Settled{State: asyncop.Cancelled})
	op := f.get(t, claim.Operation.ID)
	expect(t, "state", op.State, asyncop.Cancelled)
	expect(t, "code", op.Failure.Code, asyncop.CodeCancelled)
	expect(t, "execution", op.Failure.Execution, asyncop.UnknownExecution)
	expect(t, "the attempt's code", op.AttemptLog[0].Code, unknown.Code)
	if op.FinishedAt == nil {
		t.Error("no end")
	}

	unsentOne := f.submitAndClaim(t)
	f.cancel(t, unsentOne.Operation.ID)
	f.retry(t, unsentOne, unsent, uncounted)
	op = f.get(t, unsentOne.Operation.ID)
	expect(t, "state", op.State, asyncop.Cancelled)
	expect(t, "execution", op.Execution, asyncop.NotExecuted)
}

func lastAttemptFails(t *testing.T, f fixture) {
	claim := f.submitAndClaim(t, singleShot)
	expect(t, "fate", f.retry(t, claim, unknown), asyncop.Settled{State: asyncop.Failed})
	op := f.get(t, claim.Operation.ID)
	expect(t, "state", op.State, asyncop.Failed)
	expect(t, "failure", op.Failure, &unknown)
	if op.FinishedAt == nil {
		t.Error("no end")
	}
}

func uncountedIsNeverLast(t *testing.T, f fixture) {
	claim := f.submitAndClaim(t, singleShot)
	for range 3 {
		expect(t, "fate", f.retry(t, claim, unsent, uncounted), asyncop.Settled{State: asyncop.Queued})
		claim = f.claimOne(t)
	}
	expect(t, "attempts", claim.Operation.Attempts, 1)
}

func failureIsHidden(t *testing.T, f fixture) {
	claim := f.submitAndClaim(t)
	f.retry(t, claim, unknown)
	second := f.claimOne(t)
	if second.Operation.Failure != nil || f.get(t, claim.Operation.ID).Failure != nil {
		t.Error("a running operation shows the failure of its last attempt")
	}
}

func attemptsNeverPass(t *testing.T, f fixture) {
	claim := f.submitAndClaim(t)
	for attempt := 1; ; attempt++ {
		expect(t, "attempt", claim.Operation.Attempts, attempt)
		if f.retry(t, claim, unknown).State == asyncop.Failed {
			break
		}
		claim = f.claimOne(t)
	}
	expect(t, "attempts", f.get(t, claim.Operation.ID).Attempts, 3)
}

func lostOneInRetryBatch(t *testing.T, f fixture) {
	f.submitAll(t, submission(), submission())
	claims := f.claim(t, node, 2)
	f.finish(t, claims[0], asyncop.Succeed(envelope))
	settled, err := f.store.Retry(t.Context(), []asyncop.Retried{
		{Claim: claims[0].Ref(), Failure: unknown},
		{Claim: claims[1].Ref(), Failure: unknown},
	})
	if err != nil {
		t.Fatal(err)
	}
	expect(t, "lost", settled[0].Err, asyncop.ErrClaimLost, sameError)
	expect(t, "neighbour", settled[1], asyncop.Settled{State: asyncop.Queued})
}

func endlessBackoff(t *testing.T, f fixture) {
	claim := f.submitAndClaim(t)
	expect(t, "fate", f.retry(t, claim, unknown, after(1<<63-1)), asyncop.Settled{State: asyncop.Queued})
	expect(t, "claims", len(f.claim(t, node, 1)), 0)
	f.get(t, claim.Operation.ID)
}

func scheduleMoves(t *testing.T, f fixture) {
	claim := f.submitAndClaim(t)
	f.retry(t, claim, unknown, after(time.Minute))
	op := f.get(t, claim.Operation.ID)
	if moved := op.NotBefore.Sub(*claim.Operation.StartedAt); moved < time.Minute {
		t.Errorf("due %s after the attempt began, want a minute at least", moved)
	}
	expect(t, "start before", op.StartBefore, claim.Operation.StartBefore)
	expect(t, "created", op.CreatedAt, claim.Operation.CreatedAt)
}

// In PostgreSQL, notBefore of what had ended by its last retry lay in the future.
func endMovesNothing(t *testing.T, f fixture) {
	last := f.submitAndClaim(t, singleShot)
	f.retry(t, last, unknown, after(time.Hour))
	expect(t, "not before, failed", f.get(t, last.Operation.ID).NotBefore, last.Operation.NotBefore)

	cancelled := f.submitAndClaim(t)
	f.cancel(t, cancelled.Operation.ID)
	f.retry(t, cancelled, unknown, after(time.Hour))
	expect(t, "not before, cancelled", f.get(t, cancelled.Operation.ID).NotBefore, cancelled.Operation.NotBefore)
}
