package conformance

import (
	"strconv"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"

	"asyncgate/internal/executor/raw"
)

// value is a made-up value of an input type, in both spellings.
type value struct {
	json    string
	literal func(g *generator) string // may name variables, which are then needed
}

// variable is a made-up variable of a document.
type variable struct {
	definition string
	name, json string // json is "" where none is given
}

// variable makes up a variable of this type, and answers how it is named in
// the document.
func (g *generator) variable(typ *ast.Type) string {
	v := variable{name: g.name("v")}
	v.definition = "$" + v.name + ": " + typ.String()
	if g.chance(0.3) {
		v.definition += " = " + g.constant(typ)
	}
	if typ.NonNull || g.chance(0.7) {
		v.json = g.value(typ, 2).json
	}
	g.variables = append(g.variables, v)
	return "$" + v.name
}

// constant is a literal without variables.
func (g *generator) constant(typ *ast.Type) string {
	constants := *g
	constants.variables = nil
	text := g.value(typ, 2).literal(&constants)
	if len(constants.variables) > 0 { // rare
		return g.constant(typ)
	}
	return text
}

func (g *generator) definitions() string {
	definitions := make([]string, len(g.variables))
	for i, v := range g.variables {
		definitions[i] = v.definition
	}
	if len(definitions) == 0 {
		return ""
	}
	return "(" + strings.Join(definitions, ", ") + ")"
}

// values is the variables of the request.
func (g *generator) values() string {
	var members []string
	for _, v := range g.variables {
		if v.json != "" {
			members = append(members, string(raw.Quote(v.name))+": "+v.json)
		}
	}
	if len(members) == 0 {
		return pick(g, "", "null", "{}")
	}
	return "{" + strings.Join(members, ",") + "}"
}

// value makes up a value. Objects nest at most this many levels.
func (g *generator) value(typ *ast.Type, levels int) value {
	definition := g.schema.Types[typ.Name()]
	switch {
	case !typ.NonNull && (g.chance(0.15) || levels == 0 && definition.Kind == ast.InputObject):
		return same("null")
	case typ.Elem != nil:
		return g.list(typ.Elem, levels)
	case definition.Kind == ast.Enum:
		name := definition.EnumValues[g.IntN(len(definition.EnumValues))].Name
		return value{json: strconv.Quote(name), literal: written(name)}
	case definition.Kind == ast.InputObject:
		return g.object(definition, levels)
	default:
		return g.scalar(definition.Name)
	}
}

func (g *generator) list(elem *ast.Type, levels int) value {
	elements := make([]value, g.IntN(4))
	texts := make([]string, len(elements))
	for i := range elements {
		elements[i] = g.value(elem, levels)
		texts[i] = elements[i].json
	}
	return value{json: "[" + strings.Join(texts, ",") + "]", literal: func(g *generator) string {
		for i, element := range elements {
			texts[i] = element.literal(g)
		}
		return "[" + strings.Join(texts, ", ") + "]"
	}}
}

func (g *generator) object(definition *ast.Definition, levels int) value {
	fields := g.someOf(definition)
	values := make([]value, len(fields))
	texts := make([]string, len(fields))
	oneOf := definition.Directives.ForName("oneOf") != nil
	for i, field := range fields {
		typ := *field.Type
		typ.NonNull = typ.NonNull || oneOf
		values[i] = g.value(&typ, max(levels-1, 0))
		texts[i] = string(raw.Quote(field.Name)) + ":" + values[i].json
	}
	return value{json: "{" + strings.Join(texts, ", ") + "}", literal: func(g *generator) string {
		for i, field := range fields {
			if !oneOf && g.chance(0.15) {
				texts[i] = field.Name + ": " + g.variable(field.Type)
			} else {
				texts[i] = field.Name + ": " + values[i].literal(g)
			}
		}
		return "{" + strings.Join(texts, ", ") + "}"
	}}
}

// someOf picks fields of an input: all that it must have, or one of them.
func (g *generator) someOf(definition *ast.Definition) (fields []*ast.FieldDefinition) {
	if definition.Directives.ForName("oneOf") != nil {
		return []*ast.FieldDefinition{pick(g, definition.Fields...)}
	}
	for _, field := range definition.Fields {
		if field.Type.NonNull && field.DefaultValue == nil || g.chance(0.4) {
			fields = append(fields, field)
		}
	}
	return fields
}

func (g *generator) scalar(name string) value {
	switch name {
	case "Int":
		return same(pick(g, "0", "1", "2", "3", "7", "40"))
	case "Float":
		return same(pick(g, "0", "1", "-1.5", "1.10", "2.5e3", "1E-7", "12345.678901"))
	case "Boolean":
		return same(pick(g, "true", "false"))
	case "ID":
		return text(pick(g, g.server.ids...))
	case "String":
		return text(pick(g, "", "a", "e", "Wheel", "Nut", "é 漢字 \U0001F680", "\"quoted\" \\ back", "<b>&'", "tab\tline\nreturn\r", "\u2028 \u2029", "nul\x7f", "bad", "{ $x }"))
	}
	return pick(g, g.server.scalars[name]...)
}

// written is a literal that is always the same.
func written(text string) func(*generator) string { return func(*generator) string { return text } }

// same is a value with one spelling.
func same(spelling string) value { return value{json: spelling, literal: written(spelling)} }

// text is a string: JSON's escapes are GraphQL's.
func text(s string) value {
	return value{json: string(raw.Quote(s)), literal: func(g *generator) string {
		if !strings.ContainsAny(s, "\r\t\n\"\\\x7f") && s == strings.TrimSpace(s) && g.chance(0.2) {
			return `"""` + s + `"""`
		}
		return string(raw.Quote(s))
	}}
}
