package upstreams

import "testing"

// Yoga starts a graphql-yoga server: the schema, with what each field is good
// for, is yoga/schema.graphql. Its answers carry text that no JavaScript number
// holds, it counts mutations by tag, and GET /last?tag=TAG beside its URL
// answers the last body in which TAG was named, byte for byte.
func Yoga(t testing.TB) *Server {
	t.Helper()
	return start(t, "yoga", "server.mjs")
}
