package e2e

import (
	"strings"
	"testing"
	"time"
)

// refusedInputs are submissions that nothing may come of, by their code.
var refusedInputs = map[string]map[string]string{
	"MUTATION_NOT_ALLOWED": {
		"NotOnTheAllowlist":            input(`mutation { unlisted }`),
		"NotOnItUnderTheNameOfOneThat": input(`mutation { work: unlisted }`),
		"OneOfTwoNotOnTheAllowlist":    input(`mutation { typed unlisted }`),
		"SkippedAndNotOnTheAllowlist":  input(`mutation { typed unlisted @skip(if: true) }`),
		"InAFragment":                  input(`mutation { ...f } fragment f on Mutation { unlisted }`),
		"WithoutTheRole":               input(`mutation { editorial }`),
		"NothingButItsTypeName":        input(`mutation { __typename }`),
		"SubmitAsyncInside":            input(`mutation { submitAsync(input: {document: "mutation { typed }"}) { id } }`),
		"CancelAsyncInside":            input(`mutation { cancelAsync(id: "01890a5d-ac96-774b-bcce-b302099a8057") { outcome } }`),
		"SubmitAsyncBesideAnAllowed":   input(`mutation { typed submitAsync(input: {document: "mutation { typed }"}) { id } }`),
		"CancelAsyncInAFragment":       input(`mutation { typed ... on Mutation { cancelAsync(id: "01890a5d-ac96-774b-bcce-b302099a8057") { outcome } } }`),
	},
	"BAD_USER_INPUT": {
		"AQuery":                    input(`{ nothing }`),
		"ASubscription":             input(`subscription { operationResult(id: "01890a5d-ac96-774b-bcce-b302099a8057") { id } }`),
		"TwoOperationsAndNoName":    input(`mutation A { typed } mutation B { typed }`),
		"AnUnknownOperationName":    input(`mutation A { typed }`, "operationName", `"B"`),
		"AQueryByItsName":           input(`mutation A { typed } query B { nothing }`, "operationName", `"B"`),
		"VariablesInAList":          input(`mutation { typed }`, "variables", `[{}]`),
		"VariablesInAString":        input(`mutation { typed }`, "variables", `"{}"`),
		"VariablesInANumber":        input(`mutation { typed }`, "variables", `0`),
		"NULInTheDocument":          input("mutation { typed(text: \"\x00\") }"),
		"NULInAKeyOfVariables":      input(`mutation { typed }`, "variables", `{"a":{"b\u0000":1}}`),
		"NULInTheLabel":             input(`mutation { typed }`, "label", `"a\u0000"`),
		"NULInTheOperationName":     input(`mutation { typed }`, "operationName", `"a\u0000"`),
		"ALabelTooLong":             input(`mutation { typed }`, "label", quote(strings.Repeat("x", 256))),
		"AnEmptyKey":                input(`mutation { typed }`, "idempotencyKey", `""`),
		"AKeyTooLong":               input(`mutation { typed }`, "idempotencyKey", quote(strings.Repeat("x", 256))),
		"AKeyNotASCII":              input(`mutation { typed }`, "idempotencyKey", `"é"`),
		"AKeyWithALineBreak":        input(`mutation { typed }`, "idempotencyKey", `"a\n"`),
		"APriorityTooHigh":          input(`mutation { urgent }`, "priority", `10`),
		"APriorityAboveTheMutation": input(`mutation { typed }`, "priority", `5`),
		"APriorityAboveOneOfTwo":    input(`mutation { urgent typed }`, "priority", `5`),
		"APriorityBelowZero":        input(`mutation { urgent }`, "priority", `-1`),
		"ANegativeWait":             input(`mutation { typed }`, "waitMs", `-1`),
		"AWaitTooLong":              input(`mutation { typed }`, "waitMs", `60001`),
		"StartBeforeInThePast":      input(`mutation { typed }`, "startBefore", instant(time.Now().Add(-time.Second))),
		"StartBeforeBeforeNotBefore": input(`mutation { typed }`,
			"notBefore", instant(time.Now().Add(10*time.Minute)), "startBefore", instant(time.Now().Add(9*time.Minute))),
		"StartBeforePastMaxAge": input(`mutation { typed }`, "startBefore", instant(time.Now().Add(2*time.Hour))),
		"NotBeforePastMaxAge":   input(`mutation { typed }`, "notBefore", instant(time.Now().Add(2*time.Hour))),
		"NotBeforeIsNoInstant":  input(`mutation { typed }`, "notBefore", `"tomorrow"`),
	},
	"GRAPHQL_PARSE_FAILED": {
		"ABraceMissing":   input(`mutation { typed`),
		"NoGraphQLAtAll":  input(`DROP TABLE async_operations`),
		"AStringUnclosed": input(`mutation { typed(text: "x) }`),
	},
	"GRAPHQL_VALIDATION_FAILED": {
		"AnUnknownField":         input(`mutation { typo }`),
		"AnUnknownArgument":      input(`mutation { typed(typo: 1) }`),
		"ASelectionOnAScalar":    input(`mutation { typed { x } }`),
		"AnUndefinedVariable":    input(`mutation { typed(int: $n) }`),
		"TwoValuesOfOneOf":       input(`mutation { typed(by: {name: "a", id: "1"}) }`),
		"AFragmentInACircle":     input(`mutation { ...f } fragment f on Mutation { typed ...f }`),
		"AVariableMissing":       input(`mutation ($n: Int!) { required(int: $n) }`),
		"AVariableNull":          input(`mutation ($n: Int!) { required(int: $n) }`, "variables", `{"n":null}`),
		"AStringForAnInt":        typed("Int", "int", `"1"`),
		"ABooleanForAnInt":       typed("Int", "int", `true`),
		"AFractionForAnInt":      typed("Int", "int", `1.5`),
		"AnIntOver32Bits":        typed("Int", "int", `2147483648`),
		"AnIntUnder32Bits":       typed("Int", "int", `-2147483649`),
		"AStringForAFloat":       typed("Float", "float", `"1.0"`),
		"ANumberForAString":      typed("String", "text", `1`),
		"AnObjectForAString":     typed("String", "text", `{}`),
		"ANumberForABoolean":     typed("Boolean", "flag", `1`),
		"AFractionForAnID":       typed("ID", "id", `1.5`),
		"ABadEnum":               typed("Color", "color", `"PINK"`),
		"ANumberForAnEnum":       typed("Color", "color", `1`),
		"OneOfWithTwo":           typed("By", "by", `{"name":"a","id":"1"}`),
		"OneOfWithNone":          typed("By", "by", `{}`),
		"OneOfWithNull":          typed("By", "by", `{"name":null}`),
		"AnUnknownInputField":    typed("Shape", "shape", `{"sides":3,"corners":3}`),
		"AnInputFieldMissing":    typed("Shape", "shape", `{"color":"RED"}`),
		"ABadEnumInAnInput":      typed("Shape", "shape", `{"sides":3,"color":"PINK"}`),
		"AStringForAnInput":      typed("Shape", "shape", `"square"`),
		"ANullInAList":           typed("[Int!]", "list", `[1,null]`),
		"AStringInAList":         typed("[Int!]", "list", `[1,"2"]`),
		"AVariableOfAnotherType": input(`mutation ($n: String) { typed(int: $n) }`, "variables", `{"n":"1"}`),
	},
}

