package executor_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"asyncgate/internal/auth"
	"asyncgate/internal/executor"
)

// exact is an upstream's answer in which every byte matters.
const exact = `{ "extensions": {}, "data" : {"things":[{"id":"\u0000<&>","name":null}], "sum":9007199254740993 },
 "errors":[{"message":"half <b>","path":["things",0],"locations":[],"extensions":{"z":1.10,"a":null}}] }`

func TestAnUpstreamsAnswerIsUnchanged(t *testing.T) {
	t.Parallel()
	url, heard := scripted(t, exact)
	tenant := newShop(t, executor.RemoteOptions{URL: url})
	query := "query Q($n: Int!) { things { id, name } # why not\n sum(n: $n) }"
	variables := `{ "n" : 1, "unused" : 9007199254740993 }`
	reply := ask(t.Context(), tenant, executor.Params{Query: query, OperationName: "Q", Variables: json.RawMessage(variables)})
	if string(reply.Envelope) != exact || reply.Errors != nil {
		t.Errorf("got %s", reply.Envelope)
	}
	request := hear(t, heard)
	if request.Query != query || string(request.Variables) != variables || *request.OperationName != "Q" {
		t.Errorf("the upstream was asked %s", request.Raw)
	}
}

// gqlparser evaluates the literals of input objects and refuses what does not
// fit 64 bits.
func TestABigIntegerMayBeALiteralInAnInputObject(t *testing.T) {
	t.Parallel()
	url, heard := scripted(t, `{"data":{"pay":null}}`)
	tenant := newShop(t, executor.RemoteOptions{URL: url})
	query := `mutation { pay(amount: 1, item: {sku: "a", big: 123456789012345678901234567890}) { thing { id } } }`
	ask(t.Context(), tenant, executor.Params{Query: query})
	if request := hear(t, heard); request.Query != query {
		t.Errorf("the upstream was asked %s", request.Query)
	}
	ids := `mutation { pay(amount: 1, id: 123456789012345678901234567890, ids: [123456789012345678901234567890]) { thing { id } } }`
	ask(t.Context(), tenant, executor.Params{Query: ids})
	if request := hear(t, heard); request.Query != ids {
		t.Errorf("the upstream was asked %s", request.Query)
	}
	reply := ask(t.Context(), tenant, executor.Params{Query: `mutation { pay(amount: 1, item: {sku: "a", big: 123456789012345678901234567890, count: "x"}) { thing { id } } }`})
	if !strings.Contains(string(reply.Errors), "GRAPHQL_VALIDATION_FAILED") {
		t.Errorf("another mistake in the object went unseen: %s", reply.Envelope)
	}
}

// gqlparser evaluates defaults, and fails for one that does not fit 64 bits.
func TestABigIntegerMayBeTheDefaultOfAVariable(t *testing.T) {
	t.Parallel()
	url, heard := scripted(t, `{"data":{"pay":null}}`)
	tenant := newShop(t, executor.RemoteOptions{URL: url})
	query := `mutation($big: BigInt = 123456789012345678901234567890) { pay(amount: 1, item: {sku: "a", big: $big}) { thing { id } } }`
	ask(t.Context(), tenant, executor.Params{Query: query})
	if request := hear(t, heard); request.Query != query || request.Variables != nil {
		t.Errorf("the upstream was asked %s", request.Raw)
	}
	if _, err := tenant.Admit(t.Context(), ada, executor.Request{Document: query}, limits); err != nil {
		t.Errorf("not admitted: %v", err)
	}
}

func TestAnEmptyOperationNameIsLeftOut(t *testing.T) {
	t.Parallel()
	url, heard := scripted(t, `{"data":{"things":[]}}`)
	ask(t.Context(), newShop(t, executor.RemoteOptions{URL: url}), executor.Params{Query: `{ things { id } }`})
	if request := hear(t, heard); request.Raw != `{"query":"{ things { id } }"}` {
		t.Error(request.Raw)
	}
}

