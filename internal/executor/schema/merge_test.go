package schema_test

import (
	"errors"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"

	"asyncgate/internal/executor/schema"
)

func TestRootsKeepTheUpstreamsNames(t *testing.T) {
	t.Parallel()
	merged := merge(t, shop(t), gateway(t))
	for operation, want := range map[ast.Operation]string{
		ast.Query: "query_root", ast.Mutation: "mutation_root", ast.Subscription: "subscription_root",
	} {
		if got := merged.RootName(operation); got != want || !merged.IsRoot(want) {
			t.Errorf("%s root is %q, want %q", operation, got, want)
		}
	}
	for _, name := range []string{"Query", "Mutation", "User", "Subscription", ""} {
		if merged.IsRoot(name) {
			t.Errorf("%q is a root", name)
		}
	}
	if merged.Schema.Types["Query"] != nil || merged.Schema.Query != merged.Schema.Types["query_root"] {
		t.Error("the gateway's own query root is left in the schema")
	}
}

func TestRootFieldsOfBothSidesAreThere(t *testing.T) {
	t.Parallel()
	merged := merge(t, shop(t), gateway(t)).Schema
	for _, c := range []struct {
		root *ast.Definition
		want []string
	}{
		{merged.Query, []string{"node", "search", "user", "colors", "asyncOperation", "asyncOperations", "asyncMutations", "__schema", "__type"}},
		{merged.Mutation, []string{"generateReport", "submitAsync", "cancelAsync"}},
		{merged.Subscription, []string{"operationResult", "operationUpdates"}}, // the upstream's are not served
	} {
		var got []string
		for _, field := range c.root.Fields {
			got = append(got, field.Name)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: -want +got\n%s", c.root.Name, diff)
		}
	}
}

func TestGatewayServesItsFieldsAndIntrospection(t *testing.T) {
	t.Parallel()
	merged := merge(t, shop(t), gateway(t))
	for _, c := range []struct {
		operation ast.Operation
		field     string
		want      bool
	}{
		{ast.Query, "asyncOperation", true},
		{ast.Query, "__schema", true},
		{ast.Query, "__type", true},
		{ast.Query, "__typename", false},
		{ast.Query, "node", false},
		{ast.Query, "submitAsync", false},
		{ast.Mutation, "submitAsync", true},
		{ast.Mutation, "generateReport", false},
		{ast.Mutation, "__schema", false},
		{ast.Subscription, "operationResult", true},
		{ast.Subscription, "userChanged", false},
	} {
		if got := merged.IsGatewayField(c.operation, c.field); got != c.want {
			t.Errorf("%s %s: the gateway serves it: %t", c.operation, c.field, got)
		}
	}
}

func TestMissingRootsAreTheGateways(t *testing.T) {
	t.Parallel()
	merged := merge(t, load(t, `type Query { a: Int }`), gateway(t))
	if merged.RootName(ast.Mutation) != "Mutation" || merged.RootName(ast.Subscription) != "Subscription" {
		t.Errorf("roots are %q and %q", merged.RootName(ast.Mutation), merged.RootName(ast.Subscription))
	}
}

func TestOrdinaryTypesWithNamesOfRootsStay(t *testing.T) {
	t.Parallel()
	merged := merge(t, load(t, `
		schema { query: Query }
		type Query { bill: Subscription, change: Mutation }
		type Subscription { price: Int }
		type Mutation { gene: String }`), gateway(t))
	if merged.RootName(ast.Mutation) != "GatewayMutation" || merged.RootName(ast.Subscription) != "GatewaySubscription" {
		t.Errorf("roots are %q and %q", merged.RootName(ast.Mutation), merged.RootName(ast.Subscription))
	}
	if merged.IsRoot("Subscription") || merged.Schema.Types["Subscription"].Fields.ForName("operationResult") != nil {
		t.Error("the upstream's ordinary type became a root")
	}
	if merged.Schema.Subscription.Fields.ForName("operationResult") == nil {
		t.Error("the subscription root lacks the gateway's fields")
	}
}

func TestScalarsMergeByName(t *testing.T) {
	t.Parallel()
	merged := merge(t, shop(t), gateway(t)).Schema
	instant := merged.Types["DateTime"]
	if instant.Description != "An instant of the shop's own." || instant.Directives.ForName("specifiedBy") == nil {
		t.Errorf("DateTime is %+v", instant)
	}
}

