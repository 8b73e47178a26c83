package e2e

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"asyncgate/internal/executor/raw"
	"asyncgate/test/upstreams"
)

func TestTheHandleComesAtOnceAndTheResultIsPushedByteForByte(t *testing.T) {
	t.Parallel()
	acme, globex := upstreams.Yoga(t), upstreams.Yoga(t)
	onEachStore(t, func(t *testing.T, store string) {
		g := beforeYoga(t, store, acme, globex)
		n := g.serve(t)
		for tenant, upstream := range map[string]*upstreams.Server{"acme": acme, "globex": globex} {
			t.Run(tenant, func(t *testing.T) {
				t.Parallel()
				ada := n.as(g.token(t, "--subject", "ada", "--issuer", issuerOne.Issuer, "--tenant", tenant))
				tag := slices.Collect(strings.SplitSeq(t.Name(), "/"))[1] // the same for both tenants
				submitThenPush(t, ada, upstream, tag)
			})
		}
	})
}

func submitThenPush(t *testing.T, c caller, upstream *upstreams.Server, tag string) {
	t.Helper()
	submitting := time.Now()
	op := c.submit(t, slow("2", tag))
	within(t, 1500*time.Millisecond, "the handle", submitting)
	if op.State != "QUEUED" && op.State != "RUNNING" {
		t.Fatalf("the handle's state is %s", op.State)
	}
	early := c.subscribe(t, resultDocument, op.ID)
	updates := c.subscribe(t, updatesDocument, op.ID)
	polled := c.await(t, op.ID)
	pushed := early.result(t)
	subscribing := time.Now()
	late := c.subscribe(t, resultDocument, op.ID).result(t)
	within(t, time.Second, "the result that was there", subscribing)

	polled.ended(t, "SUCCEEDED", "", "", 1)
	want := lastAnswer(t, upstream, tag)
	for _, value := range []string{"9007199254740993", "1.10", `\u0000`, "<b>", "\U0001F680", `"nothing":null`, `{"z":1, "a":`} {
		if !strings.Contains(want, value) {
			t.Errorf("the upstream did not answer %s", value)
		}
	}
	for way, result := range map[string]json.RawMessage{"polled": polled.Result, "pushed": pushed.Result, "late": late.Result} {
		if string(result) != want {
			t.Errorf("%s: %s\nwant %s", way, result, want)
		}
	}
	oneTerminalUpdate(t, updates.run(t))
	if got := calls(t, upstream, tag); got != "1" {
		t.Errorf("the upstream was called %s times", got)
	}
}

// oneTerminalUpdate: the terminal operation comes last, once, and then complete.
func oneTerminalUpdate(t *testing.T, all []message) {
	t.Helper()
	last := len(all) - 1
	if last < 1 || all[last].Type != "complete" {
		t.Fatalf("got %+v, want updates and complete", all)
	}
	for i, m := range all[:last] {
		op := operationAt(t, m.payload, "data", "operationUpdates")
		if op.Done != (i == last-1) {
			t.Errorf("update %d of %d is %s", i+1, last, op.State)
		}
	}
}

// numbers are variables that no decoder into floats keeps.
const numbers = `{"v": {"n":[1.0, 9007199254740993], "e":1E2,"a":null}, "b":12345678901234567890}`

func TestNumbersReachTheUpstreamDigitByDigit(t *testing.T) {
	t.Parallel()
	yoga := upstreams.Yoga(t)
	const document = `mutation ($v: JSON, $b: BigInt) { echo(value: $v, big: $b) { rawBody } }`
	const compact = `{"v":{"n":[1.0,9007199254740993],"e":1E2,"a":null},"b":9007199254740993}`
	ways := map[string]struct {
		document, variables string // of the request that submits
		want                string // the variables that the upstream gets
	}{
		"AsTheInputVariable": {submitDocument, object("input", input(document, "variables", numbers)), numbers},
		"AsANestedVariable": {
			`mutation ($d: String!, $vars: JSON) { submitAsync(input: {document: $d, variables: $vars}) { ` + fields + ` } }`,
			object("d", quote(document), "vars", numbers), numbers,
		},
		"AsVariablesInALiteral": {
			`mutation ($d: String!, $v: JSON) { submitAsync(input: {document: $d, variables: {v: $v, b: 9007199254740993}}) { ` + fields + ` } }`,
			object("d", quote(document), "v", `{"n":[1.0,9007199254740993],"e":1E2,"a":null}`), compact,
		},
		"AsALiteral": {
			`mutation ($d: String!) { submitAsync(input: {document: $d, variables: {v: {n: [1.0, 9007199254740993], e: 1E2, a: null}, b: 9007199254740993}}) { ` + fields + ` } }`,
			object("d", quote(document)), compact,
		},
	}
	onEachStore(t, func(t *testing.T, store string) {
		ada := beforeYoga(t, store, yoga, yoga).serve(t).as(token(t, "ada", "acme"))
		for name, way := range ways {
			op := operationAt(t, ada.ask(t, way.document, way.variables).body, "data", "submitAsync")
			sent := textAt(t, ada.await(t, op.ID).Result, "data", "echo", "rawBody")
			if want := string(body(document, way.want)); sent != want {
				t.Errorf("%s: the upstream got %s\nwant %s", name, sent, want)
			}
		}
	})
}

