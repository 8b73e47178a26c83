// Package internal_test holds the rules about the module's source that no
// linter knows: which package may import which, what packages and files are
// called, and where a test may sleep.
package internal_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const module = "asyncgate"

// source is a Go file of the module.
type source struct {
	Path string // slash separated, from the root of the module
	AST  *ast.File
}

func (s source) Dir() string  { return path.Dir(s.Path) }
func (s source) IsTest() bool { return strings.HasSuffix(s.Path, "_test.go") }

// Imports returns the import paths in the file.
func (s source) Imports() []string {
	var imports []string
	for _, spec := range s.AST.Imports {
		imported, _ := strconv.Unquote(spec.Path.Value) // the parser has checked it
		imports = append(imports, imported)
	}
	return imports
}

// sources parses every Go file of the module, whatever its build constraints,
// as far as mode asks.
func sources(t *testing.T, mode parser.Mode) []source {
	t.Helper()
	const root = ".."
	var files []source
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			return enter(root, name, entry.Name())
		}
		if filepath.Ext(name) != ".go" {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, mode)
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(root, name)
		files = append(files, source{Path: filepath.ToSlash(relative), AST: file})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// enter answers fs.SkipDir for what the go command leaves out too: hidden
// folders, test data and other modules; and for npm's packages.
func enter(root, name, base string) error {
	if name == root {
		return nil
	}
	if strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") || base == "testdata" || base == "node_modules" {
		return fs.SkipDir
	}
	if _, err := os.Stat(filepath.Join(name, "go.mod")); err == nil {
		return fs.SkipDir
	}
	return nil
}
