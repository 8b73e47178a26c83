package schema

import (
	"slices"

	"github.com/vektah/gqlparser/v2/ast"
)

// defaultReason is what @deprecated says where it says nothing.
const defaultReason = "No longer supported"

// detach copies a definition as far as validation writes to it: the definition
// itself, its list of fields, and every directive applied in it. What carries
// no directive is shared with the original.
func detach(def *ast.Definition) *ast.Definition {
	detached := *def
	detached.Interfaces = slices.Clone(def.Interfaces)
	detached.Directives = detachDirectives(def.Directives)
	detached.Fields = detachEach(def.Fields, detachField)
	detached.EnumValues = detachEach(def.EnumValues, detachValue)
	return &detached
}

func detachDirective(def *ast.DirectiveDefinition) *ast.DirectiveDefinition {
	detached := *def
	detached.Directives = detachDirectives(def.Directives)
	detached.Arguments = detachEach(def.Arguments, detachArgument)
	return &detached
}

func detachField(field *ast.FieldDefinition) *ast.FieldDefinition {
	if len(field.Directives) == 0 && !slices.ContainsFunc(field.Arguments, annotated) {
		return field
	}
	detached := *field
	detached.Directives = detachDirectives(field.Directives)
	detached.Arguments = detachEach(field.Arguments, detachArgument)
	return &detached
}

func detachArgument(argument *ast.ArgumentDefinition) *ast.ArgumentDefinition {
	if !annotated(argument) {
		return argument
	}
	detached := *argument
	detached.Directives = detachDirectives(argument.Directives)
	return &detached
}

func annotated(argument *ast.ArgumentDefinition) bool { return len(argument.Directives) > 0 }

func detachValue(value *ast.EnumValueDefinition) *ast.EnumValueDefinition {
	if len(value.Directives) == 0 {
		return value
	}
	detached := *value
	detached.Directives = detachDirectives(value.Directives)
	return &detached
}

// detachDirectives copies applied directives, and spells out the reason of a
// @deprecated without one: gqlgen's introspection would answer null, which
// clients read as not deprecated.
func detachDirectives(directives ast.DirectiveList) ast.DirectiveList {
	return detachEach(directives, func(directive *ast.Directive) *ast.Directive {
		if directive.Name == "deprecated" && len(directive.Arguments) == 0 {
			return apply("deprecated", "reason", defaultReason)
		}
		detached := *directive
		return &detached
	})
}

func detachEach[S ~[]E, E any](list S, one func(E) E) S {
	if list == nil {
		return nil
	}
	detached := make(S, len(list))
	for i, element := range list {
		detached[i] = one(element)
	}
	return detached
}
