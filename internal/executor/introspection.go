package executor

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"sync"

	"github.com/99designs/gqlgen/graphql"
	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/vektah/gqlparser/v2/ast"
)

// The bounds of an introspection cache: of its answers' bytes, and of one's.
const (
	cachedAnswers = 4
	cachedAnswer  = 16 << 20
)

// introspectionCache keeps the answers to queries of introspection alone: that
// of a large schema takes half a second to make, and never changes.
type introspectionCache struct {
	answers *lru.Cache[[32]byte, json.RawMessage]
	making  sync.Mutex // one at a time: making several at once only takes longer
}

func newIntrospectionCache() *introspectionCache {
	answers, err := lru.New[[32]byte, json.RawMessage](cachedAnswers)
	if err != nil {
		panic(err) // only for a size that is not positive
	}
	return &introspectionCache{answers: answers}
}

// introspectionOnly reports whether fields are of the schema itself.
func (c *composite) introspectionOnly(fields []*ast.Field) bool {
	for _, field := range fields {
		if field.Name != "__schema" && field.Name != "__type" && field.Name != "__typename" {
			return false
		}
	}
	return len(fields) > 0
}

// introspect answers a query of the schema itself, once for all who ask it.
func (c *composite) introspect(ctx context.Context, oc *graphql.OperationContext, fields []*ast.Field) *graphql.Response {
	x := exchangeFrom(ctx)
	key := introspectionKey(oc, x.variables)
	if cached, ok := c.introspected.answers.Get(key); ok {
		x.answer = &answer{envelope: cached}
		return x.answer.passed()
	}
	c.introspected.making.Lock()
	defer c.introspected.making.Unlock()
	if cached, ok := c.introspected.answers.Get(key); ok {
		x.answer = &answer{envelope: cached}
		return x.answer.passed()
	}
	response := c.join(ctx, oc, fields)
	if ctx.Err() == nil && len(x.answer.envelope) <= cachedAnswer {
		c.introspected.answers.Add(key, x.answer.envelope)
	}
	return response
}

// introspectionKey is equal for requests with the same answer.
func introspectionKey(oc *graphql.OperationContext, variables json.RawMessage) [32]byte {
	h := sha256.New()
	writePart(h, []byte(oc.RawQuery))
	writePart(h, []byte(oc.OperationName))
	writePart(h, variables)
	return [32]byte(h.Sum(nil))
}
