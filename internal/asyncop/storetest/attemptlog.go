package storetest

import (
	"testing"

	"asyncgate/internal/asyncop"
)

var attemptLogRules = map[string]rule{
	"TheRunningAttemptIsLast":        runningAttemptIsLast,
	"EachAttemptIsLoggedOnce":        eachAttemptLogged,
	"TheFirstAndTheLastAreKept":      firstAndLastKept,
	"ATimestampIsTheDatabasesClocks": logTimesFit,
}

func runningAttemptIsLast(t *testing.T, f fixture) {
	claim := f.submitAndClaim(t)
	log := f.get(t, claim.Operation.ID).AttemptLog
	expect(t, "log", log, []asyncop.Attempt{{StartedAt: *claim.Operation.StartedAt, Node: node}})
	f.retry(t, claim, unknown)
	second := f.claimOne(t)
	log = f.get(t, claim.Operation.ID).AttemptLog
	if len(log) != 2 || log[0].FinishedAt == nil || log[1].FinishedAt != nil || log[1].Code != "" {
		t.Fatalf("log %+v", log)
	}
	expect(t, "the claim's log", second.Operation.AttemptLog, log)
}

func eachAttemptLogged(t *testing.T, f fixture) {
	claim := f.submitAndClaim(t)
	f.retry(t, claim, unsent, uncounted)
	f.retry(t, f.claim(t, "node-2", 1)[0], unknown)
	f.finish(t, f.claimOne(t), asyncop.Succeed(envelope))
	log := f.get(t, claim.Operation.ID).AttemptLog
	type entry struct {
		node      string
		code      asyncop.Code
		execution asyncop.Execution
	}
	want := []entry{
		{node, unsent.Code, asyncop.NotExecuted},
		{"node-2", unknown.Code, asyncop.UnknownExecution},
		{node, "", asyncop.Executed},
	}
	if len(log) != len(want) {
		t.Fatalf("%d attempts, want %d: %+v", len(log), len(want), log)
	}
	for i, attempt := range log {
		if got := (entry{attempt.Node, attempt.Code, attempt.Execution}); got != want[i] {
			t.Errorf("attempt %d is %+v, want %+v", i, got, want[i])
		}
	}
}

// firstAndLastKept makes an attempt on a node of its own, 30 times, so that
// each entry can be told from the others.
func firstAndLastKept(t *testing.T, f fixture) {
	const attempts, kept = 30, asyncop.AttemptLogHead + asyncop.AttemptLogTail
	name := func(i int) string { return "node-" + string(rune('A'+i)) }
	f.submit(t, hundredTry)
	var claim asyncop.Claim
	for i := range attempts {
		claim = f.claim(t, name(i), 1)[0]
		if i < attempts-1 {
			f.retry(t, claim, unknown)
		}
	}
	var want []string
	for i := range attempts {
		if i < asyncop.AttemptLogHead || i >= attempts-asyncop.AttemptLogTail {
			want = append(want, name(i))
		}
	}
	nodes := func(op asyncop.Operation) []string {
		var nodes []string
		for _, attempt := range op.AttemptLog {
			nodes = append(nodes, attempt.Node)
		}
		return nodes
	}
	expect(t, "kept", len(want), kept)
	expect(t, "while the last one runs", nodes(f.get(t, claim.Operation.ID)), want)
	f.finish(t, claim, asyncop.Succeed(envelope))
	done := f.get(t, claim.Operation.ID)
	expect(t, "at the end", nodes(done), want)
	expect(t, "attempts", done.Attempts, attempts)
}

func logTimesFit(t *testing.T, f fixture) {
	claim := f.submitAndClaim(t)
	f.retry(t, claim, unknown)
	f.finish(t, f.claimOne(t), asyncop.Succeed(envelope))
	op := f.get(t, claim.Operation.ID)
	expect(t, "first start", op.AttemptLog[0].StartedAt, *claim.Operation.StartedAt)
	expect(t, "last start", op.AttemptLog[1].StartedAt, *op.StartedAt)
	expect(t, "last end", op.AttemptLog[1].FinishedAt, op.FinishedAt)
	for i, attempt := range op.AttemptLog {
		if attempt.FinishedAt.Before(attempt.StartedAt) {
			t.Errorf("attempt %d ends before it starts: %+v", i, attempt)
		}
	}
}
