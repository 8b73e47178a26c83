package internal_test

import (
	"go/parser"
	"slices"
	"strings"
	"testing"
)

// layers names the parts of the program and which others each may import. A
// package belongs to the layer with the longest prefix of its path, and within
// a layer imports are free. Test files may import what they like.
//
// Read it from the leaves up: what is not named here is not allowed.
var layers = map[string][]string{
	"internal/asyncop":           {},
	"internal/auth":              {},
	"internal/asyncop/storetest": {"internal/asyncop"},
	"internal/asyncop/postgres":  {"internal/asyncop"},
	"internal/asyncop/sqlite":    {"internal/asyncop"},
	"internal/telemetry":         {"internal/asyncop"},
	"internal/executor":          {"internal/asyncop", "internal/auth", "internal/telemetry"},
	"internal/config":            {"internal/asyncop", "internal/auth", "internal/executor"},
	"graph":                      {"internal/asyncop", "internal/auth", "internal/executor"},
	"internal/server":            {"internal/asyncop", "internal/auth", "internal/executor", "internal/telemetry", "graph"},
	"internal/demo":              {},
	"cmd": {
		"internal/asyncop", "internal/asyncop/postgres", "internal/asyncop/sqlite",
		"internal/auth", "internal/config", "internal/demo", "internal/executor",
		"internal/server", "internal/telemetry", "graph",
	},
	"test": {},
}

// dependencies names the layers that may import a module of others. Modules
// that are not named here are free.
var dependencies = map[string][]string{
	"github.com/99designs/gqlgen":     {"graph", "internal/demo", "internal/executor", "internal/server", "test"},
	"github.com/vektah/gqlparser":     {"cmd", "graph", "internal/demo", "internal/executor", "internal/server", "test"},
	"github.com/gorilla/websocket":    {"internal/server"},
	"github.com/rs/cors":              {"internal/server"},
	"github.com/jackc/pgx":            {"cmd", "internal/asyncop/postgres", "test"},
	"github.com/pressly/goose":        {"internal/asyncop/postgres", "internal/asyncop/sqlite"},
	"modernc.org/sqlite":              {"internal/asyncop/sqlite"},
	"github.com/lestrrat-go/jwx":      {"internal/auth"},
	"github.com/alecthomas/kong":      {"cmd"},
	"github.com/coder/websocket":      {}, // gqlgen's default; gorilla is ours
	"github.com/google/go-cmp":        {"internal/asyncop/storetest", "test"},
	"go.uber.org/goleak":              {"internal/asyncop/storetest", "test"},
	"pgregory.net/rapid":              {"internal/asyncop/storetest", "test"},
	"github.com/stretchr/testify":     {},
	"github.com/gofrs/flock":          {"internal/asyncop/sqlite", "test"},
	"github.com/hashicorp/golang-lru": {"internal/auth", "internal/executor", "internal/server"},
}

func TestEveryPackageBelongsToALayer(t *testing.T) {
	t.Parallel()
	for _, file := range sources(t, parser.ImportsOnly) {
		if !file.IsTest() && layerOf(file.Dir()) == "" {
			t.Errorf("%s belongs to no layer: give %s a line in layers", file.Path, file.Dir())
		}
	}
}

func TestImportsPointDownTheLayers(t *testing.T) {
	t.Parallel()
	for _, file := range sources(t, parser.ImportsOnly) {
		if file.IsTest() {
			continue
		}
		from := layerOf(file.Dir())
		for _, imported := range file.Imports() {
			dir, ours := strings.CutPrefix(imported, module+"/")
			if !ours {
				continue
			}
			if to := layerOf(dir); to != from && !slices.Contains(layers[from], to) {
				t.Errorf("%s imports %s: %s may import %v of ours", file.Path, imported, from, layers[from])
			}
		}
	}
}

func TestDependenciesStayInTheirLayers(t *testing.T) {
	t.Parallel()
	for _, file := range sources(t, parser.ImportsOnly) {
		if file.IsTest() {
			continue
		}
		for _, imported := range file.Imports() {
			dependency := longestPrefix(imported, dependencies)
			if dependency != "" && !slices.Contains(dependencies[dependency], layerOf(file.Dir())) {
				t.Errorf("%s imports %s: only %v may", file.Path, imported, dependencies[dependency])
			}
		}
	}
}

func layerOf(dir string) string { return longestPrefix(dir, layers) }

// longestPrefix returns the longest key of table that is name or a folder
// above it, and "" where there is none.
func longestPrefix(name string, table map[string][]string) string {
	longest := ""
	for prefix := range table {
		if (name == prefix || strings.HasPrefix(name, prefix+"/")) && len(prefix) > len(longest) {
			longest = prefix
		}
	}
	return longest
}
