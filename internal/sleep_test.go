package internal_test

import (
	"go/ast"
	"go/parser"
	"slices"
	"testing"
)

// A test that sleeps for real is slow when it passes and flaky when it fails.
func TestTestsSleepInSynctestOnly(t *testing.T) {
	t.Parallel()
	for _, file := range sources(t, parser.SkipObjectResolution) {
		if !file.IsTest() || slices.Contains(file.Imports(), "testing/synctest") {
			continue
		}
		if sleeps(file.AST) {
			t.Errorf("%s calls time.Sleep outside testing/synctest: wait for what happens instead", file.Path)
		}
	}
}

func sleeps(file *ast.File) bool {
	found := false
	ast.Inspect(file, func(node ast.Node) bool {
		if selector, ok := node.(*ast.SelectorExpr); ok && selector.Sel.Name == "Sleep" {
			pkg, ok := selector.X.(*ast.Ident)
			found = found || (ok && pkg.Name == "time")
		}
		return !found
	})
	return found
}
