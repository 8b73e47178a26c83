// Package storetest is the asyncop.Store contract as tests. Every store runs
// all of it, against the real thing and in real time.
//
// A rule that needs to wait polls with a deadline; none depends on how fast
// the machine is.
package storetest

import (
	"testing"

	"asyncgate/internal/asyncop"
)

// rule is one sentence of the contract, checked on a fresh store.
type rule func(t *testing.T, f fixture)

// Run runs every rule as a parallel subtest. open answers a fresh, empty store
// that tells waker of its changes, and arranges for its own closing with
// t.Cleanup.
func Run(t *testing.T, open func(t *testing.T, waker asyncop.Waker) asyncop.Store) {
	groups := []struct {
		name  string
		rules map[string]rule
	}{
		{"Submit", submitRules},
		{"IdempotencyKey", keyRules},
		{"Scope", scopeRules},
		{"List", listRules},
		{"Claim", claimRules},
		{"Fair", fairRules},
		{"Heartbeat", heartbeatRules},
		{"Finish", finishRules},
		{"Retry", retryRules},
		{"Release", releaseRules},
		{"Recover", recoverRules},
		{"Expire", expireRules},
		{"Cancel", cancelRules},
		{"AttemptLog", attemptLogRules},
		{"NextDue", nextDueRules},
		{"Sweep", sweepRules},
		{"Wake", wakeRules},
		{"Life", lifeRules},
	}
	for _, group := range groups {
		t.Run(group.name, func(t *testing.T) {
			t.Parallel()
			for name, check := range group.rules {
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					wakes := newWakes()
					check(t, fixture{store: open(t, wakes), wakes: wakes})
				})
			}
		})
	}
}
