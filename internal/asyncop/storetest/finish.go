package storetest

import (
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/google/uuid"

	"asyncgate/internal/asyncop"
)

var finishRules = map[string]rule{
	"EachOutcomeIsKept":             eachOutcomeIsKept,
	"AFailedResultIsKept":           failedResultIsKept,
	"AStaleClaimIsFenced":           staleClaimIsFenced,
	"TheSecondFinishIsLost":         secondFinishIsLost,
	"ALostNeighbourFailsNoOther":    lostNeighbour,
	"ExecutionNeverFalls":           executionNeverFalls,
	"TheTrueOutcomeStands":          trueOutcomeStands,
	"SuccessForgetsTheLastFailure":  successForgetsFailure,
	"ConcurrentFinishesSettleOnce":  concurrentFinishes,
	"AFinishedOneIsNeverClaimed":    finishedIsNeverClaimed,
	"ABadResultFailsNoOthersFinish": badResult,
}

func eachOutcomeIsKept(t *testing.T, f fixture) {
	cases := map[asyncop.State]struct {
		outcome   asyncop.Outcome
		execution asyncop.Execution
	}{
		asyncop.Succeeded: {asyncop.Succeed(envelope), asyncop.Executed},
		asyncop.Failed:    {asyncop.Fail(unknown, nil), asyncop.UnknownExecution},
		asyncop.Cancelled: {asyncop.Cancel(asyncop.NotExecuted), asyncop.NotExecuted},
	}
	for state, c := range cases {
		claim := f.submitAndClaim(t)
		expect(t, "fate", f.finish(t, claim, c.outcome), asyncop.Settled{State: state})
		op := f.get(t, claim.Operation.ID)
		expect(t, "state", op.State, state)
		expect(t, "execution", op.Execution, c.execution)
		expect(t, "failure", op.Failure, c.outcome.Failure())
		expect(t, "result", string(op.Result), string(c.outcome.Result()))
		expect(t, "attempts", op.Attempts, 1)
		if op.FinishedAt == nil || op.FinishedAt.Before(*op.StartedAt) {
			t.Errorf("started %v, finished %v", op.StartedAt, op.FinishedAt)
		}
		if op.Revision <= claim.Operation.Revision {
			t.Errorf("revision %d after %d", op.Revision, claim.Operation.Revision)
		}
	}
}

func failedResultIsKept(t *testing.T, f fixture) {
	claim := f.submitAndClaim(t)
	answer := json.RawMessage(`{"errors":[{"message":"no <b>"}],"data":null}`)
	failed := asyncop.Failure{Code: asyncop.CodeExecutionFailed, Message: "The upstream answered with errors.", Execution: asyncop.Executed}
	f.finish(t, claim, asyncop.Fail(failed, answer))
	op := f.get(t, claim.Operation.ID)
	expect(t, "result", string(op.Result), string(answer))
	expect(t, "failure", op.Failure, &failed)
}

func staleClaimIsFenced(t *testing.T, f fixture) {
	stale := f.submitAndClaim(t)
	f.retry(t, stale, unknown)
	current := f.claimOne(t)
	expect(t, "the stale finish", f.finish(t, stale, asyncop.Succeed(envelope)).Err, asyncop.ErrClaimLost, sameError)
	expect(t, "the stale retry", f.retry(t, stale, unsent).Err, asyncop.ErrClaimLost, sameError)
	expect(t, "the stale release", f.release(t, stale).Err, asyncop.ErrClaimLost, sameError)
	expect(t, "untouched", f.get(t, current.Operation.ID), current.Operation)
}

func secondFinishIsLost(t *testing.T, f fixture) {
	claim := f.submitAndClaim(t)
	f.finish(t, claim, asyncop.Succeed(envelope))
	done := f.get(t, claim.Operation.ID)
	expect(t, "again", f.finish(t, claim, asyncop.Fail(unknown, nil)).Err, asyncop.ErrClaimLost, sameError)
	expect(t, "untouched", f.get(t, claim.Operation.ID), done)
}

func lostNeighbour(t *testing.T, f fixture) {
	f.submitAll(t, submission(), submission(), submission())
	claims := f.claim(t, node, 3)
	batch := []asyncop.Finished{
		{Claim: claims[2].Ref(), Outcome: asyncop.Succeed(envelope)},
		{Claim: asyncop.ClaimRef{ID: claims[1].Operation.ID, Token: uuid.New()}, Outcome: asyncop.Succeed(envelope)},
		{Claim: claims[0].Ref(), Outcome: asyncop.Fail(unknown, nil)},
		{Claim: claims[2].Ref(), Outcome: asyncop.Cancel(asyncop.NotExecuted)}, // once more, in the same batch
	}
	settled, err := f.store.Finish(t.Context(), batch)
	if err != nil {
		t.Fatal(err)
	}
	expect(t, "first", settled[0], asyncop.Settled{State: asyncop.Succeeded})
	expect(t, "forged", settled[1].Err, asyncop.ErrClaimLost, sameError)
	expect(t, "last", settled[2], asyncop.Settled{State: asyncop.Failed})
	expect(t, "repeated", settled[3].Err, asyncop.ErrClaimLost, sameError)
	expect(t, "forged one's row", f.get(t, claims[1].Operation.ID), claims[1].Operation)
	expect(t, "repeated one's row", f.get(t, claims[2].Operation.ID).State, asyncop.Succeeded)
}

