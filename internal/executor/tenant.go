package executor

import (
	"context"
	"errors"
	"fmt"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/executor"
	"github.com/99designs/gqlgen/graphql/handler/extension"
	"github.com/99designs/gqlgen/graphql/handler/lru"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"asyncgate/internal/executor/schema"
)

var (
	// ErrTenantUnknown: no such tenant is configured.
	ErrTenantUnknown = errors.New("unknown tenant")
	// ErrWaitTimeout: waitMs, or the token, ended before the operation did.
	ErrWaitTimeout = errors.New("the operation is not done yet")
	// ErrUnavailable: the tenant's upstream, or the store, cannot be used at
	// the moment; try again later.
	ErrUnavailable = errors.New("unavailable")
)

// Gateway is the gateway's own generated schema: it serves the gateway's
// fields, and the introspection of the merged schema that it is given. With
// nil it has its own schema alone.
type Gateway func(merged *ast.Schema) graphql.ExecutableSchema

// Surface is what all tenants share.
type Surface struct {
	Gateway Gateway
	// Present makes the error that a client reads; Recover says what a panic
	// becomes, and logs it.
	Present graphql.ErrorPresenterFunc
	Recover graphql.RecoverFunc
}

// Tenant serves one tenant: one gqlgen executor over the tenant's composite
// schema. It never changes; another schema makes another Tenant.
type Tenant struct {
	executor  *executor.Executor
	schema    *composite
	allowlist Allowlist
}

// The bounds of a tenant's document cache, and of a document.
const (
	cachedDocuments  = 1000
	cachedDocument   = 32 << 10 // bytes; larger ones are parsed each time
	maxDocumentToken = 10_000
)

// NewTenant merges the gateway's schema with the upstream's. Errors: what the
// two define differently.
func NewTenant(surface Surface, upstream graphql.ExecutableSchema, allowlist Allowlist) (*Tenant, error) {
	merged, err := schema.Merge(upstream.Schema(), surface.Gateway(nil).Schema())
	if err != nil {
		return nil, fmt.Errorf("merge schemas: %w", err)
	}
	composed := &composite{merged: merged, gateway: surface.Gateway(merged.Schema), upstream: upstream}
	exec := executor.New(composed)
	exec.SetQueryCache(documentCache{lru.New[*ast.QueryDocument](cachedDocuments)})
	exec.SetParserTokenLimit(maxDocumentToken)
	exec.SetDefaultRulesFn(validationRules)
	exec.SetErrorPresenter(surface.Present)
	exec.SetRecoverFunc(surface.Recover)
	exec.Use(extension.Introspection{})
	return &Tenant{executor: exec, schema: composed, allowlist: allowlist}, nil
}

// Allowlist is what may be submitted to this tenant.
func (t *Tenant) Allowlist() Allowlist { return t.allowlist }

// documentCache leaves large documents out: the cache counts entries, not
// bytes.
type documentCache struct {
	*lru.LRU[*ast.QueryDocument]
}

// Add caches a parsed document.
func (c documentCache) Add(ctx context.Context, text string, document *ast.QueryDocument) {
	if len(text) <= cachedDocument {
		c.LRU.Add(ctx, text, document)
	}
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
