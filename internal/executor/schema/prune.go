package schema

import (
	"slices"

	"github.com/vektah/gqlparser/v2/ast"
)

// prune takes out of a merged schema what gqlparser has built in and nobody
// serves: @defer and the deprecation of directives. What the upstream defines
// itself stays.
func prune(schema *ast.Schema) {
	if builtIn(schema.Directives["defer"]) {
		delete(schema.Directives, "defer")
	}
	if deprecatesDirectives(schema) {
		return
	}
	deprecated := schema.Directives["deprecated"]
	deprecated.Locations = slices.DeleteFunc(deprecated.Locations, func(location ast.DirectiveLocation) bool {
		return location == ast.LocationDirectiveDefinition
	})
	locations := schema.Types["__DirectiveLocation"]
	locations.EnumValues = slices.DeleteFunc(locations.EnumValues, func(value *ast.EnumValueDefinition) bool {
		return value.Name == string(ast.LocationDirectiveDefinition)
	})
}

// deprecatesDirectives reports whether a directive is applied, or may be, to
// the definition of another.
func deprecatesDirectives(schema *ast.Schema) bool {
	for _, directive := range schema.Directives {
		listed := !builtIn(directive) && slices.Contains(directive.Locations, ast.LocationDirectiveDefinition)
		if listed || len(directive.Directives) > 0 {
			return true
		}
	}
	return false
}
