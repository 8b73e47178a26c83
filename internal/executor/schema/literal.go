package schema

import (
	"fmt"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"
)

// literal parses a default value as introspection writes it, a GraphQL literal;
// nil where there is none. It takes one whole literal and nothing after it.
func literal(text *string) (*ast.Value, error) {
	if text == nil || strings.TrimSpace(*text) == "" {
		return nil, nil
	}
	document, err := parser.ParseQuery(&ast.Source{Input: "query($v:T=" + *text + "\n){f}"})
	if err != nil || !single(document) {
		return nil, fmt.Errorf("its default %q is no GraphQL value", excerpt(*text))
	}
	return document.Operations[0].VariableDefinitions[0].DefaultValue, nil
}

// single reports whether a document is the frame that literal put around a
// value, unchanged by what stands in that value's place.
func single(document *ast.QueryDocument) bool {
	if len(document.Operations) != 1 || len(document.Fragments) != 0 {
		return false
	}
	operation := document.Operations[0]
	if len(operation.VariableDefinitions) != 1 || len(operation.Directives) != 0 || len(operation.SelectionSet) != 1 {
		return false
	}
	field, ok := operation.SelectionSet[0].(*ast.Field)
	return ok && len(operation.VariableDefinitions[0].Directives) == 0 &&
		field.Alias == field.Name && len(field.Arguments) == 0 && len(field.Directives) == 0 && len(field.SelectionSet) == 0
}