// typed is an input whose one variable goes to an argument of typed.
func typed(of, argument, value string) string {
	return input(`mutation ($v: `+of+`) { typed(`+argument+`: $v) }`, "variables", object("v", value))
}

func TestWhatCannotRunIsRefusedAndNotStored(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, store string) {
		upstream := perform(t, nil)
		ada := before(t, store, upstream.url).serve(t).as(token(t, "ada", "", "operator"))
		for code, inputs := range refusedInputs {
			for name, refused := range inputs {
				got := ada.trySubmit(t, refused)
				if got.code() != code || got.status >= 500 {
					t.Errorf("%s: got %d %s\nwant %s", name, got.status, got.body, code)
				}
			}
		}
		if ids := ada.list(t, "scope", `"ALL"`); len(ids) > 0 {
			t.Errorf("the list holds %v", ids)
		}
		if n := rows(t, store); n != 0 {
			t.Errorf("the store holds %d operations", n)
		}
	})
}

func TestWhatIsTooLargeIsRefused(t *testing.T) {
	t.Parallel()
	store := stores["SQLite"](t)
	ada := before(t, store, perform(t, nil).url).serve(t).as(token(t, "ada", ""))
	long := strings.Repeat("x", 300<<10)
	if got := ada.trySubmit(t, input(`mutation { typed }`, "variables", object("v", quote(long)))); got.code() != "PAYLOAD_TOO_LARGE" {
		t.Errorf("variables: got %d %s", got.status, got.body)
	}
	if got := ada.ask(t, `{ nothing } #`+strings.Repeat(long, 4), ""); got.status != 413 || got.code() != "PAYLOAD_TOO_LARGE" {
		t.Errorf("a body: got %d %s", got.status, got.body)
	}
	for name, nested := range map[string]string{
		"selections": `mutation ` + strings.Repeat("{a", 100_000),
		"lists":      `mutation { typed(list: ` + strings.Repeat("[", 100_000),
		"types":      `mutation ($a: ` + strings.Repeat("[", 100_000),
	} {
		if got := ada.trySubmit(t, input(nested)); got.code() != "GRAPHQL_PARSE_FAILED" {
			t.Errorf("deep %s: got %d %s", name, got.status, got.body)
		}
	}
	if n := rows(t, store); n != 0 {
		t.Errorf("the store holds %d operations", n)
	}
}

