package storetest

import (
	"testing"

	"github.com/google/uuid"

	"asyncgate/internal/asyncop"
)

var heartbeatRules = map[string]rule{
	"EachClaimHasItsPulseInOrder":   pulsesInOrder,
	"AnEndedClaimIsLost":            endedClaimIsLost,
	"ARecoveredClaimIsLostForGood":  recoveredClaimIsLost,
	"AHeartbeatIsNoVisibleChange":   heartbeatIsInvisible,
	"AHeartbeatNeedsNoClaims":       heartbeatNeedsNoClaims,
	"CancellationShowsInEveryPulse": cancellationShows,
}

func pulsesInOrder(t *testing.T, f fixture) {
	f.submitAll(t, submission(), submission(), submission())
	claims := f.claim(t, node, 3)
	f.cancel(t, claims[1].Operation.ID)
	f.finish(t, claims[2], asyncop.Succeed(envelope))
	forged := asyncop.ClaimRef{ID: claims[0].Operation.ID, Token: uuid.New()}
	absent := asyncop.ClaimRef{ID: uuid.New(), Token: uuid.New()}

	got := f.beat(t, node, absent, claims[2].Ref(), claims[1].Ref(), forged, claims[0].Ref(), claims[1].Ref())
	expect(t, "pulses", got, []asyncop.Pulse{
		asyncop.PulseLost, asyncop.PulseLost, asyncop.PulseCancel,
		asyncop.PulseLost, asyncop.PulseHeld, asyncop.PulseCancel,
	})
}

func endedClaimIsLost(t *testing.T, f fixture) {
	claim := f.submitAndClaim(t)
	f.retry(t, claim, unknown)
	second := f.claimOne(t)
	got := f.beat(t, node, claim.Ref(), second.Ref())
	expect(t, "pulses", got, []asyncop.Pulse{asyncop.PulseLost, asyncop.PulseHeld})
}

func recoveredClaimIsLost(t *testing.T, f fixture) {
	claim := f.submitAndClaim(t, idempotent)
	f.recover(t, claim.Operation.ID)
	lost := []asyncop.Pulse{asyncop.PulseLost}
	expect(t, "pulse", f.beat(t, node, claim.Ref()), lost)
	f.claimOne(t)
	expect(t, "pulse after the next claim", f.beat(t, node, claim.Ref()), lost)
}

func heartbeatIsInvisible(t *testing.T, f fixture) {
	claim := f.submitAndClaim(t)
	f.beat(t, node, claim.Ref())
	expect(t, "read", f.get(t, claim.Operation.ID), claim.Operation)
}

func heartbeatNeedsNoClaims(t *testing.T, f fixture) {
	expect(t, "pulses", len(f.beat(t, node)), 0)
	expect(t, "pulses", len(f.beat(t, node)), 0)
}

func cancellationShows(t *testing.T, f fixture) {
	claim := f.submitAndClaim(t)
	f.cancel(t, claim.Operation.ID)
	for range 2 {
		expect(t, "pulse", f.beat(t, node, claim.Ref()), []asyncop.Pulse{asyncop.PulseCancel})
	}
}
