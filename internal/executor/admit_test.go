package executor_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"

	"asyncgate/internal/executor"
)

// limits are those of a gateway with the defaults.
var limits = executor.Limits{Variables: 256 << 10, MaxAge: 24 * time.Hour}

func pointer[T any](value T) *T { return &value }

func TestAdmitRefuses(t *testing.T) {
	t.Parallel()
	const pay = `mutation($n: Int!) { pay(amount: $n) { thing { id } } }`
	past, soon, later := time.Now().Add(-time.Minute), time.Now().Add(time.Hour), time.Now().Add(48*time.Hour)
	cases := map[string]struct {
		request executor.Request
		code    string
	}{
		"OffTheAllowlist":                {executor.Request{Document: `mutation { wipe }`}, "MUTATION_NOT_ALLOWED"},
		"OneOfTwoOffTheAllowlist":        {executor.Request{Document: `mutation { pay(amount: 1) { thing { id } } wipe }`}, "MUTATION_NOT_ALLOWED"},
		"OffTheAllowlistUnderSkip":       {executor.Request{Document: `mutation { pay(amount: 1) { thing { id } } wipe @skip(if: true) }`}, "MUTATION_NOT_ALLOWED"},
		"OffTheAllowlistInAFragment":     {executor.Request{Document: `mutation { ...F } fragment F on mutation_root { ... { wipe } }`}, "MUTATION_NOT_ALLOWED"},
		"AnAliasOfAListedName":           {executor.Request{Document: `mutation { pay: wipe }`}, "MUTATION_NOT_ALLOWED"},
		"WithoutTheRole":                 {executor.Request{Document: `mutation { refund(amount: 1) { id } }`}, "MUTATION_NOT_ALLOWED"},
		"NoMutationAtAll":                {executor.Request{Document: `mutation { __typename }`}, "MUTATION_NOT_ALLOWED"},
		"AGatewayField":                  {executor.Request{Document: `mutation { cancelAsync(id: "x") { outcome } }`}, "MUTATION_NOT_ALLOWED"},
		"AGatewayFieldBesideAListedOne":  {executor.Request{Document: `mutation { pay(amount: 1) { thing { id } } cancelAsync(id: "x") { outcome } }`}, "MUTATION_NOT_ALLOWED"},
		"AGatewayFieldInANestedRoot":     {executor.Request{Document: `mutation { pay(amount: 1) { query { asyncMutations { name } } } }`}, "MUTATION_NOT_ALLOWED"},
		"IntrospectionInANestedRoot":     {executor.Request{Document: `mutation { pay(amount: 1) { query { __schema { description } } } }`}, "MUTATION_NOT_ALLOWED"},
		"AQuery":                         {executor.Request{Document: `{ things { id } }`}, "BAD_USER_INPUT"},
		"ASubscription":                  {executor.Request{Document: `subscription { operationResult(id: "x") { id } }`}, "BAD_USER_INPUT"},
		"TwoOperationsAndNoName":         {executor.Request{Document: `mutation A { pay(amount: 1) { thing { id } } } mutation B { pay(amount: 1) { thing { id } } }`}, "BAD_USER_INPUT"},
		"AnUnknownOperationName":         {executor.Request{Document: pay, OperationName: pointer("Nope")}, "BAD_USER_INPUT"},
		"VariablesThatAreNoObject":       {executor.Request{Document: pay, Variables: json.RawMessage(`[1]`)}, "BAD_USER_INPUT"},
		"ASyntaxError":                   {executor.Request{Document: `mutation { pay(`}, "GRAPHQL_PARSE_FAILED"},
		"AnEmptyDocument":                {executor.Request{Document: ``}, "GRAPHQL_VALIDATION_FAILED"},
		"AnUnknownField":                 {executor.Request{Document: `mutation { pay(amount: 1) { nope } }`}, "GRAPHQL_VALIDATION_FAILED"},
		"AMissingVariable":               {executor.Request{Document: pay}, "GRAPHQL_VALIDATION_FAILED"},
		"ANullForNonNull":                {executor.Request{Document: pay, Variables: json.RawMessage(`{"n":null}`)}, "GRAPHQL_VALIDATION_FAILED"},
		"NULInTheDocument":               {executor.Request{Document: "mutation { pay(amount: 1) { thing { id } } } #\x00"}, "BAD_USER_INPUT"},
		"NULInAVariablesKey":             {executor.Request{Document: pay, Variables: json.RawMessage(`{"n":1,"x":[{"a\u0000":1}]}`)}, "BAD_USER_INPUT"},
		"InvalidUTF8InTheLabel":          {executor.Request{Document: pay, Label: pointer("\xff")}, "BAD_USER_INPUT"},
		"ALongLabel":                     {executor.Request{Document: pay, Label: pointer(strings.Repeat("é", 256))}, "BAD_USER_INPUT"},
		"AnEmptyKey":                     {executor.Request{Document: pay, IdempotencyKey: pointer("")}, "BAD_USER_INPUT"},
		"AKeyWithALineBreak":             {executor.Request{Document: pay, IdempotencyKey: pointer("a\nb")}, "BAD_USER_INPUT"},
		"APriorityAboveTheMutations":     {executor.Request{Document: `mutation { pay(amount: 1) { thing { id } } }`, Priority: pointer(5)}, "BAD_USER_INPUT"},
		"AStartBeforeInThePast":          {executor.Request{Document: `mutation { pay(amount: 1) { thing { id } } }`, StartBefore: &past}, "BAD_USER_INPUT"},
		"AStartBeforeAheadOfNotBefore":   {executor.Request{Document: `mutation { pay(amount: 1) { thing { id } } }`, NotBefore: pointer(soon.Add(time.Hour)), StartBefore: &soon}, "BAD_USER_INPUT"},
		"ANotBeforePastTheAuthoritysAge": {executor.Request{Document: `mutation { pay(amount: 1) { thing { id } } }`, NotBefore: &later}, "BAD_USER_INPUT"},
		"VariablesBeyondTheLimit":        {executor.Request{Document: pay, Variables: json.RawMessage(`{"n":1,"x":"` + strings.Repeat("x", 256<<10) + `"}`)}, "PAYLOAD_TOO_LARGE"},
	}
	tenant := newShop(t, executor.RemoteOptions{URL: "http://127.0.0.1:1"})
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := tenant.Admit(t.Context(), ada, c.request, limits)
			var refusal *executor.RefusalError
			if !errors.As(err, &refusal) || refusal.Code != c.code {
				t.Fatalf("got %v, want %s", err, c.code)
			}
		})
	}
}