func TestTypesOfOneShapeAreOne(t *testing.T) {
	t.Parallel()
	merged := merge(t, load(t, `
		type Query { a: AsyncPageInfo, b: AsyncScope }
		"Described otherwise, in another order."
		type AsyncPageInfo { endCursor: String, hasPreviousPage: Boolean!, hasNextPage: Boolean!, startCursor: String }
		enum AsyncScope { ALL TENANT MINE }`), gateway(t)).Schema
	if merged.Types["AsyncPageInfo"].Description != "Described otherwise, in another order." {
		t.Error("the upstream's description is lost")
	}
}

// A gateway before another gateway has all of its names twice, each the same.
func TestGatewayMergesWithItself(t *testing.T) {
	t.Parallel()
	own := gateway(t)
	merged := merge(t, own, own)
	if diff := cmp.Diff(printed(own), printed(withDefer(merged.Schema, own))); diff != "" {
		t.Error(diff)
	}
	if !merged.IsGatewayField(ast.Mutation, "submitAsync") {
		t.Error("the outer gateway does not serve its own fields")
	}
}

func withDefer(to, from *ast.Schema) *ast.Schema {
	to.Directives["defer"] = from.Directives["defer"]
	return to
}

func TestAllConflictsAreNamedWithBothDefinitions(t *testing.T) {
	t.Parallel()
	_, err := schema.Merge(load(t, `
		directive @skip(if: Boolean, why: String) on FIELD
		type Query { asyncOperation(id: ID!): String, ok: Int }
		type Mutation { submitAsync(input: SubmitAsyncInput!): Int }
		input SubmitAsyncInput { document: String! }
		type AsyncError { code: Int!, message: String!, retryable: Boolean!, execution: AsyncExecution! }
		type AsyncScope { a: Int }
		union JSON = AsyncError
		enum AsyncExecution { NOT_EXECUTED UNKNOWN EXECUTED MAYBE }`), gateway(t))
	if !errors.Is(err, schema.ErrConflict) {
		t.Fatalf("got %v", err)
	}
	for _, want := range []string{
		"query field asyncOperation: the upstream has `asyncOperation(id: ID!): String`, the gateway has `asyncOperation(id: ID!, waitMs: Int = 0): AsyncOperation`",
		"mutation field submitAsync: the upstream has `submitAsync(input: SubmitAsyncInput!): Int`",
		"type SubmitAsyncInput: the upstream has `input SubmitAsyncInput { … }`, the gateway has `input SubmitAsyncInput { idempotencyKey: String label: String",
		"type AsyncError: the upstream has `type AsyncError { code: Int! … }`, the gateway has `type AsyncError { code: String! … }`",
		"type AsyncScope: the upstream has `type AsyncScope { a: Int }`, the gateway has `enum AsyncScope { ALL MINE TENANT }`",
		"type JSON: the upstream has `union JSON { AsyncError }`, the gateway has `scalar JSON`",
		"type AsyncExecution: the upstream has `enum AsyncExecution { MAYBE … }`, the gateway has `enum AsyncExecution { … }`",
		"directive @skip: the upstream has `directive @skip(if: Boolean, why: String) on FIELD`, the gateway has `directive @skip(if: Boolean!) on FIELD | FRAGMENT_SPREAD | INLINE_FRAGMENT`",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error lacks %s", want)
		}
	}
	if t.Failed() {
		t.Log(err)
	}
}

