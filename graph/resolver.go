package graph

import (
	"asyncgate/graph/generated"
	"asyncgate/graph/shape"
	"asyncgate/internal/asyncop"
	"asyncgate/internal/executor"
)

// Resolver is the root of the resolvers. They decide nothing: what a caller
// can do is executor.Operations.
type Resolver struct {
	Operations *executor.Operations
}

// shaped is an operation, or the error that kept it away.
func shaped(op asyncop.Operation, err error) (*shape.Operation, error) {
	if err != nil {
		return nil, err
	}
	return shape.Of(op), nil
}

// listings are the schema's scopes.
var listings = map[generated.AsyncScope]executor.Listing{
	generated.AsyncScopeMine:   executor.Mine,
	generated.AsyncScopeTenant: executor.OfTenant,
	generated.AsyncScopeAll:    executor.OfAll,
}

// orDefault is what a nullable argument points at, or the zero value.
func orDefault[T any](given *T) (value T) {
	if given != nil {
		value = *given
	}
	return value
}

// mutations shapes the part of an allowlist that a caller may submit.
func mutations(names []string, allowlist executor.Allowlist) []shape.Mutation {
	shaped := make([]shape.Mutation, len(names))
	for i, name := range names {
		policy := allowlist[name]
		shaped[i] = shape.Mutation{
			Name: name, Idempotent: policy.Idempotent,
			MaxAttempts: policy.MaxAttempts, TimeoutMs: int(policy.Timeout.Milliseconds()),
		}
	}
	return shaped
}

// connection shapes a page.
func connection(page asyncop.Page, after *string) *generated.AsyncOperationConnection {
	shaped := &generated.AsyncOperationConnection{
		Edges: []generated.AsyncOperationEdge{}, Nodes: []shape.Operation{},
		PageInfo: generated.AsyncPageInfo{HasNextPage: page.HasNext, HasPreviousPage: after != nil},
	}
	for _, op := range page.Operations {
		node, cursor := shape.Of(op), asyncop.CursorOf(op).String()
		shaped.Edges = append(shaped.Edges, generated.AsyncOperationEdge{Cursor: cursor, Node: *node})
		shaped.Nodes = append(shaped.Nodes, *node)
	}
	if n := len(shaped.Edges); n > 0 {
		shaped.PageInfo.StartCursor, shaped.PageInfo.EndCursor = &shaped.Edges[0].Cursor, &shaped.Edges[n-1].Cursor
	}
	return shaped
}

// once is a stream of one operation.
func once(op asyncop.Operation) <-chan *shape.Operation {
	events := make(chan *shape.Operation, 1)
	events <- shape.Of(op)
	close(events)
	return events
}
