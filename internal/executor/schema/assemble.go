package schema

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/validator"
)

// assemble makes a schema of a document, which it takes over: adds what GraphQL
// has built in, lets the document's own version of it win, and validates.
func assemble(document *ast.SchemaDocument) (*ast.Schema, error) {
	builtin := validator.PreludeDocument()
	document.Definitions = slices.Concat(
		missing(builtin.Definitions, document.Definitions),
		own(document.Definitions, builtin.Definitions),
	)
	document.Extensions = slices.DeleteFunc(document.Extensions, introspects)
	document.Directives = append(
		standard(builtin.Directives, document.Directives),
		document.Directives...,
	)
	for i, directive := range document.Directives {
		document.Directives[i] = widen(directive, builtin.Directives.ForName(directive.Name))
	}
	schema, err := validator.ValidateSchemaDocument(document)
	if err != nil {
		return nil, located(err)
	}
	if err := separate(schema.Query, schema.Mutation, schema.Subscription); err != nil {
		return nil, err
	}
	leaveObjects(schema)
	return schema, nil
}

// missing returns the built-in definitions that the document does not replace.
// Those of introspection cannot be replaced: they are what the gateway serves.
func missing(builtin, document ast.DefinitionList) ast.DefinitionList {
	return slices.DeleteFunc(slices.Clone(builtin), func(def *ast.Definition) bool {
		replacement := document.ForName(def.Name)
		return !introspects(def) && replacement != nil && replacement.Kind == ast.Scalar
	})
}

// own returns the document's definitions less those of introspection. A scalar
// that GraphQL has built in stays built in, with the document's description.
func own(document, builtin ast.DefinitionList) ast.DefinitionList {
	scalars := map[string]bool{}
	for _, def := range builtin {
		scalars[def.Name] = def.Kind == ast.Scalar
	}
	kept := slices.DeleteFunc(slices.Clone(document), introspects)
	for _, def := range kept {
		def.BuiltIn = scalars[def.Name] && def.Kind == ast.Scalar
	}
	return kept
}

// introspects reports whether a type is reserved for introspection. Servers
// list such types of their own beside the standard ones.
func introspects(def *ast.Definition) bool { return strings.HasPrefix(def.Name, "__") }

// standard returns the built-in directives that the document does not define.
func standard(builtin, document ast.DirectiveDefinitionList) ast.DirectiveDefinitionList {
	return slices.DeleteFunc(slices.Clone(builtin), func(d *ast.DirectiveDefinition) bool {
		return document.ForName(d.Name) != nil
	})
}

// widen answers a directive with the arguments and places of the built-in one
// of that name added: older servers define @deprecated for fewer places, and
// yet deprecate arguments.
func widen(directive, builtin *ast.DirectiveDefinition) *ast.DirectiveDefinition {
	if builtin == nil || builtin == directive || !typeSystemOnly(builtin) {
		return directive
	}
	wide := *directive
	wide.Locations = slices.Clone(directive.Locations)
	for _, location := range builtin.Locations {
		if location != ast.LocationDirectiveDefinition && !slices.Contains(wide.Locations, location) {
			wide.Locations = append(wide.Locations, location)
		}
	}
	wide.Arguments = slices.Clone(directive.Arguments)
	for _, argument := range builtin.Arguments {
		if wide.Arguments.ForName(argument.Name) == nil {
			wide.Arguments = append(wide.Arguments, argument)
		}
	}
	return &wide
}

// typeSystemOnly reports whether a directive stands in schemas and never in
// requests.
func typeSystemOnly(directive *ast.DirectiveDefinition) bool {
	return !slices.ContainsFunc(directive.Locations, func(location ast.DirectiveLocation) bool {
		switch location {
		case ast.LocationQuery, ast.LocationMutation, ast.LocationSubscription, ast.LocationField,
			ast.LocationFragmentDefinition, ast.LocationFragmentSpread, ast.LocationInlineFragment,
			ast.LocationVariableDefinition:
			return true
		}
		return false
	})
}

// separate refuses one type as the root of two kinds of operation, which
// gqlparser does not.
func separate(query, mutation, subscription *ast.Definition) error {
	for _, root := range []*ast.Definition{mutation, subscription} {
		if root != nil && (root == query || mutation == subscription) {
			return fmt.Errorf("type %s is the root of two kinds of operation", root.Name)
		}
	}
	return nil
}

// leaveObjects takes out of the possible types the interfaces that implement
// another: only objects are possible at run time, and introspection says so.
func leaveObjects(schema *ast.Schema) {
	for name, possible := range schema.PossibleTypes {
		schema.PossibleTypes[name] = slices.DeleteFunc(possible, func(def *ast.Definition) bool {
			return def.Kind == ast.Interface
		})
	}
}

// located drops the place from an error that has none to name.
func located(err error) error {
	var invalid *gqlerror.Error
	if errors.As(err, &invalid) && invalid.Extensions["file"] == nil {
		return errors.New(invalid.Message)
	}
	return err
}
