package schema_test

import (
	"fmt"
	"maps"
	"os"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/formatter"

	"asyncgate/internal/executor/schema"
)

func read(t testing.TB, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func load(t testing.TB, sdl string) *ast.Schema {
	t.Helper()
	got, err := schema.FromSDL("test.graphqls", sdl)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// gateway is the gateway's own schema.
func gateway(tb testing.TB) *ast.Schema {
	tb.Helper()
	return load(tb, read(tb, "../../../schema.graphqls"))
}

// shopSDL holds every construct of the type system. testdata/shop.json is what
// graphql-js 16 says about it: introspectionFromSchema(buildSchema(…)) with every
// option on.
func shopSDL(tb testing.TB) string {
	tb.Helper()
	return read(tb, "testdata/shop.graphql")
}

func shop(tb testing.TB) *ast.Schema {
	tb.Helper()
	return load(tb, shopSDL(tb))
}

func merge(t testing.TB, upstream, gateway *ast.Schema) *schema.Merged {
	t.Helper()
	merged, err := schema.Merge(upstream, gateway)
	if err != nil {
		t.Fatal(err)
	}
	return merged
}

// printed is a schema as SDL, less the directives that GraphQL has built in:
// libraries differ in how they describe them.
func printed(of *ast.Schema) string {
	shown := *of
	shown.Directives = maps.Clone(of.Directives)
	for _, name := range []string{"skip", "include", "deprecated", "specifiedBy", "oneOf"} {
		delete(shown.Directives, name)
	}
	var sdl strings.Builder
	formatter.NewFormatter(&sdl).FormatSchema(&shown)
	return sdl.String() + fmt.Sprintf("# %q", shown.Description)
}
