// Package upstream is the sample GraphQL API that `gateway demo` puts the
// gateway in front of: a catalogue of products, and reports about it that take
// their time. It is a gqlgen server of its own and shares no code with the
// gateway. generated/ is machine-written, nothing else.
package upstream

import (
	"net/http"

	"github.com/99designs/gqlgen/graphql/handler"
	"github.com/99designs/gqlgen/graphql/handler/extension"
	"github.com/99designs/gqlgen/graphql/handler/transport"

	"asyncgate/internal/demo/upstream/generated"
)

// maxBody is the largest request that is read, in bytes.
const maxBody = 8 << 20

// New returns the API at POST /graphql, introspection included. It is safe for
// concurrent use and starts nothing that outlives a request. Each tenant's data
// lives in memory, as long as the handler.
func New() http.Handler {
	server := handler.New(generated.NewExecutableSchema(generated.Config{Resolvers: newResolver()}))
	server.AddTransport(transport.POST{})
	server.Use(extension.Introspection{})
	server.SetErrorPresenter(present)

	mux := http.NewServeMux()
	mux.Handle("POST /graphql", http.MaxBytesHandler(identify(server), maxBody))
	return mux
}
