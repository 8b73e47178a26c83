package schema_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"

	"asyncgate/internal/executor/schema"
)

func TestFileMayDefineAgainWhatIsBuiltIn(t *testing.T) {
	t.Parallel()
	got := load(t, `
		"Text of the upstream's own."
		scalar String
		type __Schema { mine: Int }
		directive @deprecated(reason: String = "old", until: String) on FIELD_DEFINITION | ENUM_VALUE
		directive @specifiedBy(url: String!) on SCALAR
		directive @oneOf on INPUT_OBJECT
		directive @skip(if: Boolean!) on FIELD | FRAGMENT_SPREAD | INLINE_FRAGMENT
		input By @oneOf { id: ID, old: Int @deprecated(until: "2030") }
		type Query { a(by: By): String }`)
	if text := got.Types["String"]; text.Description != "Text of the upstream's own." || !text.BuiltIn {
		t.Errorf("String is %+v", text)
	}
	if got.Types["__Schema"].Fields.ForName("queryType") == nil {
		t.Error("the file replaced the introspection that the gateway serves")
	}
	merged := merge(t, got, gateway(t))
	if !slices.Contains(merged.Schema.Directives["deprecated"].Locations, ast.LocationInputFieldDefinition) {
		t.Error("input fields cannot be deprecated")
	}
}

func TestFileMayExtendAndNameItsRoots(t *testing.T) {
	t.Parallel()
	got := load(t, "\ufeff"+`
		schema { query: Root }
		extend schema { mutation: Change }
		type Root { a: Int }
		extend type Root { b: Color }
		enum Color { RED }
		extend enum Color { BLUE }
		type Change { c: Int }
		type Mutation { ordinary: Int }`)
	if got.Query.Name != "Root" || got.Query.Fields.ForName("b") == nil || got.Mutation.Name != "Change" {
		t.Errorf("query %v, mutation %v", got.Query, got.Mutation)
	}
	if len(got.Types["Color"].EnumValues) != 2 {
		t.Error("the enum is not extended")
	}
}

func TestFileErrorsNameTheLine(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ sdl, want string }{
		"Syntax":          {"type Query {\n  a Int }", "acme.graphqls:2:5"},
		"UndefinedType":   {"type Query {\n  a: Nope }", "acme.graphqls:2:6: Undefined type Nope"},
		"Redeclared":      {"type Query { a: Int }\ntype A { a: Int }\ntype A { b: Int }", "acme.graphqls:3:6"},
		"StringIsNoType":  {"type Query { a: Int }\ntype String { a: Int }", "acme.graphqls:2:6: Cannot redeclare type String"},
		"Broken":          {"type Query { a: Int }\ninterface I { x: Int }\ntype A implements I { y: Int }", "acme.graphqls:3:6"},
		"NoQuery":         {"type A { a: Int }", "acme.graphqls: it has no query root type"},
		"Empty":           {"", "acme.graphqls: it has no query root type"},
		"OneRootForTwo":   {"schema { query: A mutation: A }\ntype A { a: Int }", "type A is the root of two"},
		"UnknownEndpoint": {"schema {\n query: Nope }", "acme.graphqls:2:2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := schema.FromSDL("acme.graphqls", c.sdl)
			if !errors.Is(err, schema.ErrInvalid) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

// Only objects are possible at run time: an interface that implements another
// is none of its possible types.
func TestPossibleTypesAreObjects(t *testing.T) {
	t.Parallel()
	merged := merge(t, shop(t), gateway(t)).Schema
	for name, want := range map[string][]string{
		"Node": {"Subscription", "User"}, "Entity": {"User"}, "Hit": {"User", "Subscription"},
	} {
		var got []string
		for _, def := range merged.GetPossibleTypes(merged.Types[name]) {
			got = append(got, def.Name)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s may be %v, want %v", name, got, want)
		}
	}
}

func FuzzFromSDL(f *testing.F) {
	f.Add(shopSDL(f))
	f.Add("extend type Query { a: Int } directive @a(b: [Int!]! = [1]) repeatable on FIELD")
	own := gateway(f)
	f.Fuzz(func(t *testing.T, sdl string) {
		upstream, err := schema.FromSDL("fuzz.graphqls", sdl)
		if err != nil {
			if !errors.Is(err, schema.ErrInvalid) {
				t.Fatalf("%v is not ErrInvalid", err)
			}
			return
		}
		if _, err := schema.Merge(upstream, own); err != nil && !errors.Is(err, schema.ErrConflict) && !errors.Is(err, schema.ErrInvalid) {
			t.Fatal(err)
		}
	})
}
