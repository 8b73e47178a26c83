package graph

import "context"

// contextKey is the one context key of this package.
type contextKey struct{}

// WithRequestID gives a request the id that its response, its log lines and
// its internal errors carry.
func WithRequestID(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, contextKey{}, id)
}

// RequestID answers the id of a request, "" outside of one.
func RequestID(ctx context.Context) string {
	id, _ := ctx.Value(contextKey{}).(string)
	return id
}

// InternalMessage is all that a client reads of an internal error.
func InternalMessage(ctx context.Context) string {
	return "Something went wrong in the gateway. Its log has the cause under request id " + RequestID(ctx) + "."
}
