package chaos

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// evidence is all that is known at the end.
type evidence struct {
	submissions map[string]submission // by key: what clients were told
	rows        []row                 // what the store holds
	calls       map[string][]call     // by operation: what the upstream executed
	ends        map[string][]ending   // by operation: the terminal events of those that were watched
	// spared: no fault cut an attempt off, so no outcome may be unknown.
	spared bool
}

// judge answers all that is wrong.
func (e evidence) judge() (wrong []string) {
	rows := map[string]row{}
	for _, r := range e.rows {
		if other, twice := rows[r.key]; twice {
			wrong = append(wrong, fmt.Sprintf("key %s is %s and %s", r.key, other.id, r.id))
		}
		if _, known := e.submissions[r.key]; !known {
			wrong = append(wrong, fmt.Sprintf("nobody submitted %s", r.id))
		}
		rows[r.key] = r
	}
	for _, key := range slices.Sorted(maps.Keys(e.submissions)) {
		s := e.submissions[key]
		r, there := rows[key]
		if !there || r.id != s.id {
			wrong = append(wrong, fmt.Sprintf("key %s was answered with %q, and its row is %q", key, s.id, r.id))
			continue
		}
		calls := e.calls[r.id]
		for _, fault := range slices.Concat(
			e.outcome(s, r, calls), executions(s, r, calls), cancelling(s, r, calls), told(r, e.ends[r.id])) {
			wrong = append(wrong, fmt.Sprintf("%s (%s %s) is %s %s after %d attempts and %d calls: %s",
				r.id, s.field, s.does, r.state, r.code, r.attempts, len(calls), fault))
		}
	}
	return wrong
}

// outcome: an operation ended as what the upstream did, or as unknown where it
// may.
func (e evidence) outcome(s submission, r row, calls []call) (wrong []string) {
	switch r.state + " " + r.code {
	case "SUCCEEDED ":
		if s.does == fails {
			wrong = append(wrong, "the upstream answers errors")
		}
	case "FAILED EXECUTION_FAILED":
		if s.does != fails || r.execution != 2 {
			wrong = append(wrong, fmt.Sprintf("the upstream %s, and its execution is %d", s.does, r.execution))
		}
	case "FAILED OUTCOME_UNKNOWN":
		if s.idempotent() || e.spared || r.execution != 1 {
			wrong = append(wrong, fmt.Sprintf("nothing made it unknown, and its execution is %d", r.execution))
		}
		return wrong
	case "CANCELLED CANCELLED":
		if !s.cancelling {
			wrong = append(wrong, "nobody asked for its cancellation")
		}
		return wrong
	default:
		return append(wrong, "it may not end like this")
	}
	answered := slices.ContainsFunc(calls, func(c call) bool { return c.answer != "" && c.answer == r.result })
	if !answered {
		wrong = append(wrong, fmt.Sprintf("the upstream did not answer %q", r.result))
	}
	return wrong
}

// executions: once is once, every call is a counted attempt under the
// operation's own key, and the reported execution is what the upstream saw, or
// unknown.
func executions(s submission, r row, calls []call) (wrong []string) {
	if !s.idempotent() && len(calls) > 1 {
		wrong = append(wrong, "it was executed more than once")
	}
	if len(calls) > r.attempts {
		wrong = append(wrong, "there were more calls than attempts")
	}
	seen := map[string]bool{}
	for _, c := range calls {
		if c.key != `"`+r.id+`"` {
			wrong = append(wrong, "a call's Idempotency-Key was "+c.key)
		}
		if seen[c.attempt] {
			wrong = append(wrong, "two calls were attempt "+c.attempt)
		}
		seen[c.attempt] = true
	}
	if r.execution == 0 && len(calls) > 0 || r.execution == 2 && len(calls) == 0 {
		wrong = append(wrong, fmt.Sprintf("its execution is %d", r.execution))
	}
	return wrong
}

// cancelling: a cancellation did what its answer said.
func cancelling(s submission, r row, calls []call) (wrong []string) {
	if s.cancelled == nil {
		return nil
	}
	after := 0
	for _, c := range calls {
		if c.began.After(s.cancelled.at) {
			after++
		}
	}
	switch s.cancelled.outcome {
	case "CANCELLED":
		if r.state != "CANCELLED" || after > 0 {
			wrong = append(wrong, fmt.Sprintf("it was cancelled, and called %d times after that", after))
		}
	case "CANCEL_REQUESTED":
		if after > 1 { // its attempt may have been on its way
			wrong = append(wrong, fmt.Sprintf("its cancellation was requested, and it was called %d times after that", after))
		}
	case "ALREADY_DONE":
		if r.state != s.cancelled.state || after > 0 {
			wrong = append(wrong, fmt.Sprintf("it was %s already, and called %d times after that", s.cancelled.state, after))
		}
	default:
		wrong = append(wrong, "its cancellation was answered with "+s.cancelled.outcome)
	}
	return wrong
}

// told: whoever watched was told the end exactly once. Those who did not watch
// have no events.
func told(r row, ends []ending) (wrong []string) {
	if len(ends) > 1 {
		wrong = append(wrong, fmt.Sprintf("there were %d terminal events", len(ends)))
	}
	for _, end := range ends {
		if end.state != r.state {
			wrong = append(wrong, "a terminal event said "+end.state)
		}
	}
	return wrong
}

// judge ends the load, waits until all has ended, and fails the test for each
// thing that is wrong. It answers the rows.
func (l *load) judge(t *testing.T, u *upstream, spared bool) []row {
	t.Helper()
	if err := l.end(); err != nil {
		t.Error(err)
	}
	e := evidence{rows: settled(t, l.client.cluster.store), calls: map[string][]call{}, spared: spared}
	eventually(t, "all who watch are told", func() bool { return l.watcher.waiting() == 0 })
	var contradictions, faults []string
	e.submissions, contradictions = l.ledger.read()
	e.ends, faults = l.watcher.read()
	for _, r := range e.rows {
		e.calls[r.id] = u.saw(r.id)
	}
	wrong := slices.Concat(contradictions, faults, e.judge())
	for _, fault := range wrong[:min(len(wrong), 20)] {
		t.Error(fault)
	}
	if len(wrong) > 20 {
		t.Errorf("and %d more", len(wrong)-20)
	}
	t.Log(e.summary())
	return e.rows
}

// summary says how the operations ended.
func (e evidence) summary() string {
	ends, calls := map[string]int{}, 0
	for _, r := range e.rows {
		ends[strings.TrimSpace(r.state+" "+r.code)]++
		calls += len(e.calls[r.id])
	}
	return fmt.Sprintf("%d operations, %d calls, %d watched: %v", len(e.rows), calls, len(e.ends), ends)
}
