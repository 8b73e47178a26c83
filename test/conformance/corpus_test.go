package conformance

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"

	"asyncgate/internal/executor/raw"
)

// document is a GraphQL request.
type document struct {
	name          string
	text          string
	operationName string
	variables     string   // JSON text, or ""
	only, except  []string // the servers that can answer it; all where empty
}

// body is the request as clients send it.
func (d document) body() []byte {
	var body bytes.Buffer
	body.WriteString(`{"query":`)
	body.Write(raw.Quote(d.text))
	if d.operationName != "" {
		body.WriteString(`,"operationName":`)
		body.Write(raw.Quote(d.operationName))
	}
	if d.variables != "" {
		body.WriteString(`,"variables":` + d.variables)
	}
	body.WriteByte('}')
	return body.Bytes()
}

// isFor reports whether the server can answer the document.
func (d document) isFor(server string) bool {
	return (len(d.only) == 0 || slices.Contains(d.only, server)) && !slices.Contains(d.except, server)
}

func (d document) parse(t *testing.T) *ast.QueryDocument {
	t.Helper()
	parsed, err := parser.ParseQuery(&ast.Source{Name: d.name, Input: d.text})
	if err != nil {
		t.Fatalf("%s: %v", d.name, err)
	}
	return parsed
}

// isAnsweredAnew reports whether the gateway does not forward the document as
// it is, or not at all. The locations of its errors are then another
// document's, and what stands around the JSON is its own.
func (d document) isAnsweredAnew(t *testing.T) bool {
	t.Helper()
	parsed := d.parse(t)
	return len(parsed.Operations) > 1 || strings.Contains(d.text, "__schema") || strings.Contains(d.text, "__type(") ||
		asksForTypenameOnly(parsed.Operations[0].SelectionSet, parsed.Fragments)
}

// asksForTypenameOnly: such a query is a gateway's own, whichever its server.
func asksForTypenameOnly(selection ast.SelectionSet, fragments ast.FragmentDefinitionList) bool {
	for _, selected := range selection {
		only := true
		switch selected := selected.(type) {
		case *ast.Field:
			only = selected.Name == "__typename"
		case *ast.InlineFragment:
			only = asksForTypenameOnly(selected.SelectionSet, fragments)
		case *ast.FragmentSpread:
			only = asksForTypenameOnly(fragments.ForName(selected.Name).SelectionSet, fragments)
		}
		if !only {
			return false
		}
	}
	return true
}

// readCorpus reads the documents in a folder of corpus/. Each has a line with
// its name before it, and perhaps lines with what goes with it:
//
//	### name
//	#? operationName: Name
//	#? variables: {"as": "JSON"}
//	#? only: yoga, apollo
//	#? except: gqlgen
func readCorpus(t *testing.T, folder string) (documents []document) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("corpus", folder, "*.graphql"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("%v, %d files in corpus/%s", err, len(paths), folder)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		theme := strings.TrimSuffix(filepath.Base(path), ".graphql")
		for _, part := range strings.Split("\n"+string(text), "\n### ")[1:] {
			documents = append(documents, readDocument(t, theme, part))
		}
	}
	return documents
}

func readDocument(t *testing.T, theme, part string) document {
	t.Helper()
	name, rest, _ := strings.Cut(part, "\n")
	d := document{name: theme + ": " + name}
	for strings.HasPrefix(rest, "#? ") {
		var line string
		line, rest, _ = strings.Cut(rest, "\n")
		key, value, _ := strings.Cut(strings.TrimPrefix(line, "#? "), ": ")
		switch key {
		case "operationName":
			d.operationName = value
		case "variables":
			if d.variables = value; !json.Valid([]byte(value)) {
				t.Fatalf("%s: its variables are no JSON", d.name)
			}
		case "only":
			d.only = strings.Split(value, ", ")
		case "except":
			d.except = strings.Split(value, ", ")
		default:
			t.Fatalf("%s: %q is unknown", d.name, key)
		}
	}
	d.text = strings.TrimRight(rest, "\n")
	return d
}
