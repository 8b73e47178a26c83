// Package gqlgen is the shop of ../shop/schema.graphql as a gqlgen server, for
// tests that want an upstream of that kind. generated/ is machine-written,
// nothing else.
package gqlgen

import (
	"context"
	"errors"
	"net/http"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/handler"
	"github.com/99designs/gqlgen/graphql/handler/extension"
	"github.com/99designs/gqlgen/graphql/handler/transport"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"asyncgate/test/upstreams/gqlgen/generated"
)

// New returns the API at POST /graphql, introspection included. It keeps
// nothing, and is safe for concurrent use.
func New() http.Handler {
	server := handler.New(generated.NewExecutableSchema(generated.Config{Resolvers: resolver{}}))
	server.AddTransport(transport.POST{})
	server.Use(extension.Introspection{})
	server.SetErrorPresenter(present)

	mux := http.NewServeMux()
	mux.Handle("POST /graphql", server)
	return mux
}

// brokenError is an error with extensions.
type brokenError struct {
	message    string
	extensions map[string]any
}

func (e brokenError) Error() string { return e.message }

func present(ctx context.Context, err error) *gqlerror.Error {
	shown := graphql.DefaultErrorPresenter(ctx, err)
	if broken, ok := errors.AsType[brokenError](err); ok {
		shown.Extensions = broken.extensions
	}
	return shown
}