// refusedRequests are requests of which no part is executed, by their code.
var refusedRequests = map[string]map[string]string{
	"BAD_USER_INPUT": {
		"AnIDThatIsNone":         `{ asyncOperation(id: "1") { id } }`,
		"AnIDInBraces":           `{ asyncOperation(id: "{01890a5d-ac96-774b-bcce-b302099a8057}") { id } }`,
		"AnIDToCancelThatIsNone": `mutation { cancelAsync(id: "1") { outcome } }`,
		"AnIDToCancelWithANUL":   `mutation { cancelAsync(id: "\u0000") { outcome } }`,
		"AWaitBelowZero":         `{ asyncOperation(id: "01890a5d-ac96-774b-bcce-b302099a8057", waitMs: -1) { id } }`,
		"AWaitTooLong":           `{ asyncOperation(id: "01890a5d-ac96-774b-bcce-b302099a8057", waitMs: 60001) { id } }`,
		"ACursorThatIsNone":      `{ asyncOperations(after: "x") { nodes { id } } }`,
		"FirstZero":              `{ asyncOperations(first: 0) { nodes { id } } }`,
		"FirstTooMany":           `{ asyncOperations(first: 1000) { nodes { id } } }`,
		"FirstBelowZero":         `{ asyncOperations(first: -1) { nodes { id } } }`,
		"TwoOperationsAndNoName": `query A { nothing } query B { nothing }`,
		"AnEmptyQuery":           ``,
	},
	"FORBIDDEN": {
		"TheTenantWithoutARole":  `{ asyncOperations(scope: TENANT) { nodes { id } } }`,
		"EverythingWithoutARole": `{ asyncOperations(scope: ALL) { nodes { id } } }`,
	},
	"GRAPHQL_PARSE_FAILED": {"NoGraphQL": `query {`},
	"GRAPHQL_VALIDATION_FAILED": {
		"AnUnknownField":   `{ typo }`,
		"NoDocument":       `mutation { submitAsync(input: {label: "x"}) { id } }`,
		"MixedMutations":   `mutation { typed submitAsync(input: {document: "mutation { typed }"}) { id } }`,
		"AFirstThatIsText": `{ asyncOperations(first: "1") { nodes { id } } }`,
	},
}

func TestRequestsOutOfBoundsAreRefused(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, store string) {
		upstream := perform(t, nil)
		ada := before(t, store, upstream.url).serve(t).as(token(t, "ada", ""))
		for code, requests := range refusedRequests {
			for name, document := range requests {
				got := ada.ask(t, document, "")
				if got.code() != code || got.status >= 500 {
					t.Errorf("%s: got %d %s\nwant %s", name, got.status, got.body, code)
				}
			}
		}
		for _, document := range []string{resultDocument, updatesDocument} {
			events := ada.ask(t, document, `{"id":"1"}`, "Accept", "text/event-stream")
			if !strings.Contains(string(events.body), `"code":"BAD_USER_INPUT"`) || events.status >= 500 {
				t.Errorf("as events: got %d %s", events.status, events.body)
			}
			pushed := ada.subscribe(t, document, "1").run(t)
			if len(pushed) != 1 || pushed[0].Type != "error" || codeIn([]byte(object("errors", string(pushed[0].payload)))) != "BAD_USER_INPUT" {
				t.Errorf("on a websocket: got %+v", pushed)
			}
		}
		if n := rows(t, store); n != 0 {
			t.Errorf("the store holds %d operations", n)
		}
	})
}

func TestABodyThatIsNoRequestIsRefused(t *testing.T) {
	t.Parallel()
	ada := before(t, stores["SQLite"](t), perform(t, nil).url).serve(t).as(token(t, "ada", ""))
	for name, text := range map[string]string{
		"MalformedJSON":     `{"query":"{ nothing }"`,
		"NoJSON":            `query=nothing`,
		"NothingAtAll":      ``,
		"ABatch":            `[{"query":"{ nothing }"}]`,
		"NoQuery":           `{}`,
		"AQueryOfANumber":   `{"query":1}`,
		"VariablesInAList":  `{"query":"{ nothing }","variables":[]}`,
		"InvalidUTF8":       "{\"query\":\"{ nothing } # \xff\"}",
		"InvalidUTF8Inside": strings.Replace(string(body(submitDocument, object("input", input(`mutation { typed(text: "HERE") }`)))), "HERE", "\xff", 1),
	} {
		if got := ada.post(t, []byte(text)); got.code() != "BAD_USER_INPUT" || got.status != 400 {
			t.Errorf("%s: got %d %s", name, got.status, got.body)
		}
	}
}
