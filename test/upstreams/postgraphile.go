package upstreams

import (
	"context"
	_ "embed" // the schema of the database
	"testing"

	"github.com/jackc/pgx/v5"

	"asyncgate/test/pgtest"
)

//go:embed postgraphile/schema.sql
var postgraphileSQL string

// PostGraphile starts a PostGraphile server on a database of its own, which
// postgraphile/schema.sql has filled. The database keeps what mutations change.
// The tests' process must end by pgtest.Main.
func PostGraphile(t testing.TB) *Server {
	t.Helper()
	database := pgtest.URL(t)
	connection, err := pgx.Connect(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close(context.WithoutCancel(t.Context()))
	if _, err := connection.Exec(t.Context(), postgraphileSQL); err != nil {
		t.Fatal(err)
	}
	return start(t, "postgraphile", "server.mjs", database)
}
