package storetest

import (
	"testing"

	"github.com/google/uuid"

	"asyncgate/internal/asyncop"
)

var releaseRules = map[string]rule{
	"AReleasedClaimNeverWas":           releasedNeverWas,
	"TheLastAttemptIsThereAgain":       lastAttemptIsThereAgain,
	"CancellationWinsOverRelease":      cancellationWinsOverRelease,
	"ALostOneFailsNoNeighboursRelease": lostOneInReleaseBatch,
}

// restored is op after a release that gave it back as before was.
func restored(op, before asyncop.Operation) asyncop.Operation {
	before.Revision = op.Revision
	return before
}

func releasedNeverWas(t *testing.T, f fixture) {
	before := f.submit(t, singleShot)
	claim := f.claimOne(t)
	expect(t, "fate", f.release(t, claim), asyncop.Settled{State: asyncop.Queued})
	op := f.get(t, before.ID)
	expect(t, "operation", op, restored(op, before))
	if op.Revision <= claim.Operation.Revision {
		t.Errorf("revision %d after %d", op.Revision, claim.Operation.Revision)
	}
	expect(t, "the next attempt", f.claimOne(t).Operation.Attempts, 1)
}

func lastAttemptIsThereAgain(t *testing.T, f fixture) {
	claim := f.submitAndClaim(t)
	f.retry(t, claim, unknown)
	before := f.get(t, claim.Operation.ID)
	f.release(t, f.claimOne(t))
	op := f.get(t, claim.Operation.ID)
	expect(t, "operation", op, restored(op, before))
}

func cancellationWinsOverRelease(t *testing.T, f fixture) {
	claim := f.submitAndClaim(t)
	f.cancel(t, claim.Operation.ID)
	expect(t, "fate", f.release(t, claim), asyncop.Settled{State: asyncop.Cancelled})
	op := f.get(t, claim.Operation.ID)
	expect(t, "state", op.State, asyncop.Cancelled)
	expect(t, "code", op.Failure.Code, asyncop.CodeCancelled)
	expect(t, "execution", op.Execution, asyncop.NotExecuted)
	expect(t, "attempts", op.Attempts, 0)
	expect(t, "logged attempts", len(op.AttemptLog), 0)
	if op.FinishedAt == nil {
		t.Error("no end")
	}
}

func lostOneInReleaseBatch(t *testing.T, f fixture) {
	claim := f.submitAndClaim(t)
	settled, err := f.store.Release(t.Context(), []asyncop.ClaimRef{
		{ID: claim.Operation.ID, Token: uuid.New()}, claim.Ref(), claim.Ref(),
	})
	if err != nil {
		t.Fatal(err)
	}
	expect(t, "forged", settled[0].Err, asyncop.ErrClaimLost, sameError)
	expect(t, "held", settled[1], asyncop.Settled{State: asyncop.Queued})
	expect(t, "repeated", settled[2].Err, asyncop.ErrClaimLost, sameError)
}