func TestOneOfTwoOperationsIsPrintedWithWhatItUses(t *testing.T) {
	t.Parallel()
	url, heard := scripted(t, `{"errors":[{"locations":[{"line":1,"column":2}],"message":"no","path":["t"]}],"data":null,"x":1}`)
	tenant := newShop(t, executor.RemoteOptions{URL: url})
	reply := ask(t.Context(), tenant, executor.Params{OperationName: "B", Variables: json.RawMessage(`{"id":12345678901234567890,"n":2}`), Query: `
		query A($n: Int!) { sum(n: $n) ...Unused }
		query B($id: ID = "a\"b" @note(text: "kept")) { __typename t: thing(id: $id) { ...Used } }
		fragment Used on Thing { name self { ...Deep } }
		fragment Deep on Thing { id @note(text: """block""") }
		fragment Unused on query_root { things { id } }`})
	request := hear(t, heard)
	if strings.Contains(request.Query, "Unused") || strings.Contains(request.Query, "$n") ||
		!strings.Contains(request.Query, `$id: ID = "a\"b" @note(text: "kept")`) || !strings.Contains(request.Query, "fragment Deep on Thing") {
		t.Errorf("the upstream was asked %s", request.Query)
	}
	if string(request.Variables) != `{"id":12345678901234567890}` {
		t.Errorf("with %s", request.Variables)
	}
	if want := `{"errors":[{"message":"no","path":["t"]}],"data":null,"x":1}`; string(reply.Envelope) != want {
		t.Errorf("got %s, want %s: all but locations", reply.Envelope, want)
	}
}

// Where fragments on a union were dropped, an operation of several succeeded
// without a request.
func TestARootMayBeSelectedThroughAbstractTypes(t *testing.T) {
	t.Parallel()
	url, heard := scripted(t, `{"data":{"things":[],"sum":1}}`)
	tenant := newShop(t, executor.RemoteOptions{URL: url})
	ask(t.Context(), tenant, executor.Params{OperationName: "A", Query: `
		query A { ... on Any { ... on query_root { sum(n: 1) } } ... on Root { ... on query_root { things { id } } } } query B { __typename }`})
	if request := hear(t, heard); !strings.Contains(request.Query, "sum") || !strings.Contains(request.Query, "things") {
		t.Errorf("the upstream was asked %s", request.Query)
	}
}

func TestAQueryMayMixBothSides(t *testing.T) {
	t.Parallel()
	url, heard := scripted(t, `{"data":{"b":[{"id":"<1>"}],"s":1.10}}`)
	tenant := newShop(t, executor.RemoteOptions{URL: url})
	reply := ask(t.Context(), tenant, executor.Params{Query: `{ z: __type(name: "Thing") { name } b: things { id } __typename s: sum(n: 1) skipped: sum(n: 2) @skip(if: true) }`})
	want := `{"data":{"z":{"name":"Thing"},"b":[{"id":"<1>"}],"__typename":"query_root","s":1.10}}`
	if string(reply.Envelope) != want {
		t.Errorf("got  %s\nwant %s", reply.Envelope, want)
	}
	if request := hear(t, heard); strings.Contains(request.Query, "__t") || strings.Contains(request.Query, "skipped") {
		t.Errorf("the upstream was asked %s", request.Query)
	}
}

func TestANullNonNullFieldOfEitherSideMakesDataNull(t *testing.T) {
	t.Parallel()
	const query = `{ things { id } __type(name: "Thing") { name } }`
	url, _ := scripted(t, `{"errors":[{"message":"no","path":["things"],"locations":[{"line":1,"column":3}]}],"data":null}`)
	reply := ask(t.Context(), newShop(t, executor.RemoteOptions{URL: url}), executor.Params{Query: query})
	if want := `{"errors":[{"message":"no","path":["things"]}],"data":null}`; string(reply.Envelope) != want {
		t.Errorf("got %s", reply.Envelope)
	}
}

// 1,500 aliases of one large field made an answer of 300 MB.
func TestADocumentHasAtMostAHundredAliases(t *testing.T) {
	t.Parallel()
	url, _ := scripted(t, `{"data":{}}`)
	tenant := newShop(t, executor.RemoteOptions{URL: url})
	for n, refused := range map[int]bool{100: false, 101: true} {
		var query strings.Builder
		for i := range n {
			fmt.Fprintf(&query, "a%d: things { id } ", i)
		}
		reply := ask(t.Context(), tenant, executor.Params{Query: "{ " + query.String() + "}"})
		if got := strings.Contains(string(reply.Errors), "more than 100 aliases"); got != refused {
			t.Errorf("%d aliases: got %s", n, reply.Envelope)
		}
	}
}

