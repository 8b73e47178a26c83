package executor

import (
	"context"
	"iter"
	"slices"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"asyncgate/internal/executor/schema"
)

// composite is an executable schema: the gateway's generated one and an
// upstream's, merged at the root types. The parts execute under child
// operations that hold a flat selection, so that root types may have any name.
// The upstream itself is the exchange's.
type composite struct {
	merged       *schema.Merged
	gateway      graphql.ExecutableSchema // serves the merged introspection too
	introspected *introspectionCache
}

// Schema is the merged schema.
func (c *composite) Schema() *ast.Schema { return c.merged.Schema }

// Complexity asks the gateway's part for its fields; upstream fields have the
// default cost.
func (c *composite) Complexity(ctx context.Context, typeName, field string, child int, args map[string]any) (int, bool) {
	return c.gateway.Complexity(ctx, typeName, field, child, args)
}

// Exec runs the operation of ctx.
func (c *composite) Exec(ctx context.Context) graphql.ResponseHandler {
	oc := graphql.GetOperationContext(ctx)
	if oc.Operation.Operation == ast.Subscription {
		return c.gateway.Exec(graphql.WithOperationContext(ctx, childOperation(oc, c.collect(oc))))
	}
	verbatim := c.verbatim(oc)
	return once(func(ctx context.Context) *graphql.Response {
		x := exchangeFrom(ctx)
		x.begun = true
		if verbatim {
			return x.upstream.Exec(ctx)(ctx)
		}
		fields := c.collect(oc)
		if c.introspectionOnly(fields) {
			return c.introspect(ctx, oc, fields)
		}
		if c.upstreamOnly(oc.Operation.Operation, slices.Values(fields)) {
			return c.forwardPrinted(ctx, oc, fields)
		}
		return c.join(ctx, oc, fields)
	})
}

// verbatim reports whether the document can be forwarded as it is: one
// operation, of upstream root fields only.
func (c *composite) verbatim(oc *graphql.OperationContext) bool {
	return len(oc.Doc.Operations) == 1 && c.upstreamOnly(oc.Operation.Operation, rootFields(oc.Operation.SelectionSet))
}

// upstreamOnly reports whether fields are upstream root fields, at least one,
// and perhaps __typename: the merged root has the upstream's name.
func (c *composite) upstreamOnly(operation ast.Operation, fields iter.Seq[*ast.Field]) bool {
	some := false
	for field := range fields {
		if c.merged.IsGatewayField(operation, field.Name) {
			return false
		}
		some = some || field.Name != "__typename"
	}
	return some
}

// collect flattens the fragments of the root, and evaluates @skip and
// @include there.
func (c *composite) collect(oc *graphql.OperationContext) []*ast.Field {
	root := c.root(oc.Operation.Operation)
	names := []string{root.Name}
	for _, abstract := range c.merged.Schema.GetImplements(root) { // unions too
		names = append(names, abstract.Name)
	}
	collected := graphql.CollectFields(oc, oc.Operation.SelectionSet, names)
	fields := make([]*ast.Field, len(collected))
	for i, field := range collected {
		flat := *field.Field // the document is shared by the cache: never written to
		flat.SelectionSet = field.Selections
		fields[i] = &flat
	}
	return fields
}

// root is the merged root type of an operation that validated.
func (c *composite) root(operation ast.Operation) *ast.Definition {
	return c.merged.Schema.Types[c.merged.RootName(operation)]
}

// childOperation is oc with another selection at its root. It has caches of
// its own, and no text: what it selects is no document that a client wrote.
func childOperation(oc *graphql.OperationContext, fields []*ast.Field) *graphql.OperationContext {
	operation := *oc.Operation
	operation.SelectionSet = make(ast.SelectionSet, len(fields))
	for i, field := range fields {
		operation.SelectionSet[i] = field
	}
	return &graphql.OperationContext{
		Variables: oc.Variables, OperationName: oc.OperationName, Doc: oc.Doc,
		Extensions: oc.Extensions, Headers: oc.Headers, Operation: &operation,
		DisableIntrospection: oc.DisableIntrospection, RecoverFunc: oc.RecoverFunc,
		ResolverMiddleware: oc.ResolverMiddleware, RootResolverMiddleware: oc.RootResolverMiddleware,
		Stats: oc.Stats,
	}
}

// rootFields yields the fields of a selection through all fragments, whatever
// @skip and @include say. It follows a fragment once, however often it is
// spread: fragments that spread others twice would double the work each time.
func rootFields(selection ast.SelectionSet) iter.Seq[*ast.Field] {
	return func(yield func(*ast.Field) bool) {
		eachRootField(selection, map[*ast.FragmentDefinition]bool{}, yield)
	}
}

func eachRootField(selection ast.SelectionSet, followed map[*ast.FragmentDefinition]bool, yield func(*ast.Field) bool) bool {
	for _, selected := range selection {
		more := true
		switch selected := selected.(type) {
		case *ast.Field:
			more = yield(selected)
		case *ast.InlineFragment:
			more = eachRootField(selected.SelectionSet, followed, yield)
		case *ast.FragmentSpread:
			if fragment := selected.Definition; !followed[fragment] {
				followed[fragment] = true
				more = eachRootField(fragment.SelectionSet, followed, yield)
			}
		}
		if !more {
			return false
		}
	}
	return true
}

// once is a handler with one response, made when it is asked for.
func once(respond func(ctx context.Context) *graphql.Response) graphql.ResponseHandler {
	made := false
	return func(ctx context.Context) *graphql.Response {
		if made {
			return nil
		}
		made = true
		return respond(ctx)
	}
}
