package executor

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/formatter"

	"asyncgate/internal/executor/raw"
)

// printOperation writes an operation as a document of its own, with the
// variables and fragments that it uses, and answers the names of those
// variables. The header is written here, since gqlparser's formatter drops
// directives on variable definitions.
func printOperation(oc *graphql.OperationContext, operation *ast.OperationDefinition) (document string, variables []string) {
	var w strings.Builder
	use := usage{}
	use.directives(operation.Directives)
	use.selection(operation.SelectionSet)
	w.WriteString(string(operation.Operation))
	if operation.Name != "" {
		w.WriteString(" " + operation.Name)
	}
	var definitions []string
	for _, definition := range operation.VariableDefinitions {
		if use.variables[definition.Variable] {
			definitions = append(definitions, printVariable(definition))
			variables = append(variables, definition.Variable)
		}
	}
	if len(definitions) > 0 {
		w.WriteString("(" + strings.Join(definitions, ", ") + ")")
	}
	w.WriteString(printDirectives(operation.Directives))
	anonymous := &ast.OperationDefinition{Operation: ast.Query, SelectionSet: operation.SelectionSet}
	w.WriteString(strings.TrimPrefix(format(&ast.QueryDocument{Operations: ast.OperationList{anonymous}}), string(ast.Query)))
	var fragments ast.FragmentDefinitionList
	for _, fragment := range oc.Doc.Fragments {
		if use.fragments[fragment.Name] {
			fragments = append(fragments, fragment)
		}
	}
	if len(fragments) > 0 {
		w.WriteString("\n" + format(&ast.QueryDocument{Fragments: fragments}))
	}
	return w.String(), variables
}

func format(document *ast.QueryDocument) string {
	var w strings.Builder
	formatter.NewFormatter(&w, formatter.WithIndent(" ")).FormatQueryDocument(document)
	return w.String()
}

func printVariable(definition *ast.VariableDefinition) string {
	text := "$" + definition.Variable + ": " + definition.Type.String()
	if definition.DefaultValue != nil {
		text += " = " + definition.DefaultValue.String()
	}
	return text + printDirectives(definition.Directives)
}

func printDirectives(directives ast.DirectiveList) string {
	var w strings.Builder
	for _, directive := range directives {
		w.WriteString(" @" + directive.Name)
		var arguments []string
		for _, argument := range directive.Arguments {
			arguments = append(arguments, argument.Name+": "+argument.Value.String())
		}
		if len(arguments) > 0 {
			w.WriteString("(" + strings.Join(arguments, ", ") + ")")
		}
	}
	return w.String()
}

// usage collects the variables and fragments that a selection uses.
type usage struct {
	variables map[string]bool
	fragments map[string]bool
}

func (u *usage) selection(set ast.SelectionSet) {
	for _, selected := range set {
		switch selected := selected.(type) {
		case *ast.Field:
			u.arguments(selected.Arguments)
			u.directives(selected.Directives)
			u.selection(selected.SelectionSet)
		case *ast.InlineFragment:
			u.directives(selected.Directives)
			u.selection(selected.SelectionSet)
		case *ast.FragmentSpread:
			u.directives(selected.Directives)
			u.fragment(selected.Definition)
		}
	}
}

func (u *usage) fragment(fragment *ast.FragmentDefinition) {
	if u.fragments[fragment.Name] {
		return
	}
	if u.fragments == nil {
		u.fragments = map[string]bool{}
	}
	u.fragments[fragment.Name] = true
	u.directives(fragment.Directives)
	u.selection(fragment.SelectionSet)
}

func (u *usage) directives(directives ast.DirectiveList) {
	for _, directive := range directives {
		u.arguments(directive.Arguments)
	}
}

func (u *usage) arguments(arguments ast.ArgumentList) {
	for _, argument := range arguments {
		u.value(argument.Value)
	}
}

func (u *usage) value(value *ast.Value) {
	if value.Kind == ast.Variable {
		if u.variables == nil {
			u.variables = map[string]bool{}
		}
		u.variables[value.Raw] = true
	}
	for _, child := range value.Children {
		u.value(child.Value)
	}
}

// pickVariables is the named members of the client's variables, each as
// written; nil where there are none.
func pickVariables(variables json.RawMessage, names []string) json.RawMessage {
	if raw.IsNull(variables) || len(names) == 0 {
		return nil
	}
	members, err := raw.Object(variables)
	if err != nil {
		return nil // the transport has checked it
	}
	var picked bytes.Buffer
	for _, member := range members {
		if !slices.Contains(names, member.Name) {
			continue
		}
		if picked.Len() > 0 {
			picked.WriteByte(',')
		}
		picked.Write(raw.Quote(member.Name))
		picked.WriteByte(':')
		picked.Write(member.Value)
	}
	if picked.Len() == 0 {
		return nil
	}
	return json.RawMessage("{" + picked.String() + "}")
}