func TestDefaultsArgumentsAndOneOfBelongToTheShape(t *testing.T) {
	t.Parallel()
	own := load(t, `
		type Query { a(b: In = {x: 1}): Thing }
		input In { x: Int = 1 }
		interface Named { n: Int }
		type Thing implements Named { n: Int }
		directive @cost(n: Int = 1) on FIELD`)
	for name, upstream := range map[string]string{
		"Default":        `type Query { ok: Int } input In { x: Int = 2 }`,
		"NoDefault":      `type Query { ok: Int } input In { x: Int }`,
		"OneOf":          `type Query { ok: Int } input In @oneOf { x: Int }`,
		"NonNull":        `type Query { ok: Int } input In { x: Int! = 1 }`,
		"NoInterface":    `type Query { ok: Int } type Thing { n: Int }`,
		"FieldArgument":  `type Query { ok: Int } type Thing implements Named { n(a: Int): Int } interface Named { n: Int }`,
		"ArgumentObject": `type Query { a(b: In = {x: 2}): Thing } input In { x: Int = 1 } interface Named { n: Int } type Thing implements Named { n: Int }`,
		"Directive":      `type Query { ok: Int } directive @cost(n: Int = 2) on FIELD`,
		"Repeatable":     `type Query { ok: Int } directive @cost(n: Int = 1) repeatable on FIELD`,
		"Location":       `type Query { ok: Int } directive @cost(n: Int = 1) on FIELD | QUERY`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := schema.Merge(load(t, upstream), own); !errors.Is(err, schema.ErrConflict) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestWhatNobodyServesIsTakenOut(t *testing.T) {
	t.Parallel()
	const deferring = `directive @defer(if: Boolean! = true, label: String) on FRAGMENT_SPREAD | INLINE_FRAGMENT`
	plain := merge(t, load(t, `type Query { a: Int }`), gateway(t)).Schema
	if plain.Directives["defer"] != nil {
		t.Error("@defer is advertised, and nothing serves it")
	}
	if plain.Types["__DirectiveLocation"].EnumValues.ForName("DIRECTIVE_DEFINITION") != nil {
		t.Error("deprecated directives are advertised, and nothing serves them")
	}
	theirs := merge(t, load(t, `type Query { a: Int } `+deferring), gateway(t)).Schema
	if theirs.Directives["defer"].Arguments.ForName("if").Type.String() != "Boolean!" {
		t.Error("the upstream's own @defer is lost")
	}
	modern := merge(t, load(t, `type Query { a: Int } directive @a @deprecated(reason: "b") on FIELD`), gateway(t)).Schema
	if modern.Types["__DirectiveLocation"].EnumValues.ForName("DIRECTIVE_DEFINITION") == nil {
		t.Error("the upstream deprecates a directive, and the merged schema does not know how")
	}
}

func TestRequestsAreValidatedAgainstBothSides(t *testing.T) {
	t.Parallel()
	merged := merge(t, shop(t), gateway(t)).Schema
	valid := `query ($old: String = "x") {
		search(old: $old, filter: {gone: 1, required: 2}) { __typename ... on Node { id } ... on Entity { name(upper: true) } }
		asyncOperation(id: "1") { id state result createdAt }
		__schema { queryType { name } }
	}`
	if _, errs := gqlparser.LoadQueryWithRules(merged, valid, nil); errs != nil {
		t.Error(errs)
	}
	if _, errs := gqlparser.LoadQueryWithRules(merged, `{ ... @defer { colors } }`, nil); errs == nil {
		t.Error("@defer is valid")
	}
	if _, errs := gqlparser.LoadQueryWithRules(merged, `subscription { userChanged(id: 1) { id } }`, nil); errs == nil {
		t.Error("a subscription of the upstream's is valid")
	}
}

// Tenants share both inputs, so that the race detector watches here too.
func TestMergeLeavesItsInputsAlone(t *testing.T) {
	t.Parallel()
	upstream, own := shop(t), gateway(t)
	upstreamBefore, ownBefore := shop(t), gateway(t)
	var tenants sync.WaitGroup
	first := merge(t, upstream, own)
	for range 4 {
		tenants.Go(func() {
			merged, err := schema.Merge(upstream, own)
			if err != nil || printed(merged.Schema) != printed(first.Schema) {
				t.Errorf("another merge of the same differs: %v", err)
			}
		})
	}
	tenants.Wait()
	if !reflect.DeepEqual(upstream, upstreamBefore) {
		t.Error("the upstream's schema was written to")
	}
	if !reflect.DeepEqual(own, ownBefore) {
		t.Error("the gateway's schema was written to")
	}
}

func TestUpstreamWithoutQueriesIsRefused(t *testing.T) {
	t.Parallel()
	if _, err := schema.Merge(&ast.Schema{}, gateway(t)); !errors.Is(err, schema.ErrInvalid) {
		t.Errorf("got %v", err)
	}
}
