package conformance

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
)

// The size of what is made up. It stays within the gateway's limits, fragments
// spread again and again included.
const (
	deepest    = 5  // levels of fields
	mostFields = 50 // in a document, as it is written
)

// generator makes up one valid document.
type generator struct {
	*rand.Rand
	server    server
	schema    *ast.Schema
	variables []variable
	fragments []fragment
	names     int // given so far
	fields    int // written so far
}

// fragment is a named fragment that is written.
type fragment struct {
	name, on, text string
	levels         int
}

// makeUp makes up a document for a server with this schema. The same seed
// makes the same document.
func makeUp(s server, schema *ast.Schema, seed, n uint64) document {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, n)), server: s, schema: schema}
	operation, root := "query", schema.Query
	if g.chance(0.2) && len(s.repeatable) > 0 {
		operation, root = "mutation", schema.Mutation
	}
	selection := g.selection(root, deepest)
	d := document{name: fmt.Sprintf("made up with -seed %d, document %d", seed, n)}
	if g.chance(0.5) {
		d.operationName = "Made"
	}
	text := operation + " " + d.operationName + g.definitions() + g.directives("", 0) + " " + selection
	for _, f := range g.fragments {
		text += g.space() + "fragment " + f.name + " on " + f.on + " " + f.text
	}
	if d.operationName != "" && g.chance(0.4) { // the gateway prints such a document anew
		text += g.space() + "query Other { __typename }"
	}
	d.text, d.variables = text, g.values()
	return d
}

func (g *generator) chance(p float64) bool { return g.Float64() < p }

// name answers a name that was not there before.
func (g *generator) name(prefix string) string {
	g.names++
	return fmt.Sprintf("%s%d", prefix, g.names)
}

// space is what may stand between two parts of a document.
func (g *generator) space() string { return pick(g, " ", "\n", "\n\t", ", ", "  # a comment\n") }

// selection selects from a type, at most this many levels deep.
func (g *generator) selection(on *ast.Definition, levels int) string {
	parts := g.ofFields(on, levels)
	if on.IsAbstractType() {
		parts = append(parts, g.ofPossibleTypes(on, levels)...)
	}
	if on.Name != g.schema.Query.Name && g.chance(0.2) || len(parts) == 0 {
		parts = append(parts, "__typename")
	}
	if g.chance(0.15) {
		parts = append(parts, g.spread(on, levels))
	}
	g.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
	return "{" + g.space() + strings.Join(parts, g.space()) + " }"
}

func (g *generator) ofFields(on *ast.Definition, levels int) (parts []string) {
	var fields []*ast.FieldDefinition
	for _, field := range on.Fields {
		leaf := g.schema.Types[field.Type.Name()].IsLeafType()
		if !strings.HasPrefix(field.Name, "__") && (leaf || levels > 1) && g.server.repeats(on, field) {
			fields = append(fields, field)
		}
	}
	g.Shuffle(len(fields), func(i, j int) { fields[i], fields[j] = fields[j], fields[i] })
	for _, field := range fields[:min(len(fields), 1+g.IntN(4))] {
		if g.fields < mostFields {
			parts = append(parts, g.field(field, levels, g.chance(0.15)))
		}
	}
	return parts
}

// field selects one field. One with arguments always has an alias, so that it
// never meets another of its name.
func (g *generator) field(field *ast.FieldDefinition, levels int, alias bool) string {
	g.fields++
	arguments := g.arguments(field.Arguments)
	text := field.Name
	if alias || len(field.Arguments) > 0 {
		text = g.name("f") + pick(g, ": ", ":") + text
	}
	text += arguments + g.directives(ast.LocationField, 0.1)
	if typ := g.schema.Types[field.Type.Name()]; !typ.IsLeafType() {
		text += " " + g.selection(typ, levels-1)
	}
	return text
}

// ofPossibleTypes selects from some of an abstract type's. Their fields have
// aliases: those of two types need not fit together.
func (g *generator) ofPossibleTypes(on *ast.Definition, levels int) (parts []string) {
	for _, typ := range g.schema.GetPossibleTypes(on) {
		if typ == g.schema.Query || g.chance(0.4) {
			continue
		}
		var fields []string
		for _, field := range typ.Fields {
			if g.schema.Types[field.Type.Name()].IsLeafType() && g.server.repeats(typ, field) && g.chance(0.4) {
				fields = append(fields, g.field(field, levels, true))
			}
		}
		if len(fields) > 0 {
			parts = append(parts, "... on "+typ.Name+g.directives(ast.LocationInlineFragment, 0.2)+" { "+strings.Join(fields, g.space())+" }")
		}
	}
	return parts
}

// spread spreads a fragment on a type: an inline one, one that is there, or a
// new one.
func (g *generator) spread(on *ast.Definition, levels int) string {
	if g.chance(0.3) {
		return pick(g, "...", "... on "+on.Name) + g.directives(ast.LocationInlineFragment, 0.2) + " " + g.selection(on, levels)
	}
	there := slices.DeleteFunc(slices.Clone(g.fragments), func(f fragment) bool { return f.on != on.Name || f.levels > levels })
	if len(there) == 0 || g.chance(0.5) {
		f := fragment{name: g.name("Part"), on: on.Name, levels: levels, text: g.selection(on, levels)}
		g.fragments = append(g.fragments, f)
		there = []fragment{f}
	}
	return "..." + pick(g, there...).name + g.directives(ast.LocationFragmentSpread, 0.2)
}

// directives are @skip and @include with this chance, and the server's own
// for a location.
func (g *generator) directives(at ast.DirectiveLocation, p float64) (text string) {
	for _, name := range []string{"skip", "include"} {
		if g.chance(p) {
			condition := pick(g, "true", "false")
			if g.chance(0.5) {
				condition = g.variable(ast.NonNullNamedType("Boolean", nil))
			}
			text += " @" + name + "(if: " + condition + ")"
		}
	}
	for _, name := range g.server.directives {
		if d := g.schema.Directives[name]; slices.Contains(d.Locations, at) && g.chance(0.05) {
			text += " @" + name + g.arguments(d.Arguments)
		}
	}
	return text
}

func (g *generator) arguments(definitions ast.ArgumentDefinitionList) string {
	var given []string
	for _, definition := range definitions {
		required := definition.Type.NonNull && definition.DefaultValue == nil
		if required || g.chance(0.5) {
			given = append(given, definition.Name+": "+g.argument(definition.Type))
		}
	}
	if len(given) == 0 {
		return ""
	}
	g.Shuffle(len(given), func(i, j int) { given[i], given[j] = given[j], given[i] })
	return "(" + strings.Join(given, pick(g, ", ", " ", ",\n")) + ")"
}

func (g *generator) argument(typ *ast.Type) string {
	if g.chance(0.4) {
		return g.variable(typ)
	}
	return g.value(typ, 2).literal(g)
}

func pick[T any](g *generator, choices ...T) T { return choices[g.IntN(len(choices))] }