func TestAMutationCannotMixBothSides(t *testing.T) {
	t.Parallel()
	tenant := newShop(t, executor.RemoteOptions{URL: "http://127.0.0.1:1"})
	reply := ask(t.Context(), tenant, executor.Params{Query: `mutation { wipe cancelAsync(id: "x") { outcome } }`})
	if !strings.Contains(string(reply.Errors), "GRAPHQL_VALIDATION_FAILED") || strings.Contains(string(reply.Envelope), "data") {
		t.Errorf("got %s", reply.Envelope)
	}
}

// Following every spread took a time that doubled with each fragment: 26 of
// them were half a minute, and a document may hold hundreds.
func TestFragmentsThatSpreadOthersTwiceTakeNoTime(t *testing.T) {
	t.Parallel()
	url, heard := scripted(t, `{"data":{"pay":null}}`)
	tenant := newShop(t, executor.RemoteOptions{URL: url})
	var document strings.Builder
	document.WriteString("mutation { ...F0 }\n")
	for i := range 200 {
		fmt.Fprintf(&document, "fragment F%d on mutation_root { ...F%d ...F%d }\n", i, i+1, i+1)
	}
	document.WriteString("fragment F200 on mutation_root { pay(amount: 1) { thing { id } } }")
	done := make(chan struct{})
	go func() {
		defer close(done)
		ask(t.Context(), tenant, executor.Params{Query: document.String()})
		admitted, err := tenant.Admit(t.Context(), ada, executor.Request{Document: document.String()}, limits)
		if err != nil || len(admitted.Mutations) != 1 || admitted.Mutations[0] != "pay" {
			t.Errorf("got %v, %v", admitted.Mutations, err)
		}
	}()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Fatal("still following fragments")
	}
	if request := hear(t, heard); request.Query != document.String() {
		t.Error("the document was not forwarded as it is")
	}
}

func TestGatewayFieldsAreNotReachedThroughANestedRoot(t *testing.T) {
	t.Parallel()
	tenant := newShop(t, executor.RemoteOptions{URL: "http://127.0.0.1:1"})
	for _, query := range []string{
		`mutation { pay(amount: 1) { query { asyncMutations { name } } } }`,
		`mutation { pay(amount: 1) { query { ...F } } } fragment F on query_root { __schema { description } }`,
	} {
		reply := ask(t.Context(), tenant, executor.Params{Query: query})
		if !strings.Contains(string(reply.Errors), "GRAPHQL_VALIDATION_FAILED") {
			t.Errorf("%s: got %s", query, reply.Envelope)
		}
	}
}

func TestARefusedRequestHasNoData(t *testing.T) {
	t.Parallel()
	tenant := newShop(t, executor.RemoteOptions{URL: "http://127.0.0.1:1"})
	cases := map[string]executor.Params{
		"GRAPHQL_PARSE_FAILED":      {Query: `{`},
		"GRAPHQL_VALIDATION_FAILED": {Query: `{ nope }`},
		"BAD_USER_INPUT":            {Query: `query A { things { id } } query B { things { id } }`},
	}
	for code, params := range cases {
		reply := ask(t.Context(), tenant, params)
		if !strings.Contains(string(reply.Errors), `"code":"`+code+`"`) || strings.Contains(string(reply.Envelope), `"data"`) {
			t.Errorf("%s: got %s", code, reply.Envelope)
		}
	}
}

// gqlgen's subscriptions panic where no field is left.
func TestASubscriptionThatSkipsItsFieldIsRefused(t *testing.T) {
	t.Parallel()
	tenant := newShop(t, executor.RemoteOptions{URL: "http://127.0.0.1:1"})
	for _, query := range []string{
		`subscription { operationResult(id: "x") @skip(if: true) { id } }`,
		`subscription($no: Boolean = false) { ...F @include(if: $no) } fragment F on Subscription { operationUpdates(id: "x") { id } }`,
	} {
		reply := ask(t.Context(), tenant, executor.Params{Query: query})
		if !strings.Contains(string(reply.Errors), "GRAPHQL_VALIDATION_FAILED") {
			t.Errorf("%s: got %s", query, reply.Envelope)
		}
	}
}

func TestAFailedForwardAnswersEachFieldOnce(t *testing.T) {
	t.Parallel()
	tenant := newShop(t, executor.RemoteOptions{URL: "http://127.0.0.1:1"})
	reply := ask(t.Context(), tenant, executor.Params{Query: `query($no: Boolean = false) {
		t: thing { id } ...F __typename left: thing @skip(if: true) { id } out: thing @include(if: $no) { id } }
		fragment F on query_root { t: thing { name } }`})
	var envelope struct {
		Errors []struct{ Path []string }
	}
	if err := json.Unmarshal(reply.Envelope, &envelope); err != nil {
		t.Fatal(err)
	}
	if len(envelope.Errors) != 1 || !strings.HasSuffix(string(reply.Envelope), `"data":{"t":null,"__typename":"query_root"}}`) {
		t.Errorf("got %s", reply.Envelope)
	}
}