func TestNumbersInADocumentReachTheUpstreamAsWritten(t *testing.T) {
	t.Parallel()
	yoga := upstreams.Yoga(t)
	ada := beforeYoga(t, stores["SQLite"](t), yoga, yoga).serve(t).as(token(t, "ada", "acme"))
	const document = `mutation { echo(value: {n: [1.0, 9007199254740993]}, big: 12345678901234567890, decimal: 1.10) { value big decimal rawBody } }`
	op := ada.await(t, ada.submit(t, input(document)).ID)
	echoed := at(t, op.Result, "data", "echo")
	if got := textAt(t, echoed, "rawBody"); got != string(body(document, "")) {
		t.Errorf("the upstream got %s", got)
	}
	if got := string(echoed); !strings.HasPrefix(got, `{"value":{"n":[1.0,9007199254740993]},"big":12345678901234567890,"decimal":1.10,`) {
		t.Errorf("got %s", got)
	}
}

func TestAnOperationPickedByNameIsSentWithWhatItUsesAndNoMore(t *testing.T) {
	t.Parallel()
	yoga := upstreams.Yoga(t)
	ada := beforeYoga(t, stores["SQLite"](t), yoga, yoga).serve(t).as(token(t, "ada", "acme"))
	const document = `
		mutation Used($big: BigInt) { first: echo(big: $big, decimal: 1.10, value: {n: [9007199254740993, "\u0000 <ü>"]}, text: """a "b" """) { ...all } }
		mutation Other($big: BigInt) { echo(big: $big) { ...other } }
		fragment all on EchoResult { value big decimal text rawBody }
		fragment other on EchoResult { big }`
	op := ada.submit(t, input(document, "operationName", `"Used"`, "variables", `{"big":12345678901234567890, "other":1}`))
	echoed := at(t, ada.await(t, op.ID).Result, "data", "first")
	if got := string(echoed); !strings.HasPrefix(got,
		`{"value":{"n":[9007199254740993,"\u0000 <ü>"]},"big":12345678901234567890,"decimal":1.10,"text":"a \"b\" ",`) {
		t.Errorf("got %s", got)
	}
	if sent := textAt(t, echoed, "rawBody"); strings.Contains(strings.ToLower(sent), "other") {
		t.Errorf("the upstream got %s", sent)
	}
}

func TestTheUpstreamLearnsWhoCallsAndNothingOfTheirCredentials(t *testing.T) {
	t.Parallel()
	yoga := upstreams.Yoga(t)
	onEachStore(t, func(t *testing.T, store string) {
		n := beforeYoga(t, store, yoga, yoga).serve(t)
		ada := n.as(token(t, "ada", "acme", "editor", "reader"))
		own := []string{"Cookie", "session=mine", "X-User-Id", "root", "Idempotency-Key", "mine", "X-Own", "mine"}
		submitted := ada.ask(t, submitDocument, object("input", input(`mutation { headers }`)), own...)
		op := ada.await(t, operationAt(t, submitted.body, "data", "submitAsync").ID)
		saw := at(t, op.Result, "data", "headers")
		hasHeaders(t, saw, map[string]string{
			"idempotency-key": `"` + op.ID + `"`, "x-async-operation-id": op.ID, "x-async-attempt": "1",
			"x-user-id": "ada", "x-tenant": "acme", "x-roles": "editor,reader", "x-api-key": apiKey,
		})
		synchronous := ada.ask(t, `{ headers }`, "", own...)
		hasHeaders(t, at(t, synchronous.body, "data", "headers"), map[string]string{
			"x-user-id": "ada", "x-tenant": "acme", "x-roles": "editor,reader", "x-api-key": apiKey,
		})

		grace := n.as(token(t, "grace", "globex"))
		op = grace.await(t, grace.submit(t, input(`mutation { headers }`)).ID)
		hasHeaders(t, at(t, op.Result, "data", "headers"), map[string]string{
			"idempotency-key": `"` + op.ID + `"`, "x-async-operation-id": op.ID, "x-async-attempt": "1",
			"x-user-id": "grace", "x-tenant": "globex",
		})
	})
}

// told are the headers that say something of a client or an operation.
var told = []string{
	"authorization", "cookie", "x-own", "idempotency-key", "x-async-operation-id", "x-async-attempt",
	"x-user-id", "x-tenant", "x-roles", "x-api-key",
}

// hasHeaders: of those that say something, an upstream saw these and no others.
func hasHeaders(t *testing.T, saw json.RawMessage, want map[string]string) {
	t.Helper()
	members, err := raw.Object(saw)
	if err != nil {
		t.Fatalf("%v in %s", err, saw)
	}
	for _, name := range told {
		text, ok := raw.Get(members, name)
		value, wanted := want[name]
		if ok != wanted || ok && string(text) != quote(value) {
			t.Errorf("the upstream saw %s %s, want %q", name, text, value)
		}
	}
}
