package storetest

import (
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"asyncgate/internal/asyncop"
)

var recoverRules = map[string]rule{
	"AnIdempotentOneIsQueuedAgain":      idempotentIsQueuedAgain,
	"AnotherFailsWithOutcomeUnknown":    otherFails,
	"WithoutAttemptsLeftItFails":        recoverLastAttempt,
	"CancellationRequestedIsCancelled":  recoverCancelled,
	"ALiveNodesWorkIsUntouched":         liveNode,
	"AZombieChangesNothing":             zombie,
	"ANodeThatComesBackHoldsNewClaims":  nodeComesBack,
	"QueuedAndEndedOnesAreNotRecovered": onlyRunning,
	"NoClaimSlipsPastARecovery":         noClaimSlipsPast,
	"AFinishOrARecoveryWinsNeverBoth":   finishOrRecovery,
}

func recovered(op asyncop.Operation) asyncop.Attempt {
	return op.AttemptLog[len(op.AttemptLog)-1]
}

func idempotentIsQueuedAgain(t *testing.T, f fixture) {
	claim := f.submitAndClaim(t, idempotent)
	op := f.recover(t, claim.Operation.ID)
	expect(t, "state", op.State, asyncop.Queued)
	expect(t, "attempts", op.Attempts, 1)
	expect(t, "code", op.Failure.Code, asyncop.CodeOutcomeUnknown)
	expect(t, "execution", op.Execution, asyncop.UnknownExecution)
	expect(t, "the attempt's code", recovered(op).Code, asyncop.CodeOutcomeUnknown)
	if recovered(op).FinishedAt == nil {
		t.Error("the attempt has no end")
	}
	expect(t, "the next attempt", f.claimOne(t).Operation.Attempts, 2)
}

func otherFails(t *testing.T, f fixture) {
	claim := f.submitAndClaim(t)
	op := f.recover(t, claim.Operation.ID)
	expect(t, "state", op.State, asyncop.Failed)
	expect(t, "code", op.Failure.Code, asyncop.CodeOutcomeUnknown)
	expect(t, "execution", op.Failure.Execution, asyncop.UnknownExecution)
	if op.Failure.Message == "" || op.FinishedAt == nil {
		t.Errorf("message %q, finished %v", op.Failure.Message, op.FinishedAt)
	}
}

func recoverLastAttempt(t *testing.T, f fixture) {
	claim := f.submitAndClaim(t, idempotent, singleShot)
	op := f.recover(t, claim.Operation.ID)
	expect(t, "state", op.State, asyncop.Failed)
	expect(t, "code", op.Failure.Code, asyncop.CodeOutcomeUnknown)
}

func recoverCancelled(t *testing.T, f fixture) {
	claim := f.submitAndClaim(t, idempotent)
	f.cancel(t, claim.Operation.ID)
	op := f.recover(t, claim.Operation.ID)
	expect(t, "state", op.State, asyncop.Cancelled)
	expect(t, "code", op.Failure.Code, asyncop.CodeCancelled)
	expect(t, "execution", op.Failure.Execution, asyncop.UnknownExecution)
}

// liveNode lets one node fall silent while another goes on.
func liveNode(t *testing.T, f fixture) {
	const stale = 2 * time.Second
	silent := f.submitAndClaim(t)
	f.submit(t)
	live := f.claim(t, "live node", 1)[0]
	eventually(t, "recovered", func() bool {
		f.beat(t, "live node", live.Ref())
		taken, err := f.store.Recover(t.Context(), stale)
		if err != nil {
			t.Fatalf("recover: %v", err)
		}
		if slices.Contains(taken, live.Operation.ID) {
			t.Fatal("a live node's claim was taken")
		}
		return slices.Contains(taken, silent.Operation.ID)
	})
	expect(t, "the live one's", f.get(t, live.Operation.ID), live.Operation)
	expect(t, "fate", f.finish(t, live, asyncop.Succeed(envelope)), asyncop.Settled{State: asyncop.Succeeded})
}

