package upstreams

import (
	"net/http/httptest"
	"sync"
	"testing"

	"asyncgate/test/upstreams/gqlgen"
)

// YogaShop starts a graphql-yoga server with the schema shop/schema.graphql.
// Like its siblings below it keeps nothing: what it answers depends on the
// request alone. Its answers carry numbers that no double holds.
func YogaShop(t testing.TB) *Server {
	t.Helper()
	return start(t, "yoga", "shop.mjs")
}

// Apollo starts an Apollo Server with the schema shop/schema.graphql.
func Apollo(t testing.TB) *Server {
	t.Helper()
	return start(t, "apollo", "server.mjs")
}

// Mercurius starts a Mercurius server, on Fastify, with the schema
// shop/schema.graphql.
func Mercurius(t testing.TB) *Server {
	t.Helper()
	return start(t, "mercurius", "server.mjs")
}

// Gqlgen starts a gqlgen server in the test's own process with the schema
// shop/schema.graphql. Where several fields of a query fail, it answers their
// errors in any order.
func Gqlgen(t testing.TB) *Server {
	t.Helper()
	listening := httptest.NewServer(gqlgen.New())
	server := &Server{URL: listening.URL + "/graphql", stop: sync.OnceFunc(listening.Close)}
	t.Cleanup(server.Stop)
	return server
}