func TestTheMistakesOfADocumentAreToldInBounds(t *testing.T) {
	t.Parallel()
	tenant := newShop(t, executor.RemoteOptions{URL: "http://127.0.0.1:1"})
	query := "{ " + strings.Repeat("k: thing { id } k: sum(n: 1) ", 300) + "}"
	if reply := ask(t.Context(), tenant, executor.Params{Query: query}); reply.Errors == nil || len(reply.Envelope) > 100_000 {
		t.Errorf("%d bytes of errors for a document of %d", len(reply.Envelope), len(query))
	}
}

func TestTooManyFieldsOfOneNameAreNotCompared(t *testing.T) {
	t.Parallel()
	url, _ := scripted(t, `{"data":{"t":null}}`)
	tenant := newShop(t, executor.RemoteOptions{URL: url})
	for query, refused := range map[string]bool{
		"{ " + strings.Repeat("thing { id } ", 1600) + "}":                                         false,
		"{ " + strings.Repeat("__typename ", 9000) + "}":                                           true,
		"{ ...F } fragment F on query_root { " + strings.Repeat("... { __typename } ", 2001) + "}": true,
		"{ t: thing { id } t: sum(n: 1) }":                                                         true,
	} {
		reply := ask(t.Context(), tenant, executor.Params{Query: query})
		if got := strings.Contains(string(reply.Errors), "GRAPHQL_VALIDATION_FAILED"); got != refused {
			t.Errorf("%.60s…: got %.200s", query, reply.Envelope)
		}
	}
}

func TestIntrospectionIsTheMergedSchemas(t *testing.T) {
	t.Parallel()
	tenant := newShop(t, executor.RemoteOptions{URL: "http://127.0.0.1:1"})
	reply := ask(t.Context(), tenant, executor.Params{Query: `{ __schema { queryType { name fields { name } } mutationType { name } directives { name } } }`})
	for _, part := range []string{`"name":"query_root"`, `"name":"mutation_root"`, `"name":"things"`, `"name":"asyncOperation"`, `"name":"note"`} {
		if !strings.Contains(string(reply.Envelope), part) {
			t.Errorf("%s is missing in %s", part, reply.Envelope)
		}
	}
	if strings.Contains(string(reply.Envelope), `"defer"`) {
		t.Error("@defer is advertised, and nothing serves it")
	}
}

func TestTheUpstreamLearnsWhoCallsAndNothingMore(t *testing.T) {
	t.Parallel()
	url, heard := scripted(t, `{"data":{"things":[]}}`)
	identity, err := auth.CompileHeaders(map[string]string{"X-User": "{subject}", "X-Role": "{roles?}"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	tenant := newShop(t, executor.RemoteOptions{URL: url, Identity: identity, Headers: map[string]string{"X-Api-Key": "k"}})
	ask(t.Context(), tenant, executor.Params{Query: `{ things { id } }`})
	header := hear(t, heard).Header
	if header.Get("X-User") != "ada" || header.Get("X-Api-Key") != "k" || header.Values("X-Role") != nil {
		t.Errorf("got %v", header)
	}
	for _, name := range []string{"Authorization", "Cookie", "Idempotency-Key", "X-Async-Operation-Id", "X-Async-Attempt"} {
		if header.Values(name) != nil {
			t.Errorf("%s was sent with a synchronous request", name)
		}
	}
}

func TestAnIdentityThatCannotBeToldIsForbidden(t *testing.T) {
	t.Parallel()
	url, heard := scripted(t, `{"data":{"things":[]}}`)
	identity, err := auth.CompileHeaders(map[string]string{"X-Role": "{roles}"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	reply := ask(t.Context(), newShop(t, executor.RemoteOptions{URL: url, Identity: identity}), executor.Params{Query: `{ things { id } }`})
	if !strings.Contains(string(reply.Envelope), `"code":"FORBIDDEN"`) || !strings.Contains(string(reply.Envelope), `"data":null`) {
		t.Errorf("got %s", reply.Envelope)
	}
	if len(heard) > 0 {
		t.Error("the upstream was called")
	}
}
