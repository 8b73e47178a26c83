package executor_test

import (
	"context"
	"encoding/json"
	"testing"

	"asyncgate/internal/asyncop"
	"asyncgate/internal/auth"
	"asyncgate/internal/executor"
)

// begin begins a run as a caller, until the test ends.
func begin(ctx context.Context, t *testing.T, tenant *executor.Tenant, query string) *executor.Run {
	t.Helper()
	run := tenant.Begin(ctx, executor.Params{Query: query})
	t.Cleanup(run.Close)
	return run
}

func TestARunIsSubmittableWhereAdmitAdmitsIt(t *testing.T) {
	t.Parallel()
	tenant := newShop(t, executor.RemoteOptions{URL: "http://127.0.0.1:1"})
	asAda := auth.NewContext(t.Context(), ada)
	for query, want := range map[string]bool{
		`mutation { pay(amount: 1) { thing { id } } }`:      true,
		`mutation { pay(amount: 1) { thing { id } } wipe }`: false,
		`mutation { wipe }`:                     false,
		`mutation { refund(amount: 1) { id } }`: false, // needs a role
		`mutation { cancelAsync(id: "01890a5d-ac96-774b-bcce-b302099a8001") { outcome } }`: false,
		`mutation { __typename }`: false,
		`{ things { id } }`:       false,
		`subscription { operationResult(id: "01890a5d-ac96-774b-bcce-b302099a8001") { id } }`: false,
		`mutation { nope }`: false,
		`mutation {`:        false,
		`mutation A { pay(amount: 1) { thing { id } } } mutation B { pay(amount: 1) { thing { id } } }`: false,
	} {
		if got := begin(asAda, t, tenant, query).Submittable(); got != want {
			t.Errorf("%s: %v", query, got)
		}
	}
	if begin(auth.NewAnonymous(t.Context()), t, tenant, `mutation { pay(amount: 1) { thing { id } } }`).Submittable() {
		t.Error("nobody may submit")
	}
}

func TestAnEndedOperationReadsLikeTheForwardThatItReplaced(t *testing.T) {
	t.Parallel()
	tenant := newShop(t, executor.RemoteOptions{URL: "http://127.0.0.1:1"})
	ctx := auth.NewContext(t.Context(), ada)
	const query = `mutation { first: pay(amount: 1) { thing { id } } }`
	run := begin(ctx, t, tenant, query)
	for want, op := range map[string]asyncop.Operation{
		exact: {Result: json.RawMessage(exact)},
		`{"errors":[{"message":"It took too long.","path":["first"],"extensions":{"code":"TIMEOUT","execution":"UNKNOWN"}}],"data":{"first":null}}`: {
			Failure: &asyncop.Failure{Code: asyncop.CodeTimeout, Message: "It took too long.", Execution: asyncop.UnknownExecution},
		},
		`{"errors":[{"message":"too much","path":["first"],"extensions":{"code":"PAYLOAD_TOO_LARGE","execution":"EXECUTED"}}],"data":{"first":null}}`: {
			Failure: &asyncop.Failure{Code: asyncop.CodeResultTooLarge, Message: "too much", Execution: asyncop.Executed},
		},
	} {
		if reply, ok := run.Ended(op); !ok || string(reply.Envelope) != want || reply.Errors != nil {
			t.Errorf("got  %s\nwant %s", reply.Envelope, want)
		}
	}
	if reply, ok := run.Ended(asyncop.Operation{State: asyncop.Succeeded, Purged: true}); ok {
		t.Errorf("a purged result reads %s", reply.Envelope)
	}
	nowRefused := begin(ctx, t, tenant, `mutation { gone }`)
	if reply, ok := nowRefused.Ended(asyncop.Operation{Result: json.RawMessage(exact)}); !ok || string(reply.Envelope) != exact {
		t.Errorf("a document that fits no longer reads %s", reply.Envelope)
	}
	lost := asyncop.Failure{Code: asyncop.CodeOutcomeUnknown, Message: "lost", Execution: asyncop.UnknownExecution}
	const want = `{"errors":[{"message":"lost","extensions":{"code":"OUTCOME_UNKNOWN","execution":"UNKNOWN"}}]}`
	if reply, ok := nowRefused.Ended(asyncop.Operation{Failure: &lost}); !ok || string(reply.Envelope) != want {
		t.Errorf("a failed one reads %s", reply.Envelope)
	}
	refused, failure := ask(ctx, tenant, executor.Params{Query: query}), asyncop.Failure{
		Code: asyncop.CodeUpstreamUnavailable, Message: "The upstream could not be reached.", Execution: asyncop.NotExecuted,
	}
	if reply, _ := run.Ended(asyncop.Operation{Failure: &failure}); string(reply.Envelope) != string(refused.Envelope) {
		t.Errorf("got  %s\nwant %s", reply.Envelope, refused.Envelope)
	}
}
