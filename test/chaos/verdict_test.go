package chaos

import (
	"strings"
	"testing"
	"time"
)

// sound is evidence of one operation of each field, with nothing wrong.
func sound() evidence {
	now := time.Now()
	return evidence{
		submissions: map[string]submission{
			"k1": {key: "k1", field: "once", does: answers, id: "1"},
			"k2": {key: "k2", field: "again", does: answers, id: "2"},
		},
		rows: []row{
			{id: "1", key: "k1", state: "SUCCEEDED", result: "first", attempts: 1, execution: 2},
			{id: "2", key: "k2", state: "SUCCEEDED", result: "second", attempts: 2, execution: 2},
		},
		calls: map[string][]call{
			"1": {{key: `"1"`, attempt: "1", began: now, answer: "first"}},
			"2": {{key: `"2"`, attempt: "1", began: now}, {key: `"2"`, attempt: "2", began: now, answer: "second"}},
		},
		ends: map[string][]ending{"1": {{"SUCCEEDED", now}}},
	}
}

// flaws are what a gateway could do wrong, and what the judge says to it.
var flaws = map[string]struct {
	make func(*evidence)
	says string
}{
	"ALostOperation":         {func(e *evidence) { e.rows = e.rows[:1] }, `key k2 was answered with "2"`},
	"AnOperationForTwoKeys":  {func(e *evidence) { e.rows[1].id = "3" }, `its row is "3"`},
	"ADoubledSubmission":     {func(e *evidence) { e.rows = append(e.rows, e.rows[0]) }, "key k1 is 1 and 1"},
	"AnOperationOfNobody":    {func(e *evidence) { e.rows[1].key = "k3" }, "nobody submitted 2"},
	"OnceDoneTwice":          {func(e *evidence) { e.calls["1"] = append(e.calls["1"], e.calls["1"][0]) }, "executed more than once"},
	"AnUncountedAttempt":     {func(e *evidence) { e.rows[1].attempts = 1 }, "more calls than attempts"},
	"AnotherIdempotencyKey":  {func(e *evidence) { e.calls["2"][1].key = `"1"` }, "Idempotency-Key"},
	"OneAttemptSentTwice":    {func(e *evidence) { e.calls["2"][1].attempt = "1" }, "two calls were attempt 1"},
	"ASuccessThatWasNot":     {func(e *evidence) { e.calls["1"] = nil }, "did not answer"},
	"AnotherResult":          {func(e *evidence) { e.rows[0].result = "second" }, "did not answer"},
	"AnEffectThatIsDenied":   {func(e *evidence) { e.rows[0].execution = 0 }, "its execution is 0"},
	"ADoubtWithoutAReason":   {func(e *evidence) { e.rows[1].state, e.rows[1].code = "FAILED", "OUTCOME_UNKNOWN" }, "nothing made it unknown"},
	"AFailureOfTheGateways":  {func(e *evidence) { e.rows[0].state, e.rows[0].code = "FAILED", "START_DEADLINE_EXCEEDED" }, "may not end like this"},
	"ACancellationOfNobodys": {func(e *evidence) { e.rows[0].state, e.rows[0].code = "CANCELLED", "CANCELLED" }, "nobody asked"},
	"AnEventTooMany":         {func(e *evidence) { e.ends["1"] = append(e.ends["1"], e.ends["1"][0]) }, "2 terminal events"},
	"AnEventThatIsWrong":     {func(e *evidence) { e.ends["1"][0].state = "FAILED" }, "a terminal event said FAILED"},
	"ACallAfterTheCancellation": {func(e *evidence) {
		s := e.submissions["k1"]
		s.cancelling, s.cancelled = true, &cancellation{outcome: "CANCELLED", at: time.Now().Add(-time.Minute)}
		e.submissions["k1"] = s
		e.rows[0].state, e.rows[0].code = "CANCELLED", "CANCELLED"
	}, "called 1 times after that"},
}

func TestTheJudgeFindsEachFlaw(t *testing.T) {
	t.Parallel()
	if wrong := sound().judge(); len(wrong) > 0 {
		t.Errorf("in sound evidence it finds %v", wrong)
	}
	for name, flaw := range flaws {
		e := sound()
		flaw.make(&e)
		if wrong := strings.Join(e.judge(), "\n"); !strings.Contains(wrong, flaw.says) {
			t.Errorf("%s: it says %q", name, wrong)
		}
	}
}
