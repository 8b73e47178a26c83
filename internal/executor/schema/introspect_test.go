package schema_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/executor"
	"github.com/99designs/gqlgen/graphql/handler/extension"
	"github.com/google/go-cmp/cmp"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"
	"github.com/vektah/gqlparser/v2/validator"

	"asyncgate/graph/generated"
	"asyncgate/internal/executor/schema"
)

// What a client learns from the gateway is the merged schema, whole.
func TestMergedSchemaSurvivesIntrospection(t *testing.T) {
	t.Parallel()
	upstream := load(t, shopSDL(t)+`
		extend input Filter {
			object: JSON = {a: 1, b: {c: [true, null, "x"], d: RED}}
			deep: JSON = [[{x: -1}], {}]
			huge: BigInt = -123456789012345678901234567890
			exponent: Float = 1.50e+3
			block: String = """
			a "block"
			  of text
			"""
		}`)
	merged := merge(t, upstream, gateway(t)).Schema
	introspected, err := introspect(t.Context(), serve(merged))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"description", "specifiedByURL"} {
		if introspected.Types["__Type"].Fields.ForName(name) == nil {
			t.Errorf("__Type lacks %s", name)
		}
	}
	if diff := cmp.Diff(printed(merged), printed(introspected)); diff != "" {
		t.Errorf("-merged +introspected\n%s", diff)
	}
}

// introspect asks, and converts the answer.
func introspect(ctx context.Context, post func(context.Context, []byte) ([]byte, error)) (*ast.Schema, error) {
	answer, err := schema.Introspect(ctx, post)
	if err != nil {
		return nil, err
	}
	return schema.FromIntrospection(answer)
}

// serve answers introspection of a schema with the gateway's generated code.
func serve(merged *ast.Schema) func(context.Context, []byte) ([]byte, error) {
	server := executor.New(generated.NewExecutableSchema(generated.Config{Schema: merged}))
	server.Use(extension.Introspection{})
	return func(ctx context.Context, body []byte) ([]byte, error) {
		params := &graphql.RawParams{}
		if err := json.Unmarshal(body, params); err != nil {
			return nil, err
		}
		ctx = graphql.StartOperationTrace(ctx)
		operation, errs := server.CreateOperationContext(ctx, params)
		if errs != nil {
			return json.Marshal(server.DispatchError(graphql.WithOperationContext(ctx, operation), errs))
		}
		respond, ctx := server.DispatchOperation(ctx, operation)
		return json.Marshal(respond(ctx))
	}
}

func TestOldServerIsNotAskedForWhatItLacks(t *testing.T) {
	t.Parallel()
	old := oldServer{t: t, answer: answer(object("Query",
		`{"name":"a","isDeprecated":true,"deprecationReason":null,"type":{"kind":"SCALAR","name":"String"},"args":[]}`) +
		`,{"kind":"SCALAR","name":"String"},{"kind":"OBJECT","name":"__Type","fields":[]}`)}
	old.schema = introspectable(t, read(t, "testdata/old.graphql"))
	got, err := introspect(t.Context(), old.post)
	if err != nil {
		t.Fatal(err)
	}
	if got.Query.Fields.ForName("a").Directives.ForName("deprecated") == nil {
		t.Error("the deprecation is lost")
	}
	merge(t, got, gateway(t))
}

// graphql-js 15 called the field specifiedByUrl.
func TestServersOfBetweenAreAskedForWhatTheyHave(t *testing.T) {
	t.Parallel()
	between := oldServer{t: t, answer: answer(object("Query", `{"name":"a","type":{"name":"Date"}}`) +
		`,{"kind":"SCALAR","name":"Date","specifiedByUrl":"https://dates.example"}`)}
	between.schema = introspectable(t, strings.Replace(read(t, "testdata/old.graphql"),
		"ofType: __Type", "ofType: __Type specifiedByUrl: String", 1))
	got, err := introspect(t.Context(), between.post)
	if err != nil {
		t.Fatal(err)
	}
	if got.Types["Date"].Directives.ForName("specifiedBy") == nil {
		t.Error("the specification's address is lost")
	}
}

// introspectable is a server's schema of which prelude is all that is built in.
func introspectable(t *testing.T, prelude string) *ast.Schema {
	t.Helper()
	got, err := validator.LoadSchema(
		&ast.Source{Name: "prelude", Input: prelude, BuiltIn: true},
		&ast.Source{Name: "own", Input: `type Query { a: String }`})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// oldServer validates requests against its schema, tells which fields a type of
// introspection has, and answers every other request with answer.
type oldServer struct {
	t      *testing.T
	schema *ast.Schema
	answer []byte
}

func (s oldServer) post(_ context.Context, body []byte) ([]byte, error) {
	var request struct{ Query string }
	if err := json.Unmarshal(body, &request); err != nil {
		return nil, err
	}
	document, err := parser.ParseQuery(&ast.Source{Input: request.Query})
	if err != nil {
		return nil, err
	}
	if errs := validator.ValidateWithRules(s.schema, document, nil); errs != nil {
		s.t.Errorf("the server refuses: %v", errs)
	}
	root := document.Operations[0].SelectionSet[0].(*ast.Field)
	if root.Name != "__type" {
		return s.answer, nil
	}
	def := s.schema.Types[root.Arguments.ForName("name").Value.Raw]
	return json.Marshal(map[string]any{"data": map[string]any{"__type": map[string]any{"fields": offered(def)}}})
}

func offered(def *ast.Definition) []any {
	var fields []any
	for _, field := range def.Fields {
		args := []any{}
		for _, arg := range field.Arguments {
			args = append(args, map[string]any{"name": arg.Name})
		}
		fields = append(fields, map[string]any{"name": field.Name, "args": args})
	}
	return fields
}

func TestServerWithoutAnIntrospectionTypeIsTakenForOld(t *testing.T) {
	t.Parallel()
	_, err := introspect(t.Context(), func(_ context.Context, body []byte) ([]byte, error) {
		if strings.Contains(string(body), "__type(") {
			return []byte(`{"data":{"__type":null}}`), nil
		}
		return answer(object("Query", `{"name":"a","type":{"name":"Int"}}`)), nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestFailedRequestEndsIntrospection(t *testing.T) {
	t.Parallel()
	refused := errors.New("connection refused")
	calls := 0
	_, err := introspect(t.Context(), func(context.Context, []byte) ([]byte, error) {
		calls++
		return nil, refused
	})
	if !errors.Is(err, refused) || calls != 1 {
		t.Errorf("got %v after %d requests", err, calls)
	}
}

func TestRefusedIntrospectionSaysSo(t *testing.T) {
	t.Parallel()
	_, err := introspect(t.Context(), func(context.Context, []byte) ([]byte, error) {
		return []byte(`{"errors":[{"message":"introspection disabled"}],"data":null}`), nil
	})
	if !errors.Is(err, schema.ErrAnswer) || !strings.Contains(err.Error(), "introspection disabled") {
		t.Errorf("got %v", err)
	}
}
