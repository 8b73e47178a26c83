package executor

import (
	"context"
	"errors"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/handler/lru"
	"github.com/vektah/gqlparser/v2/ast"
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

// Tenant serves one tenant: the engine of its schema, before its upstream. It
// never changes; another schema makes another Tenant.
type Tenant struct {
	*engine
	upstream  graphql.ExecutableSchema
	allowlist Allowlist
	bounds    map[string]int // the allowlist's
}

// The bounds of a tenant's document cache, and of a document.
const (
	cachedDocuments  = 1000
	cachedDocument   = 32 << 10 // bytes; larger ones are parsed each time
	maxDocumentToken = 10_000
)

// NewTenant serves an upstream of any kind, such as a gqlgen schema compiled
// into the program. Errors: schema.ErrConflict.
func NewTenant(surface Surface, upstream graphql.ExecutableSchema, allowlist Allowlist) (*Tenant, error) {
	shared, err := newEngine(surface, upstream.Schema())
	if err != nil {
		return nil, err
	}
	return &Tenant{engine: shared, upstream: upstream, allowlist: allowlist, bounds: allowlist.bounds()}, nil
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
