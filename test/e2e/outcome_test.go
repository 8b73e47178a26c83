package e2e

import (
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

const fine = `{"data":{"work":"fine"}}`

// outcomes are what an upstream may do to an attempt, and what becomes of its
// operation.
var outcomes = map[string]struct {
	field string
	act   act

	state, code, execution string
	attempts, calls        int
	result                 string
}{
	"ErrorsAndNoData": {
		field: "work", act: says(200, `{"errors":[{"message":"no", "extensions":{"n":1.10}}]}`),
		state: "FAILED", code: "EXECUTION_FAILED", execution: "UNKNOWN", attempts: 1, calls: 1,
		result: `{"errors":[{"message":"no", "extensions":{"n":1.10}}]}`,
	},
	"ErrorsAndData": {
		field: "work", act: says(500, ` {"data":{"work":null},"errors":[{"message":"no","path":["work"]}]}`),
		state: "FAILED", code: "EXECUTION_FAILED", execution: "EXECUTED", attempts: 1, calls: 1,
		result: `{"data":{"work":null},"errors":[{"message":"no","path":["work"]}]}`,
	},
	"DataAndAnEmptyListOfErrors": {
		field: "work", act: says(200, `{"errors":[],"data":{"work":"fine"}}`),
		state: "SUCCEEDED", attempts: 1, calls: 1, result: `{"errors":[],"data":{"work":"fine"}}`,
	},
	"RateLimitedIsGivenBack": {
		field: "work", act: first(func(w http.ResponseWriter, r *http.Request, n int) {
			w.Header().Set("Retry-After", "1")
			says(429, `{"errors":[{"message":"slow down"}]}`)(w, r, n)
		}, says(200, fine)),
		state: "SUCCEEDED", attempts: 1, calls: 2, result: fine,
	},
	"ARedirectIsNotFollowed": {
		field: "work", act: func(w http.ResponseWriter, r *http.Request, n int) {
			w.Header().Set("Location", "/graphql")
			says(302, fine)(w, r, n)
		},
		state: "FAILED", code: "UPSTREAM_REJECTED", execution: "NOT_EXECUTED", attempts: 1, calls: 1, result: "null",
	},
	"NotFoundAsAPage": {
		field: "work", act: says(404, "<html>not found</html>"),
		state: "FAILED", code: "UPSTREAM_REJECTED", execution: "NOT_EXECUTED", attempts: 1, calls: 1, result: "null",
	},
	"AServersErrorAsAPage": {
		field: "work", act: says(500, "<html>sorry</html>"),
		state: "FAILED", code: "OUTCOME_UNKNOWN", execution: "UNKNOWN", attempts: 1, calls: 1, result: "null",
	},
	"APageInstead": {
		field: "work", act: says(200, "<html>welcome</html>"),
		state: "FAILED", code: "OUTCOME_UNKNOWN", execution: "UNKNOWN", attempts: 1, calls: 1, result: "null",
	},
	"ClosedAfterReading": {
		field: "work", act: closes,
		state: "FAILED", code: "OUTCOME_UNKNOWN", execution: "UNKNOWN", attempts: 1, calls: 1, result: "null",
	},
	"AnAnswerCutOff": {
		field: "work", act: func(w http.ResponseWriter, r *http.Request, n int) {
			w.Header().Set("Content-Length", "100")
			says(200, fine)(w, r, n)
		},
		state: "FAILED", code: "OUTCOME_UNKNOWN", execution: "UNKNOWN", attempts: 1, calls: 1, result: "null",
	},
	"ClosedOnceAndIdempotent": {
		field: "again", act: first(closes, says(200, `{"data":{"again":"fine"}}`)),
		state: "SUCCEEDED", attempts: 2, calls: 2, result: `{"data":{"again":"fine"}}`,
	},
	"ClosedAlwaysAndIdempotent": {
		field: "again", act: closes,
		state: "FAILED", code: "OUTCOME_UNKNOWN", execution: "UNKNOWN", attempts: 2, calls: 2, result: "null",
	},
	"NoAnswerInTime": {
		field: "hang", act: hangs,
		state: "FAILED", code: "TIMEOUT", execution: "UNKNOWN", attempts: 1, calls: 1, result: "null",
	},
	"AnAnswerTooLarge": {
		field: "work", act: says(200, `{"data":{"work":"`+strings.Repeat("x", 5000)+`"}}`),
		state: "FAILED", code: "RESULT_TOO_LARGE", execution: "EXECUTED", attempts: 1, calls: 1, result: "null",
	},
}

func TestWhatTheUpstreamDoesDecidesTheOutcome(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, store string) {
		acts := map[string]act{}
		for name, outcome := range outcomes {
			acts[name] = outcome.act
		}
		upstream := perform(t, acts)
		ada := before(t, store, upstream.url).serve(t).as(token(t, "ada", ""))
		submitted := map[string]string{}
		for name, outcome := range outcomes {
			submitted[name] = ada.submit(t, tagged(outcome.field, name)).ID
		}
		for name, outcome := range outcomes {
			t.Run(name, func(t *testing.T) {
				op := ada.await(t, submitted[name])
				op.ended(t, outcome.state, outcome.code, outcome.execution, outcome.attempts)
				if got := strings.TrimSpace(string(op.Result)); got != outcome.result {
					t.Errorf("the result is %s\nwant %s", got, outcome.result)
				}
				if calls := upstream.count(name); calls != outcome.calls {
					t.Errorf("the upstream was called %d times, want %d", calls, outcome.calls)
				}
				if len(op.AttemptLog) != outcome.calls {
					t.Errorf("the attempt log is %+v, want %d", op.AttemptLog, outcome.calls)
				}
			})
		}
	})
}

