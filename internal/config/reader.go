package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// reader reads one file. It notes mistakes and goes on, so that all of them
// are found.
type reader struct {
	dir      string
	env      func(string) (string, bool)
	mistakes []Mistake
}

// Load reads the file at path; env is os.LookupEnv or the like. Errors:
// *FileError, and those of reading the file.
func Load(path string, env func(string) (string, bool)) (*Config, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read configuration: %w", err)
	}
	return parse(path, data, filepath.Dir(path), env)
}

// Parse reads a file's content; paths in it are relative to dir. Errors:
// *FileError.
func Parse(data []byte, dir string, env func(string) (string, bool)) (*Config, error) {
	return parse("gateway.yaml", data, dir, env)
}

func parse(name string, data []byte, dir string, env func(string) (string, bool)) (*Config, error) {
	r := &reader{dir: dir, env: env}
	var c *Config
	if root, ok := r.root(data); ok {
		c = r.config(root)
	}
	if len(r.mistakes) > 0 {
		return nil, &FileError{File: name, Mistakes: sorted(r.mistakes)}
	}
	return c, nil
}

// root returns the whole file as an entry.
func (r *reader) root(data []byte) (entry, bool) {
	whole := entry{line: 1}
	tree, err := parser.ParseBytes(data, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		r.mistake(entry{line: lineOf(err)}, "is no valid YAML: check the indentation, quotes and brackets here and just above")
		return entry{}, false
	}
	for _, doc := range tree.Docs {
		if doc.Body == nil {
			continue
		}
		if whole.node != nil {
			r.mistake(entry{line: doc.Body.GetToken().Position.Line}, "begins a second document: only one is read")
			return entry{}, false
		}
		whole.node = doc.Body
	}
	if whole.node == nil {
		r.mistake(whole, "the file is empty")
		return entry{}, false
	}
	return whole, true
}

// lineOf returns where the parser gave up. Its message is not passed on: it
// may quote the file, and with it a secret.
func lineOf(err error) int {
	var syntax yaml.Error
	if errors.As(err, &syntax) && syntax.GetToken() != nil {
		return syntax.GetToken().Position.Line
	}
	return 1
}

// mistake notes what is wrong with an entry. No argument may be a value.
func (r *reader) mistake(at entry, format string, args ...any) {
	r.mistakes = append(r.mistakes, Mistake{Line: at.line, Path: at.path, Message: fmt.Sprintf(format, args...)})
}

// entry is a value and where it stands.
type entry struct {
	path string
	name string // the last key of path
	line int    // of the key
	node ast.Node
}

// entries returns a mapping's entries in their order, without those that have
// no usable key; ok is false for what is no mapping.
func (r *reader) entries(of entry) (list []entry, ok bool) {
	mapping, ok := of.node.(ast.MapNode)
	if !ok {
		r.mistake(of, "must be a mapping: keys with values")
		return nil, false
	}
	first := map[string]int{}
	for pairs := mapping.MapRange(); pairs.Next(); {
		key := pairs.Key()
		name, ok := keyName(key)
		e := entry{path: join(of.path, name), name: name, line: key.GetToken().Position.Line, node: pairs.Value()}
		if !ok {
			r.mistake(entry{path: of.path, line: e.line}, "has a key that is no plain text; anchors, aliases and merges are not read")
			continue
		}
		if line, twice := first[name]; twice {
			r.mistake(e, "is there twice, first on line %d", line)
			continue
		}
		first[name] = e.line
		list = append(list, e)
	}
	return list, true
}

// keyName returns a key's text.
func keyName(key ast.MapKeyNode) (string, bool) {
	switch key := key.(type) {
	case *ast.StringNode:
		return key.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return key.GetToken().Value, true
	default:
		return "", false
	}
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
