package executor

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"asyncgate/internal/executor/raw"
)

// gqlparser evaluates literals with 64 bits, and fails for a number beyond
// them where a custom scalar would take it. What it would evaluate is lifted
// into a variable here, whose value keeps its digits.

// gatewayShare is the child operation, and its exchange, of the gateway's own
// fields.
func (c *composite) gatewayShare(oc *graphql.OperationContext, fields []*ast.Field, x *exchange) (*graphql.OperationContext, *exchange) {
	lifted := []raw.Member{}
	for _, field := range fields {
		field.Arguments = slices.Clone(field.Arguments) // the document is shared by the cache
		for i, argument := range field.Arguments {
			if !beyond64Bits(argument.Value) {
				continue
			}
			name := "__lifted" + strconv.Itoa(len(lifted)) // no client's: names with two underscores are reserved
			lifted = append(lifted, raw.Member{Name: name, Value: literalJSON(argument.Value, x.variables)})
			moved := *argument
			moved.Value = &ast.Value{Kind: ast.Variable, Raw: name, Position: argument.Value.Position}
			field.Arguments[i] = &moved
		}
	}
	child := childOperation(oc, fields)
	if len(lifted) == 0 {
		return child, &exchange{variables: x.variables}
	}
	given, _ := raw.Object(x.variables) // none, or an object: Begin has checked it
	child.Variables = withDecoded(oc.Variables, lifted)
	return child, &exchange{variables: writeObject(append(given, lifted...))}
}

// withDecoded is variables and the decoded members.
func withDecoded(variables map[string]any, members []raw.Member) map[string]any {
	all := map[string]any{}
	maps.Copy(all, variables)
	decoded, err := decodeVariables(writeObject(members))
	if err != nil {
		return all
	}
	maps.Copy(all, decoded)
	return all
}

// beyond64Bits reports whether a literal holds a number that gqlparser cannot
// evaluate.
func beyond64Bits(value *ast.Value) bool {
	_, err := value.Value(nil)
	return errors.Is(err, strconv.ErrRange)
}

// create is the executor's CreateOperationContext. Where it fails at the
// default of a variable, the default is given as though by the client, whose
// bytes stay as they are. Errors: a RefusalError for variables that are no
// object; else as in the list.
func (t *Tenant) create(ctx context.Context, params Params) (*graphql.OperationContext, gqlerror.List, error) {
	decoded, err := decodeVariables(params.Variables)
	if err != nil {
		return nil, nil, err
	}
	create := func(variables map[string]any) (*graphql.OperationContext, gqlerror.List) {
		return t.executor.CreateOperationContext(ctx, &graphql.RawParams{
			Query: params.Query, OperationName: params.OperationName, Variables: variables,
		})
	}
	oc, errs := create(decoded)
	if len(errs) == 0 || oc.Operation == nil || !errors.Is(errs[0], strconv.ErrRange) {
		return oc, errs, nil
	}
	defaults := []raw.Member{}
	for _, definition := range oc.Operation.VariableDefinitions {
		if _, given := decoded[definition.Variable]; !given && definition.DefaultValue != nil {
			defaults = append(defaults, raw.Member{Name: definition.Variable, Value: literalJSON(definition.DefaultValue, nil)})
		}
	}
	oc, errs = create(withDecoded(decoded, defaults))
	return oc, errs, nil
}