func TestAnUpstreamThatReadsTheRequestOnAKeptAliveConnectionAndClosesItHasBeenCalledOnce(t *testing.T) {
	t.Parallel()
	upstream := perform(t, map[string]act{"fine": says(200, fine), "closed": closes})
	ada := before(t, stores["SQLite"](t), upstream.url).serve(t).as(token(t, "ada", ""))
	ada.await(t, ada.submit(t, tagged("work", "fine")).ID).ended(t, "SUCCEEDED", "", "", 1)
	ada.await(t, ada.submit(t, tagged("work", "closed")).ID).ended(t, "FAILED", "OUTCOME_UNKNOWN", "UNKNOWN", 1)
	if kept, used := upstream.callers("fine"), upstream.callers("closed"); len(used) != 1 || used[0] != kept[0] {
		t.Errorf("it was called from %v, and before that from %v: want once, on the same connection", used, kept)
	}
	synchronous := ada.ask(t, `mutation ($tag: String!) { work(tag: $tag) }`, object("tag", `"fine"`))
	if string(synchronous.body) != fine {
		t.Errorf("got %s", synchronous.body)
	}
	synchronous = ada.ask(t, `mutation ($tag: String!) { work(tag: $tag) }`, object("tag", `"closed"`))
	if synchronous.code() != "OUTCOME_UNKNOWN" || upstream.count("closed") != 2 {
		t.Errorf("got %s after %d calls", synchronous.body, upstream.count("closed"))
	}
	if kept, used := upstream.callers("fine"), upstream.callers("closed"); used[1] != kept[1] {
		t.Errorf("it was called from %v, and before that from %v: want the same connection", used, kept)
	}
}

func TestAnUpstreamThatIsDownCostsTimeAndNoAttempt(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, store string) {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		address := listener.Addr().String()
		listener.Close()
		ada := before(t, store, "http://"+address+"/graphql").serve(t).as(token(t, "ada", ""))
		op := ada.submit(t, tagged("work", "fine"))
		eventually(t, "an attempt has failed", func() bool {
			op = ada.get(t, op.ID, "0")
			return op.State == "QUEUED" && op.Error != nil
		})
		op.ended(t, "QUEUED", "UPSTREAM_UNAVAILABLE", "NOT_EXECUTED", 0)
		if listener, err = net.Listen("tcp", address); err != nil {
			t.Fatal(err)
		}
		up := time.Now()
		upstream := performOn(t, listener, map[string]act{"fine": says(200, fine)})
		op = ada.await(t, op.ID)
		op.ended(t, "SUCCEEDED", "", "", 1)
		within(t, 20*time.Second, "the next attempt", up)
		if n := upstream.count("fine"); n != 1 || len(op.AttemptLog) < 2 {
			t.Errorf("after %d calls the attempt log is %+v", n, op.AttemptLog)
		}
	})
}

func TestWhatCannotStartInTimeFailsWithoutHavingRun(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, store string) {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		listener.Close()
		ada := before(t, store, "http://"+listener.Addr().String()+"/graphql").serve(t).as(token(t, "ada", ""))
		deadline := time.Now().Add(2 * time.Second)
		op := ada.submit(t, input(`mutation { work(tag: "late") }`, "startBefore", instant(deadline)))
		ada.subscribe(t, resultDocument, op.ID).result(t).ended(t, "FAILED", "START_DEADLINE_EXCEEDED", "NOT_EXECUTED", 0)
		if early := time.Until(deadline); early > 0 {
			t.Errorf("it failed %v before its time was over", early)
		}
		within(t, 5*time.Second, "the failure", deadline)
	})
}