func TestVariablesAreHeldAgainstTheirTypes(t *testing.T) {
	t.Parallel()
	tenant := newShop(t, executor.RemoteOptions{URL: "http://127.0.0.1:1"})
	const document = `mutation($n: Int = 1, $item: Item, $pick: Pick, $f: Float, $b: Boolean, $id: ID, $json: JSON, $ids: [ID!]) {
		pay(amount: 1, item: $item, pick: $pick, f: $f, b: $b, id: $id, json: $json, ids: $ids) { thing { name } } sum: pay(amount: $n) { thing { id } } }`
	cases := map[string]bool{
		`{"n":2147483647}`: true, `{"n":2147483648}`: false, `{"n":-2147483648}`: true, `{"n":1.5}`: false, `{"n":1.0}`: true,
		`{"n":1e400}`: false, `{"n":"1"}`: false, `{"n":true}`: false, `{}`: true,
		`{"f":1}`: true, `{"f":1.10}`: true, `{"f":"1"}`: false, `{"b":true}`: true, `{"b":1}`: false,
		`{"id":"x"}`: true, `{"id":9007199254740993}`: true, `{"id":1.5}`: false, `{"id":false}`: false,
		`{"ids":["a",1]}`: true, `{"ids":"a"}`: true, `{"ids":[null]}`: false, `{"ids":null}`: true,
		`{"json":{"anything":[1,null]}}`: true,
		`{"item":{"sku":"a"}}`:           true, `{"item":{}}`: false, `{"item":{"sku":5}}`: false, `{"item":{"sku":"a","nope":1}}`: false,
		`{"item":{"sku":"a","colour":"RED"}}`: true, `{"item":{"sku":"a","colour":"red"}}`: false, `{"item":{"sku":"a","colour":1}}`: false,
		`{"item":{"sku":"a","tags":"one"}}`: true, `{"item":{"sku":"a","tags":[1]}}`: false, `{"item":[]}`: false,
		`{"item":{"sku":"a","nested":[[1,null],2,null]}}`: true, `{"item":{"sku":"a","nested":[["x"]]}}`: false,
		`{"item":{"sku":"a","big":123456789012345678901234567890}}`: true,
		`{"pick":{"a":1}}`: true, `{"pick":{"a":1,"b":"x"}}`: false, `{"pick":{"a":null}}`: false, `{"pick":{}}`: false,
		`{"unused":1}`: true,
	}
	for variables, fits := range cases {
		_, err := tenant.Admit(t.Context(), ada, executor.Request{Document: document, Variables: json.RawMessage(variables)}, limits)
		if fits && err != nil {
			t.Errorf("%s: %v", variables, err)
		}
		if !fits && !errors.Is(err, &executor.RefusalError{Code: "GRAPHQL_VALIDATION_FAILED"}) {
			t.Errorf("%s: got %v, want GRAPHQL_VALIDATION_FAILED", variables, err)
		}
	}
}