func zombie(t *testing.T, f fixture) {
	claim := f.submitAndClaim(t, idempotent)
	f.recover(t, claim.Operation.ID)
	before := f.get(t, claim.Operation.ID)
	expect(t, "finish", f.finish(t, claim, asyncop.Succeed(envelope)).Err, asyncop.ErrClaimLost, sameError)
	expect(t, "retry", f.retry(t, claim, unknown).Err, asyncop.ErrClaimLost, sameError)
	expect(t, "release", f.release(t, claim).Err, asyncop.ErrClaimLost, sameError)
	expect(t, "untouched", f.get(t, claim.Operation.ID), before)
	expect(t, "pulse", f.beat(t, node, claim.Ref()), []asyncop.Pulse{asyncop.PulseLost})
}

func nodeComesBack(t *testing.T, f fixture) {
	claim := f.submitAndClaim(t, idempotent)
	f.recover(t, claim.Operation.ID)
	second := f.claimOne(t)
	taken, err := f.store.Recover(t.Context(), time.Hour)
	if err != nil || len(taken) != 0 {
		t.Errorf("recovered %v, %v", taken, err)
	}
	expect(t, "fate", f.finish(t, second, asyncop.Succeed(envelope)), asyncop.Settled{State: asyncop.Succeeded})
}

func onlyRunning(t *testing.T, f fixture) {
	done := f.submitAndClaim(t, idempotent)
	f.finish(t, done, asyncop.Succeed(envelope))
	queued := f.submit(t)
	claim := f.submit(t, priority(9), idempotent)
	f.claim(t, node, 1)
	f.recover(t, claim.ID)
	expect(t, "queued", f.get(t, queued.ID), queued)
	expect(t, "done", f.get(t, done.Operation.ID).State, asyncop.Succeeded)
}

// noClaimSlipsPast lets a node claim and send heartbeats while it is recovered
// all the time. What is RUNNING in the end is held by a claim that was answered.
func noClaimSlipsPast(t *testing.T, f fixture) {
	const rows = 40
	batch := make([]asyncop.Submission, rows)
	for i := range batch {
		batch[i] = submission(idempotent, hundredTry)
	}
	f.submitAll(t, batch...)
	held := map[asyncop.ClaimRef]bool{}
	var wg sync.WaitGroup
	wg.Go(func() {
		for range 30 {
			_, beatErr := f.store.Heartbeat(t.Context(), node, nil)
			claimed, err := f.store.Claim(t.Context(), asyncop.Intake{Node: node, Limit: 5, Look: true})
			claims := claimed.Claims
			if err := errors.Join(beatErr, err); err != nil {
				t.Errorf("claim: %v", err)
			}
			for _, claim := range claims {
				held[claim.Ref()] = true
			}
		}
	})
	wg.Go(func() {
		for range 30 {
			if _, err := f.store.Recover(t.Context(), time.Microsecond); err != nil {
				t.Errorf("recover: %v", err)
			}
		}
	})
	wg.Wait()
	var refs []asyncop.ClaimRef
	for ref := range held {
		refs = append(refs, ref)
	}
	stillHeld := 0
	for _, pulse := range f.beat(t, node, refs...) {
		if pulse == asyncop.PulseHeld {
			stillHeld++
		}
	}
	running := f.walk(t, asyncop.List{Scope: everything, Filter: asyncop.Filter{States: []asyncop.State{asyncop.Running}}, First: 100})
	expect(t, "held", stillHeld, len(running))
}

// finishOrRecovery reports claims while they are being recovered.
func finishOrRecovery(t *testing.T, f fixture) {
	const rows = 40
	batch := make([]asyncop.Submission, rows)
	for i := range batch {
		batch[i] = submission()
	}
	f.submitAll(t, batch...)
	claims := f.claim(t, node, rows)
	var wg sync.WaitGroup
	won := make([]bool, len(claims))
	wg.Go(func() {
		for i, claim := range claims {
			settled, err := f.store.Finish(t.Context(), []asyncop.Finished{{Claim: claim.Ref(), Outcome: asyncop.Succeed(envelope)}})
			if err != nil {
				t.Errorf("finish: %v", err)
				return
			}
			won[i] = settled[0].Err == nil
		}
	})
	wg.Go(func() {
		if _, err := f.store.Recover(t.Context(), time.Microsecond); err != nil {
			t.Errorf("recover: %v", err)
		}
	})
	wg.Wait()
	for i, claim := range claims {
		want := asyncop.Failed
		if won[i] {
			want = asyncop.Succeeded
		}
		expect(t, "state", f.get(t, claim.Operation.ID).State, want)
	}
}
