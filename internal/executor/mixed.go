package executor

import (
	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
)

// refuse refuses what fits the schema and could not be answered.
func (c *composite) refuse(oc *graphql.OperationContext) gqlerror.List {
	if oc.Operation.Operation == ast.Subscription && len(c.collect(oc)) == 0 {
		return gqlerror.List{gqlerror.Wrap(invalid("the field of a subscription cannot be left out by @skip or @include"))}
	}
	return c.refuseMixed(oc)
}

// refuseMixed refuses what the two sides could not answer together: a mutation
// with fields of both, since serial order could not hold, and a gateway field
// anywhere but at the root, where an upstream that nests its root type would
// be asked for it.
func (c *composite) refuseMixed(oc *graphql.OperationContext) gqlerror.List {
	if field := c.nestedGatewayField(oc); field != "" {
		return gqlerror.List{gqlerror.Wrap(invalid("the field %s can only be selected at the root of the operation", field))}
	}
	if oc.Operation.Operation != ast.Mutation {
		return nil
	}
	gateway, upstream := false, false
	for field := range rootFields(oc.Operation.SelectionSet) {
		if c.merged.IsGatewayField(ast.Mutation, field.Name) {
			gateway = true
		} else if field.Name != "__typename" {
			upstream = true
		}
	}
	if gateway && upstream {
		return gqlerror.List{gqlerror.Wrap(invalid("a mutation cannot mix the gateway's fields with the upstream's, since their order could not be kept; send them one after the other"))}
	}
	return nil
}

// gatewayField names a field of the gateway that an operation selects,
// wherever, or answers "".
func (c *composite) gatewayField(oc *graphql.OperationContext) string {
	for field := range rootFields(oc.Operation.SelectionSet) {
		if c.merged.IsGatewayField(oc.Operation.Operation, field.Name) {
			return field.Name
		}
	}
	return c.nestedGatewayField(oc)
}

func (c *composite) nestedGatewayField(oc *graphql.OperationContext) string {
	n := nesting{composite: c, visited: map[string]bool{}}
	return n.below(oc.Operation.SelectionSet, true)
}

// nesting looks for gateway fields below the root: in an upstream whose
// payloads hold its root type.
type nesting struct {
	composite *composite
	visited   map[string]bool // fragments
}

func (n *nesting) below(set ast.SelectionSet, root bool) string {
	for _, selected := range set {
		found := ""
		switch selected := selected.(type) {
		case *ast.Field:
			if !root && n.isGateway(selected) {
				return selected.Name
			}
			found = n.below(selected.SelectionSet, false)
		case *ast.InlineFragment:
			found = n.below(selected.SelectionSet, root)
		case *ast.FragmentSpread:
			if key := selected.Name + map[bool]string{true: "@root"}[root]; !n.visited[key] {
				n.visited[key] = true
				found = n.below(selected.Definition.SelectionSet, root)
			}
		}
		if found != "" {
			return found
		}
	}
	return ""
}

func (n *nesting) isGateway(field *ast.Field) bool {
	merged := n.composite.merged
	for _, operation := range [...]ast.Operation{ast.Query, ast.Mutation, ast.Subscription} {
		if field.ObjectDefinition != nil && field.ObjectDefinition.Name == merged.RootName(operation) &&
			merged.IsGatewayField(operation, field.Name) {
			return true
		}
	}
	return false
}
