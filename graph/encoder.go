package graph

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/99designs/gqlgen/graphql"
	"github.com/google/uuid"
	"github.com/vektah/gqlparser/v2/ast"

	"asyncgate/graph/generated"
	"asyncgate/graph/shape"
)

// Encoder writes an operation as JSON as a query for all of its fields reads
// it: the generated code is the one writer of operations.
type Encoder struct {
	query *ast.QueryDocument // { asyncOperation { every field } }
}

// lookUp is the field whose answer is an operation.
const lookUp = "asyncOperation"

// NewEncoder makes an encoder, which is safe for concurrent use.
func NewEncoder() *Encoder {
	schema := generated.NewExecutableSchema(generated.Config{}).Schema()
	field := schema.Query.Fields.ForName(lookUp)
	id := &ast.Argument{Name: "id", Value: &ast.Value{
		Kind: ast.StringValue, Raw: uuid.Nil.String(), Definition: schema.Types["ID"],
	}}
	return &Encoder{query: &ast.QueryDocument{Operations: ast.OperationList{{
		Operation: ast.Query,
		SelectionSet: ast.SelectionSet{&ast.Field{
			Alias: lookUp, Name: lookUp, Definition: field, ObjectDefinition: schema.Query,
			Arguments:    ast.ArgumentList{id},
			SelectionSet: everyField(schema, schema.Types[field.Type.Name()]),
		}},
	}}}}
}

// everyField selects all that a type has, and all that is in it.
func everyField(schema *ast.Schema, of *ast.Definition) ast.SelectionSet {
	var all ast.SelectionSet
	for _, field := range of.Fields {
		selected := &ast.Field{Alias: field.Name, Name: field.Name, Definition: field, ObjectDefinition: of}
		if inner := schema.Types[field.Type.Name()]; inner.IsCompositeType() {
			selected.SelectionSet = everyField(schema, inner)
		}
		all = append(all, selected)
	}
	return all
}

// Encode writes an operation. It fails only where the schema could not have
// answered it either.
func (e *Encoder) Encode(ctx context.Context, op *shape.Operation) (json.RawMessage, error) {
	ctx = graphql.WithResponseContext(ctx, graphql.DefaultErrorPresenter, graphql.DefaultRecover)
	ctx = graphql.WithOperationContext(ctx, &graphql.OperationContext{
		Doc: e.query, Operation: e.query.Operations[0], RecoverFunc: graphql.DefaultRecover,
		ResolverMiddleware:     func(ctx context.Context, next graphql.Resolver) (any, error) { return next(ctx) },
		RootResolverMiddleware: func(ctx context.Context, next graphql.RootResolver) graphql.Marshaler { return next(ctx) },
	})
	response := generated.NewExecutableSchema(generated.Config{Resolvers: known{op: op}}).Exec(ctx)(ctx)
	if response == nil {
		return nil, errors.New("encode operation: there is no answer")
	}
	if errs := graphql.GetErrors(ctx); len(errs) > 0 {
		return nil, fmt.Errorf("encode operation: %w", errs)
	}
	inside, _ := bytes.CutPrefix(response.Data, []byte(`{"`+lookUp+`":`))
	return bytes.TrimSuffix(inside, []byte("}")), nil
}

// known resolves one query, whose answer is known before.
type known struct {
	generated.ResolverRoot
	generated.QueryResolver
	op *shape.Operation
}

func (k known) Query() generated.QueryResolver { return k }

func (k known) AsyncOperation(context.Context, uuid.UUID, *int) (*shape.Operation, error) {
	return k.op, nil
}
