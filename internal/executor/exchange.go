package executor

import (
	"context"
	"encoding/json"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/google/uuid"
)

// contextKey is the one context key of this package.
type contextKey struct{}

// exchange travels with one execution: what the client or the stored
// operation gave as bytes on the way down, what the upstream said on the way
// up. It is used by one goroutine at a time.
type exchange struct {
	upstream  graphql.ExecutableSchema
	variables json.RawMessage // as the client wrote them, nil for none
	attempt   *attempt        // nil for a synchronous request
	begun     bool            // set once the operation is handed to the upstream
	answer    *answer         // set by a remote upstream
}

// attempt is what the upstream is told of an asynchronous execution.
type attempt struct {
	id      uuid.UUID
	number  int
	timeout time.Duration
}

func withExchange(ctx context.Context, x *exchange) context.Context {
	return context.WithValue(ctx, contextKey{}, x)
}

// exchangeFrom answers the exchange of ctx. Without one, as when somebody
// drives the schema directly, it answers a fresh one.
func exchangeFrom(ctx context.Context) *exchange {
	if x, ok := ctx.Value(contextKey{}).(*exchange); ok {
		return x
	}
	return &exchange{}
}
