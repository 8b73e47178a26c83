package storetest

import (
	"testing"

	"github.com/google/uuid"

	"asyncgate/internal/asyncop"
)

var cancelRules = map[string]rule{
	"AQueuedOneEndsAtOnce":         queuedEndsAtOnce,
	"ARunningOneIsAsked":           runningIsAsked,
	"AnEndedOneStays":              endedStays,
	"BetweenAttemptsItEndsAtOnce":  cancelBetweenAttempts,
	"AnAdminCancels":               adminCancels,
	"AskingTwiceIsAskingOnce":      askingTwice,
	"ACancelledOneIsNeverClaimed":  cancelledIsNeverClaimed,
	"AScheduledOneIsCancelledAlso": scheduledIsCancelled,
}

func (f fixture) cancelIn(t *testing.T, scope asyncop.Scope, id uuid.UUID) asyncop.Cancellation {
	t.Helper()
	cancellation, err := f.store.Cancel(t.Context(), scope, id)
	if err != nil {
		t.Fatalf("cancel: %v", err)
	}
	return cancellation
}

func queuedEndsAtOnce(t *testing.T, f fixture) {
	op := f.submit(t)
	cancellation := f.cancel(t, op.ID)
	expect(t, "outcome", cancellation.Outcome, asyncop.CancelledNow)
	ended := f.get(t, op.ID)
	expect(t, "answered", cancellation.Operation, ended)
	expect(t, "state", ended.State, asyncop.Cancelled)
	expect(t, "failure", ended.Failure, asyncop.Cancel(asyncop.NotExecuted).Failure())
	if !ended.CancellationRequested || ended.FinishedAt == nil || ended.Revision <= op.Revision {
		t.Errorf("requested %v, finished %v, revision %d after %d",
			ended.CancellationRequested, ended.FinishedAt, ended.Revision, op.Revision)
	}
}

func runningIsAsked(t *testing.T, f fixture) {
	claim := f.submitAndClaim(t)
	cancellation := f.cancel(t, claim.Operation.ID)
	expect(t, "outcome", cancellation.Outcome, asyncop.CancelRequested)
	expect(t, "state", cancellation.Operation.State, asyncop.Running)
	if !cancellation.Operation.CancellationRequested || cancellation.Operation.Revision <= claim.Operation.Revision {
		t.Errorf("requested %v, revision %d after %d", cancellation.Operation.CancellationRequested,
			cancellation.Operation.Revision, claim.Operation.Revision)
	}
	expect(t, "answered", cancellation.Operation, f.get(t, claim.Operation.ID))
}

func endedStays(t *testing.T, f fixture) {
	outcomes := []asyncop.Outcome{asyncop.Succeed(envelope), asyncop.Fail(unknown, nil), asyncop.Cancel(asyncop.NotExecuted)}
	for _, outcome := range outcomes {
		claim := f.submitAndClaim(t)
		f.finish(t, claim, outcome)
		before := f.get(t, claim.Operation.ID)
		cancellation := f.cancel(t, claim.Operation.ID)
		expect(t, "outcome", cancellation.Outcome, asyncop.AlreadyDone)
		expect(t, "answered", cancellation.Operation, before)
		expect(t, "untouched", f.get(t, claim.Operation.ID), before)
	}
}

func cancelBetweenAttempts(t *testing.T, f fixture) {
	claim := f.submitAndClaim(t)
	f.retry(t, claim, unknown)
	expect(t, "outcome", f.cancel(t, claim.Operation.ID).Outcome, asyncop.CancelledNow)
	op := f.get(t, claim.Operation.ID)
	expect(t, "failure", op.Failure, asyncop.Cancel(asyncop.UnknownExecution).Failure())
	expect(t, "attempts", op.Attempts, 1)
}

func adminCancels(t *testing.T, f fixture) {
	for _, scope := range []asyncop.Scope{asyncop.TenantsScope("globex", tenant), everything} {
		op := f.submit(t)
		expect(t, "outcome", f.cancelIn(t, scope, op.ID).Outcome, asyncop.CancelledNow)
	}
}

func askingTwice(t *testing.T, f fixture) {
	running := f.submitAndClaim(t)
	first := f.cancel(t, running.Operation.ID)
	expect(t, "asked again", f.cancel(t, running.Operation.ID), first)

	queued := f.submit(t)
	ended := f.cancel(t, queued.ID)
	again := f.cancel(t, queued.ID)
	expect(t, "outcome", again.Outcome, asyncop.AlreadyDone)
	expect(t, "untouched", again.Operation, ended.Operation)
}

func cancelledIsNeverClaimed(t *testing.T, f fixture) {
	op := f.submit(t)
	f.cancel(t, op.ID)
	expect(t, "claims", len(f.claim(t, node, 1)), 0)
}

func scheduledIsCancelled(t *testing.T, f fixture) {
	op := f.submit(t, notYet)
	expect(t, "outcome", f.cancel(t, op.ID).Outcome, asyncop.CancelledNow)
}
