package schema

import (
	"maps"
	"slices"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
)

// shape is what a type means to a client, written as SDL: two types of one
// shape are interchangeable. Descriptions, deprecations and order do not count.
type shape struct {
	head    string            // type Node implements Entity
	members map[string]string // fields, enum values or union members by name
}

var keywords = map[ast.DefinitionKind]string{
	ast.Scalar: "scalar", ast.Object: "type", ast.Interface: "interface",
	ast.Union: "union", ast.Enum: "enum", ast.InputObject: "input",
}

func shapeOf(def *ast.Definition) shape {
	s := shape{head: keywords[def.Kind] + " " + def.Name, members: map[string]string{}}
	if len(def.Interfaces) > 0 {
		s.head += " implements " + strings.Join(slices.Sorted(slices.Values(def.Interfaces)), " & ")
	}
	if def.Directives.ForName("oneOf") != nil {
		s.head += " @oneOf"
	}
	for _, field := range def.Fields {
		if !reserved(field) {
			s.members[field.Name] = fieldSDL(field)
		}
	}
	for _, value := range def.EnumValues {
		s.members[value.Name] = value.Name
	}
	for _, member := range def.Types {
		s.members[member] = member
	}
	return s
}

func (s shape) equal(other shape) bool {
	return s.head == other.head && maps.Equal(s.members, other.members)
}

// unlike is the shape's SDL with what other has too left out.
func (s shape) unlike(other shape) string {
	var members []string
	for _, name := range slices.Sorted(maps.Keys(s.members)) {
		if s.members[name] != other.members[name] {
			members = append(members, s.members[name])
		}
	}
	if len(members) < len(s.members) {
		members = append(members, "…")
	}
	if len(members) == 0 {
		return s.head
	}
	return s.head + " { " + strings.Join(members, " ") + " }"
}

func fieldSDL(field *ast.FieldDefinition) string {
	sdl := field.Name + argumentsSDL(field.Arguments) + ": " + field.Type.String()
	if field.DefaultValue != nil {
		sdl += " = " + field.DefaultValue.String()
	}
	return sdl
}

func directiveSDL(directive *ast.DirectiveDefinition) string {
	sdl := "directive @" + directive.Name + argumentsSDL(directive.Arguments)
	if directive.IsRepeatable {
		sdl += " repeatable"
	}
	var locations []string
	for _, location := range directive.Locations {
		locations = append(locations, string(location))
	}
	slices.Sort(locations)
	return sdl + " on " + strings.Join(locations, " | ")
}

// argumentsSDL writes arguments in the order of their names.
func argumentsSDL(arguments ast.ArgumentDefinitionList) string {
	if len(arguments) == 0 {
		return ""
	}
	var written []string
	for _, argument := range arguments {
		sdl := argument.Name + ": " + argument.Type.String()
		if argument.DefaultValue != nil {
			sdl += " = " + argument.DefaultValue.String()
		}
		written = append(written, sdl)
	}
	slices.Sort(written)
	return "(" + strings.Join(written, ", ") + ")"
}

// reserved reports whether a field is one that GraphQL adds to the query root.
func reserved(field *ast.FieldDefinition) bool { return strings.HasPrefix(field.Name, "__") }
