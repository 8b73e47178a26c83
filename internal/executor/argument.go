package executor

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"asyncgate/internal/executor/raw"
)

// ArgumentJSON answers the JSON value that the client gave for a place inside
// an argument of the current field, such as ("input", "variables"): its own
// bytes where it came with the request's variables, and printed digit by digit
// where it was written as a literal. It answers nil where nothing was given.
func ArgumentJSON(ctx context.Context, argument string, path ...string) json.RawMessage {
	field := graphql.GetFieldContext(ctx).Field
	arg := field.Arguments.ForName(argument)
	if arg == nil {
		return nil
	}
	return literalAt(arg.Value, path, exchangeFrom(ctx).variables)
}

// literalAt follows a path through a literal, and through the request's
// variables from where the literal is one.
func literalAt(value *ast.Value, path []string, variables json.RawMessage) json.RawMessage {
	if value.Kind == ast.Variable {
		given, ok := memberAt(variables, []string{value.Raw})
		if !ok && value.VariableDefinition != nil && value.VariableDefinition.DefaultValue != nil {
			return literalAt(value.VariableDefinition.DefaultValue, path, variables)
		}
		inside, _ := memberAt(given, path)
		return inside
	}
	if len(path) == 0 {
		return literalJSON(value, variables)
	}
	if child := value.Children.ForName(path[0]); child != nil {
		return literalAt(child, path[1:], variables)
	}
	return nil
}

func memberAt(object json.RawMessage, path []string) (json.RawMessage, bool) {
	for _, name := range path {
		members, err := raw.Object(object)
		if err != nil {
			return nil, false
		}
		var ok bool
		if object, ok = raw.Get(members, name); !ok {
			return nil, false
		}
	}
	return object, true
}

// literalJSON prints a GraphQL literal as JSON. Variables inside it keep the
// client's bytes.
func literalJSON(value *ast.Value, variables json.RawMessage) json.RawMessage {
	switch value.Kind {
	case ast.Variable:
		if given := literalAt(value, nil, variables); given != nil {
			return given
		}
		return json.RawMessage("null")
	case ast.StringValue, ast.BlockValue, ast.EnumValue:
		return raw.Quote(value.Raw)
	case ast.ListValue:
		elements := make([]json.RawMessage, len(value.Children))
		for i, child := range value.Children {
			elements[i] = literalJSON(child.Value, variables)
		}
		return writeArray(elements)
	case ast.ObjectValue:
		members := make([]raw.Member, 0, len(value.Children))
		for _, child := range value.Children {
			if child.Value.Kind == ast.Variable && literalAt(child.Value, nil, variables) == nil {
				continue // a variable that is not given leaves its field out
			}
			members = append(members, raw.Member{Name: child.Name, Value: literalJSON(child.Value, variables)})
		}
		return writeObject(members)
	default: // numbers, booleans and null are written alike in both languages
		return bytes.Clone(json.RawMessage(value.Raw))
	}
}
