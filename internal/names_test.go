package internal_test

import (
	"go/parser"
	"path"
	"slices"
	"strings"
	"testing"
)

// vague are names that say nothing about what a package or a file holds.
var vague = []string{
	"base", "common", "helper", "helpers", "manager", "misc", "model", "models",
	"shared", "types", "util", "utils",
}

func TestNamesSayWhatIsInside(t *testing.T) {
	t.Parallel()
	for _, file := range sources(t, parser.PackageClauseOnly) {
		if path.Base(file.Dir()) == "generated" {
			continue
		}
		name := strings.TrimSuffix(path.Base(file.Path), ".go")
		name = strings.TrimSuffix(name, "_test")
		if slices.Contains(vague, name) || slices.Contains(vague, file.AST.Name.Name) {
			t.Errorf("%s (package %s): name it after the one concept that it holds", file.Path, file.AST.Name.Name)
		}
	}
}
