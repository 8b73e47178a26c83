package storetest

import (
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"asyncgate/internal/asyncop"
)

var expireRules = map[string]rule{
	"AnOverdueRowFails":           overdueRowFails,
	"BetweenTwoAttemptsToo":       expiresBetweenAttempts,
	"OthersAreLeft":               othersAreLeft,
	"ExpireKeepsToItsLimit":       expireKeepsLimit,
	"ARunningOneIsNotExpired":     runningIsNotExpired,
	"AScheduledOneExpiresAsWell":  scheduledExpires,
	"ExpiryDoesNotCountAnAttempt": expiryCountsNothing,
}

func (f fixture) expire(t *testing.T, limit int) []uuid.UUID {
	t.Helper()
	ids, err := f.store.Expire(t.Context(), limit)
	if err != nil {
		t.Fatalf("expire: %v", err)
	}
	return ids
}

func overdueRowFails(t *testing.T, f fixture) {
	op := f.submit(t, overdue)
	expect(t, "expired", f.expire(t, 10), []uuid.UUID{op.ID})
	ended := f.get(t, op.ID)
	expect(t, "state", ended.State, asyncop.Failed)
	expect(t, "code", ended.Failure.Code, asyncop.CodeStartDeadlineExceeded)
	expect(t, "execution", ended.Execution, asyncop.NotExecuted)
	if ended.Failure.Message == "" || ended.FinishedAt == nil || ended.Revision <= op.Revision {
		t.Errorf("message %q, finished %v, revision %d after %d", ended.Failure.Message, ended.FinishedAt, ended.Revision, op.Revision)
	}
	expect(t, "expired again", len(f.expire(t, 10)), 0)
}

func expiresBetweenAttempts(t *testing.T, f fixture) {
	claim := f.submitAndClaim(t, func(s *asyncop.Submission) { s.StartBefore = at(2 * time.Second) })
	f.retry(t, claim, unknown, after(time.Hour))
	eventually(t, "expired", func() bool { return slices.Contains(f.expire(t, 10), claim.Operation.ID) })
	op := f.get(t, claim.Operation.ID)
	expect(t, "code", op.Failure.Code, asyncop.CodeStartDeadlineExceeded)
	expect(t, "what the attempt left", op.Failure.Execution, asyncop.UnknownExecution)
	expect(t, "attempts", op.Attempts, 1)
}

func othersAreLeft(t *testing.T, f fixture) {
	queued := f.submit(t)
	expect(t, "expired", len(f.expire(t, 10)), 0)
	expect(t, "untouched", f.get(t, queued.ID), queued)
}

func expireKeepsLimit(t *testing.T, f fixture) {
	f.submitAll(t, submission(overdue), submission(overdue), submission(overdue))
	expect(t, "first", len(f.expire(t, 2)), 2)
	expect(t, "rest", len(f.expire(t, 2)), 1)
}

func runningIsNotExpired(t *testing.T, f fixture) {
	claim := f.submitAndClaim(t, func(s *asyncop.Submission) { s.StartBefore = at(2 * time.Second) })
	twin := f.submit(t, func(s *asyncop.Submission) { s.StartBefore = at(2 * time.Second) })
	eventually(t, "the twin expired", func() bool { return slices.Contains(f.expire(t, 10), twin.ID) })
	expect(t, "untouched", f.get(t, claim.Operation.ID), claim.Operation)
}

func scheduledExpires(t *testing.T, f fixture) {
	op := f.submit(t, notYet, overdue)
	expect(t, "expired", f.expire(t, 10), []uuid.UUID{op.ID})
}

func expiryCountsNothing(t *testing.T, f fixture) {
	op := f.submit(t, overdue)
	f.expire(t, 10)
	ended := f.get(t, op.ID)
	if ended.Attempts != 0 || len(ended.AttemptLog) != 0 || ended.StartedAt != nil {
		t.Errorf("attempts %d, logged %d, started %v", ended.Attempts, len(ended.AttemptLog), ended.StartedAt)
	}
}
