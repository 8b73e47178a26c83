package storetest

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/uuid"

	"asyncgate/internal/asyncop"
)

var lifeRules = map[string]rule{
	"EveryChangeIsOneThatTheStateMachineHas": everyChangeIsLegal,
}

// everyChangeIsLegal takes random single steps and looks at every operation
// after each.
func everyChangeIsLegal(t *testing.T, f fixture) {
	life := life{fixture: f, seen: map[uuid.UUID]asyncop.Operation{}, random: rand.New(rand.NewPCG(1, 2))}
	for range 250 {
		life.step(t)
		for _, op := range f.walk(t, asyncop.List{Scope: everything, First: 100}) {
			before, known := life.seen[op.ID]
			life.seen[op.ID] = op
			if known {
				requireLegal(t, before, op)
			} else {
				expect(t, "the first state", op.State, asyncop.Queued)
			}
		}
	}
	reached := map[asyncop.State]bool{}
	for _, op := range life.seen {
		reached[op.State] = true
	}
	expect(t, "kinds of states at the end", len(reached) >= 4, true)
}

// life drives operations through random steps.
type life struct {
	fixture
	random *rand.Rand
	seen   map[uuid.UUID]asyncop.Operation
	claims []asyncop.Claim // some of them lost by now
}

func (l *life) step(t *testing.T) {
	t.Helper()
	switch l.random.IntN(12) {
	case 0, 1, 2:
		l.submit(t, func(s *asyncop.Submission) { s.Idempotent = l.random.IntN(2) == 0 })
	case 3, 4, 5:
		l.claims = append(l.claims, l.claim(t, node, 1+l.random.IntN(2))...)
	case 6:
		l.finishSome(t)
	case 7:
		l.withClaim(func(c asyncop.Claim) { l.retry(t, c, unknown) })
	case 8:
		l.withClaim(func(c asyncop.Claim) { l.retry(t, c, unsent, uncounted) })
	case 9:
		l.withClaim(func(c asyncop.Claim) { l.release(t, c) })
	case 10:
		l.withClaim(func(c asyncop.Claim) { l.cancelIn(t, everything, c.Operation.ID) })
	case 11:
		if l.random.IntN(4) > 0 {
			l.submit(t, overdue)
			l.look(t)
			l.expire(t, 1)
			return
		}
		if _, err := l.store.Recover(t.Context(), time.Microsecond); err != nil {
			t.Fatalf("recover: %v", err)
		}
	}
}

// look remembers fresh rows before a second step in one turn.
func (l *life) look(t *testing.T) {
	t.Helper()
	for _, op := range l.walk(t, asyncop.List{Scope: everything, First: 100}) {
		l.seen[op.ID] = op
	}
}

func (l *life) finishSome(t *testing.T) {
	t.Helper()
	outcomes := []asyncop.Outcome{asyncop.Succeed(envelope), asyncop.Fail(unsent, nil), asyncop.Cancel(asyncop.UnknownExecution)}
	l.withClaim(func(c asyncop.Claim) { l.finish(t, c, outcomes[l.random.IntN(len(outcomes))]) })
}

// withClaim picks any claim ever made, so that stale ones are tried too.
func (l *life) withClaim(use func(asyncop.Claim)) {
	if len(l.claims) > 0 {
		use(l.claims[l.random.IntN(len(l.claims))])
	}
}

// requireLegal compares an operation before and after one step.
func requireLegal(t *testing.T, before, after asyncop.Operation) {
	t.Helper()
	if before.State != after.State && !before.State.CanBecome(after.State) {
		t.Fatalf("%s became %s", before.State, after.State)
	}
	if before.Done() {
		expect(t, "an ended operation", after, before)
	}
	changed := before.State != after.State || before.CancellationRequested != after.CancellationRequested
	if changed && after.Revision <= before.Revision || after.Revision < before.Revision {
		t.Fatalf("revision %d after %d, from %s to %s", after.Revision, before.Revision, before.State, after.State)
	}
	if after.Execution < before.Execution {
		t.Fatalf("execution fell from %s to %s", before.Execution, after.Execution)
	}
	if after.Attempts < 0 || after.Attempts > after.MaxAttempts {
		t.Fatalf("%d attempts of %d", after.Attempts, after.MaxAttempts)
	}
	if (after.FinishedAt != nil) != after.Done() {
		t.Fatalf("%s, finished %v", after.State, after.FinishedAt)
	}
}