func executionNeverFalls(t *testing.T, f fixture) {
	claim := f.submitAndClaim(t)
	f.retry(t, claim, unknown)
	expect(t, "between attempts", f.get(t, claim.Operation.ID).Execution, asyncop.UnknownExecution)
	f.retry(t, f.claimOne(t), unsent, uncounted)
	expect(t, "after one that was not sent", f.get(t, claim.Operation.ID).Execution, asyncop.UnknownExecution)
	f.finish(t, f.claimOne(t), asyncop.Fail(unsent, nil))
	op := f.get(t, claim.Operation.ID)
	expect(t, "at the end", op.Execution, asyncop.UnknownExecution)
	expect(t, "the failure's", op.Failure.Execution, asyncop.UnknownExecution)
	expect(t, "the failure's code", op.Failure.Code, unsent.Code)
}

func trueOutcomeStands(t *testing.T, f fixture) {
	claim := f.submitAndClaim(t)
	f.cancel(t, claim.Operation.ID)
	expect(t, "fate", f.finish(t, claim, asyncop.Succeed(envelope)), asyncop.Settled{State: asyncop.Succeeded})
	op := f.get(t, claim.Operation.ID)
	if !op.CancellationRequested || op.Failure != nil {
		t.Errorf("requested %v, failure %v", op.CancellationRequested, op.Failure)
	}
}

func successForgetsFailure(t *testing.T, f fixture) {
	claim := f.submitAndClaim(t)
	f.retry(t, claim, unknown)
	f.finish(t, f.claimOne(t), asyncop.Succeed(envelope))
	op := f.get(t, claim.Operation.ID)
	if op.Failure != nil || op.Execution != asyncop.Executed || len(op.AttemptLog) != 2 {
		t.Errorf("failure %v, execution %s, %d attempts", op.Failure, op.Execution, len(op.AttemptLog))
	}
}

// concurrentFinishes reports the same claims in opposite orders.
func concurrentFinishes(t *testing.T, f fixture) {
	const rows, reporters = 30, 6
	batch := make([]asyncop.Submission, rows)
	for i := range batch {
		batch[i] = submission()
	}
	f.submitAll(t, batch...)
	reports := make([]asyncop.Finished, 0, rows)
	for _, claim := range f.claim(t, node, rows) {
		reports = append(reports, asyncop.Finished{Claim: claim.Ref(), Outcome: asyncop.Succeed(envelope)})
	}
	backwards := slices.Clone(reports)
	slices.Reverse(backwards)

	var mu sync.Mutex
	won := 0
	var wg sync.WaitGroup
	for i := range reporters {
		wg.Go(func() {
			settled, err := f.store.Finish(t.Context(), [][]asyncop.Finished{reports, backwards}[i%2])
			if err != nil {
				t.Errorf("finish: %v", err)
			}
			mu.Lock()
			defer mu.Unlock()
			for _, fate := range settled {
				if fate.Err == nil {
					won++
				}
			}
		})
	}
	wg.Wait()
	expect(t, "settled", won, rows)
}

func finishedIsNeverClaimed(t *testing.T, f fixture) {
	claim := f.submitAndClaim(t, idempotent)
	f.finish(t, claim, asyncop.Fail(unknown, nil))
	expect(t, "claims", len(f.claim(t, node, 10)), 0)
	if taken, err := f.store.Recover(t.Context(), 1); err != nil || len(taken) != 0 {
		t.Errorf("recovered %v, %v", taken, err)
	}
	expect(t, "state", f.get(t, claim.Operation.ID).State, asyncop.Failed)
}

// badResult finishes with a byte that some databases refuse in text.
func badResult(t *testing.T, f fixture) {
	f.submitAll(t, submission(), submission())
	claims := f.claim(t, node, 2)
	settled, err := f.store.Finish(t.Context(), []asyncop.Finished{
		{Claim: claims[0].Ref(), Outcome: asyncop.Succeed(json.RawMessage("{\"data\":\"\x00\"}"))},
		{Claim: claims[1].Ref(), Outcome: asyncop.Succeed(envelope)},
	})
	if err != nil {
		t.Fatal(err)
	}
	expect(t, "neighbour", settled[1], asyncop.Settled{State: asyncop.Succeeded})
	if settled[0].Err != nil && errors.Is(settled[0].Err, asyncop.ErrClaimLost) {
		t.Error("a result that cannot be kept was called a lost claim")
	}
}
