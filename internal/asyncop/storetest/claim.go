package storetest

import (
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"asyncgate/internal/asyncop"
)

var claimRules = map[string]rule{
	"AClaimIsRunningUnderAFreshToken": freshToken,
	"OnlyDueRowsAreClaimed":           onlyDueRows,
	"AScheduledRowIsClaimedInTime":    scheduledRow,
	"AnExpiredRowIsNotClaimed":        expiredRow,
	"PriorityThenAge":                 priorityThenAge,
	"LimitIsTheMost":                  limitIsTheMost,
	"ANodeWithoutHeartbeatGetsNone":   nodeWithoutHeartbeat,
	"ARecoveredNodeGetsNone":          recoveredNodeGetsNone,
	"ConcurrentClaimsNeverShare":      concurrentClaims,
	"FutureRowsDoNotHideDueOnes":      futureRowsDoNotHide,
}

func freshToken(t *testing.T, f fixture) {
	op := f.submit(t)
	claim := f.claimOne(t)
	if claim.Token == uuid.Nil || claim.Operation.ID != op.ID {
		t.Errorf("claimed %s under %s", claim.Operation.ID, claim.Token)
	}
	expect(t, "authority", string(claim.Authority), `{"sub":"ada"}`)
	expect(t, "state", claim.Operation.State, asyncop.Running)
	expect(t, "attempts", claim.Operation.Attempts, 1)
	expect(t, "read", f.get(t, op.ID), claim.Operation)
	if claim.Operation.StartedAt == nil || claim.Operation.StartedAt.Before(op.CreatedAt) {
		t.Errorf("started %v, created %s", claim.Operation.StartedAt, op.CreatedAt)
	}
	f.retry(t, claim, unknown)
	second := f.claimOne(t)
	if second.Token == claim.Token {
		t.Error("the second claim has the first one's token")
	}
	expect(t, "attempts", second.Operation.Attempts, 2)
}

func onlyDueRows(t *testing.T, f fixture) {
	f.submit(t, notYet)
	due := f.submit(t)
	expect(t, "due", f.claimOne(t).Operation.ID, due.ID)
	expect(t, "more", len(f.claim(t, node, 10)), 0)
}

func scheduledRow(t *testing.T, f fixture) {
	op := f.submit(t, func(s *asyncop.Submission) { s.NotBefore = at(50 * time.Millisecond) })
	var claims []asyncop.Claim
	eventually(t, "claimed", func() bool {
		claims = f.claim(t, node, 1)
		return len(claims) == 1
	})
	if started := claims[0].Operation.StartedAt; started.Before(op.NotBefore) {
		t.Errorf("started %s, not before %s", started, op.NotBefore)
	}
}

func expiredRow(t *testing.T, f fixture) {
	op := f.submit(t, overdue)
	expect(t, "claims", len(f.claim(t, node, 10)), 0)
	expect(t, "state", f.get(t, op.ID).State, asyncop.Queued)
}

func priorityThenAge(t *testing.T, f fixture) {
	low := f.submit(t, priority(0))
	older := f.submit(t, priority(4), func(s *asyncop.Submission) { s.NotBefore = at(-time.Minute) })
	newer := f.submit(t, priority(4))
	high := f.submit(t, priority(9))
	for _, want := range []asyncop.Operation{high, older, newer, low} {
		claims := f.claim(t, node, 1)
		if len(claims) != 1 || claims[0].Operation.ID != want.ID {
			t.Fatalf("claimed %v, want the one of priority %d from %s", claims, want.Priority, want.NotBefore)
		}
	}
}

func limitIsTheMost(t *testing.T, f fixture) {
	f.submitAll(t, submission(priority(1)), submission(priority(2)), submission(priority(2)), submission(priority(3)), submission())
	expect(t, "none", len(f.claim(t, node, 0)), 0)
	expect(t, "two", len(f.claim(t, node, 2)), 2)
	expect(t, "the rest", len(f.claim(t, node, 100)), 3)
}

func nodeWithoutHeartbeat(t *testing.T, f fixture) {
	op := f.submit(t)
	f.beat(t, "another node")
	claimed, err := f.store.Claim(t.Context(), asyncop.Intake{Node: node, Limit: 10, Look: true})
	claims := claimed.Claims
	if err != nil || len(claims) != 0 {
		t.Errorf("%d claims, %v", len(claims), err)
	}
	expect(t, "untouched", f.get(t, op.ID), op)
}

func recoveredNodeGetsNone(t *testing.T, f fixture) {
	claim := f.submitAndClaim(t)
	f.recover(t, claim.Operation.ID)
	f.submit(t)
	claimed, err := f.store.Claim(t.Context(), asyncop.Intake{Node: node, Limit: 10, Look: true})
	claims := claimed.Claims
	if err != nil || len(claims) != 0 {
		t.Errorf("%d claims before the next heartbeat, %v", len(claims), err)
	}
	expect(t, "claims after it", len(f.claim(t, node, 10)), 1)
}

func concurrentClaims(t *testing.T, f fixture) {
	const rows, workers = 120, 8
	batch := make([]asyncop.Submission, rows)
	for i := range batch {
		batch[i] = submission(priority(i % 3))
	}
	f.submitAll(t, batch...)
	f.beat(t, node)

	var mu sync.Mutex
	holders := map[uuid.UUID]int{}
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for {
				claimed, err := f.store.Claim(t.Context(), asyncop.Intake{Node: node, Limit: 7, Look: true})
				claims := claimed.Claims
				if err != nil {
					t.Errorf("claim: %v", err)
				}
				if len(claims) == 0 {
					return
				}
				mu.Lock()
				for _, claim := range claims {
					holders[claim.Operation.ID]++
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	// A row that another claim had locked may have been passed over.
	for _, claim := range f.claim(t, node, rows) {
		holders[claim.Operation.ID]++
	}
	expect(t, "rows", len(holders), rows)
	for id, n := range holders {
		if n != 1 {
			t.Errorf("%s was claimed %d times", id, n)
		}
	}
}

func futureRowsDoNotHide(t *testing.T, f fixture) {
	batch := make([]asyncop.Submission, 50)
	for i := range batch {
		batch[i] = submission(notYet, priority(9))
	}
	f.submitAll(t, batch...)
	due := f.submit(t, priority(0))
	expect(t, "due", f.claimOne(t).Operation.ID, due.ID)
}