func TestADocumentTakesTheStrictestPolicy(t *testing.T) {
	t.Parallel()
	tenant := newShop(t, executor.RemoteOptions{URL: "http://127.0.0.1:1"})
	clerk := ada
	clerk.Roles = []string{"clerk"}
	got, err := tenant.Admit(t.Context(), clerk, executor.Request{
		Document: `mutation { refund(amount: 1) { id } pay(amount: 1) { thing { id } } again: refund(amount: 2) { id } }`,
	}, limits)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Join(got.Mutations, ",") != "refund,pay" || got.Idempotent || got.MaxAttempts != 3 ||
		got.StartWithin != time.Minute || got.Priority != 4 {
		t.Errorf("%+v", got)
	}
}

func TestTheFingerprintSeesTextNameAndVariables(t *testing.T) {
	t.Parallel()
	tenant := newShop(t, executor.RemoteOptions{URL: "http://127.0.0.1:1"})
	fingerprint := func(document, variables string) [32]byte {
		t.Helper()
		r := executor.Request{Document: document, Variables: json.RawMessage(variables)}
		got, err := tenant.Admit(t.Context(), ada, r, limits)
		if err != nil {
			t.Fatal(err)
		}
		return got.Fingerprint
	}
	const document = `mutation($x: JSON) { pay(amount: 1, json: $x) { thing { id } } }`
	same := [][2]string{
		{``, `null`}, {``, `{}`}, {``, ` { } `},
		{`{"x":1,"y":[{"b":2,"a":1}]}`, `{ "y" : [ {"a":1, "b":2} ], "x":1 }`},
	}
	for _, pair := range same {
		if fingerprint(document, pair[0]) != fingerprint(document, pair[1]) {
			t.Errorf("%s and %s differ", pair[0], pair[1])
		}
	}
	different := [][2]string{
		{`{"x":1}`, `{"x":1.0}`}, {`{"x":null}`, ``}, {`{"x":9007199254740993}`, `{"x":9007199254740992}`},
		{`{"x":[1,2]}`, `{"x":[2,1]}`}, {`{"x":"1"}`, `{"x":1}`},
	}
	for _, pair := range different {
		if fingerprint(document, pair[0]) == fingerprint(document, pair[1]) {
			t.Errorf("%s and %s are one", pair[0], pair[1])
		}
	}
	if fingerprint(document, ``) == fingerprint(document+" ", ``) {
		t.Error("the document's text does not count")
	}
}

// FuzzAdmit: nothing that is not on the allowlist is ever admitted. What an
// admitted document selects is found here by another way than Admit's: the
// plain syntax tree, without the schema.
func FuzzAdmit(f *testing.F) {
	for _, document := range []string{
		`mutation { pay(amount: 1) { thing { id } } }`,
		`mutation { wipe }`, `mutation A { ...F } fragment F on mutation_root { ... @skip(if: true) { wipe } pay(amount: 1) { thing { id } } }`,
		`query A { things { id } } mutation B { pay: wipe }`, `{ things { id } }`, `subscription { operationResult(id: "1") { id } }`,
		`mutation { pay(amount: 1) { query { asyncMutations { name } __schema { types { name } } } } }`,
		`mutation { cancelAsync(id: "x") { outcome } }`, `mutation($n: Int!) { pay(amount: $n) { thing { id } } }`,
		"mutation { __typename ... on mutation_root { pay(amount: 1) { __typename } } }",
	} {
		f.Add(document, "", `{"n":1}`)
		f.Add(document, "A", ``)
		f.Add(document, "B", `{}`)
	}
	tenant := newShop(f, executor.RemoteOptions{URL: "http://127.0.0.1:1"})
	f.Fuzz(func(t *testing.T, document, name, variables string) {
		request := executor.Request{Document: document, OperationName: &name, Variables: json.RawMessage(variables)}
		got, err := tenant.Admit(t.Context(), ada, request, limits)
		if err != nil {
			return
		}
		tree, parseErr := parser.ParseQuery(&ast.Source{Input: document})
		if parseErr != nil {
			t.Fatalf("admitted what does not parse: %q", document)
		}
		operation := tree.Operations.ForName(name)
		if operation == nil || operation.Operation != ast.Mutation {
			t.Fatalf("admitted what is no mutation: %q", document)
		}
		fields := map[string]bool{}
		selected(tree, operation.SelectionSet, fields)
		delete(fields, "__typename")
		if len(fields) == 0 || len(fields) != len(got.Mutations) {
			t.Fatalf("admitted %v as %v: %q", fields, got.Mutations, document)
		}
		for field := range fields {
			if policy, ok := allowed[field]; !ok || len(policy.Roles) > 0 {
				t.Fatalf("admitted %s: %q", field, document)
			}
		}
	})
}

// selected gathers the names of the fields at the top of a selection.
func selected(tree *ast.QueryDocument, set ast.SelectionSet, into map[string]bool) {
	for _, s := range set {
		switch s := s.(type) {
		case *ast.Field:
			into[s.Name] = true
		case *ast.InlineFragment:
			selected(tree, s.SelectionSet, into)
		case *ast.FragmentSpread:
			selected(tree, tree.Fragments.ForName(s.Name).SelectionSet, into)
		}
	}
}
