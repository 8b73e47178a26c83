package executor

import (
	"encoding/json"
	"math/big"
	"strconv"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"

	"asyncgate/internal/executor/raw"
)

// checkVariables holds the variables of a submission against the types of its
// operation, by the rules of input coercion (GraphQL, October 2021, sections
// 3.5 to 3.12 and 6.1.2). gqlparser's own check reads decoded values and is
// laxer: with it, what cannot run would be stored. Errors: a RefusalError with
// GRAPHQL_VALIDATION_FAILED.
func checkVariables(schema *ast.Schema, operation *ast.OperationDefinition, variables json.RawMessage) error {
	var members []raw.Member
	if !raw.IsNull(variables) {
		var err error
		if members, err = raw.Object(variables); err != nil {
			return badInput("variables must be an object")
		}
	}
	c := coercion{schema: schema}
	for _, definition := range operation.VariableDefinitions {
		path := "$" + definition.Variable
		value, given := raw.Get(members, definition.Variable)
		if !given {
			if definition.Type.NonNull && definition.DefaultValue == nil {
				return invalid("variable %s of type %s is required", path, definition.Type)
			}
			continue
		}
		if err := c.check(path, definition.Type, value); err != nil {
			return err
		}
	}
	return nil
}

// coercion checks values against the input types of a schema.
type coercion struct{ schema *ast.Schema }

func (c coercion) check(path string, typ *ast.Type, value json.RawMessage) error {
	if raw.IsNull(value) {
		if typ.NonNull {
			return invalid("variable %s must not be null", path)
		}
		return nil
	}
	if typ.Elem != nil {
		return c.list(path, typ.Elem, value)
	}
	definition := c.schema.Types[typ.NamedType]
	switch {
	case definition == nil:
		return invalid("variable %s has the unknown type %s", path, typ.NamedType)
	case definition.Kind == ast.InputObject:
		return c.object(path, definition, value)
	case definition.Kind == ast.Enum:
		return c.enum(path, definition, value)
	default:
		return scalar(path, typ.NamedType, value)
	}
}

func (c coercion) list(path string, elem *ast.Type, value json.RawMessage) error {
	if raw.Kind(value) != '[' {
		return c.check(path, elem, value) // a single value stands for a list of one
	}
	elements, err := raw.Array(value)
	if err != nil {
		return invalid("variable %s is malformed", path)
	}
	for i, element := range elements {
		if err := c.check(path+"["+strconv.Itoa(i)+"]", elem, element); err != nil {
			return err
		}
	}
	return nil
}

func (c coercion) object(path string, definition *ast.Definition, value json.RawMessage) error {
	members, err := raw.Object(value)
	if err != nil {
		return invalid("variable %s must be an object of type %s", path, definition.Name)
	}
	for _, member := range members {
		if definition.Fields.ForName(member.Name) == nil {
			return invalid("variable %s: type %s has no field %q", path, definition.Name, member.Name)
		}
	}
	for _, field := range definition.Fields {
		given, ok := raw.Get(members, field.Name)
		if !ok {
			if field.Type.NonNull && field.DefaultValue == nil {
				return invalid("variable %s.%s of type %s is required", path, field.Name, field.Type)
			}
			continue
		}
		if err := c.check(path+"."+field.Name, field.Type, given); err != nil {
			return err
		}
	}
	if definition.Directives.ForName("oneOf") != nil && (len(members) != 1 || raw.IsNull(members[0].Value)) {
		return invalid("variable %s must have exactly one field of type %s, and not null", path, definition.Name)
	}
	return nil
}

func (c coercion) enum(path string, definition *ast.Definition, value json.RawMessage) error {
	var name string
	if json.Unmarshal(value, &name) != nil || definition.EnumValues.ForName(name) == nil {
		return invalid("variable %s must be a value of the enum %s", path, definition.Name)
	}
	return nil
}

// scalar checks the built-in scalars; a custom one takes any value, and its
// upstream has the last word.
func scalar(path, name string, value json.RawMessage) error {
	kind := raw.Kind(value)
	number := kind == '-' || (kind >= '0' && kind <= '9')
	fits := true
	switch name {
	case "Int":
		fits = number && isInteger(value, 31)
	case "Float":
		fits = number
	case "String":
		fits = kind == '"'
	case "Boolean":
		fits = kind == 't' || kind == 'f'
	case "ID":
		fits = kind == '"' || (number && isInteger(value, 0))
	}
	if !fits {
		return invalid("variable %s must be a value of type %s", path, name)
	}
	return nil
}

// isInteger reports whether a number has no fraction and, where bits is not 0,
// fits a signed integer of that many bits besides its sign.
func isInteger(value json.RawMessage, bits int) bool {
	text := strings.TrimSpace(string(value))
	if len(text) > 400 { // 1e400 and the like: no Int, and costly to expand
		return bits == 0 && !strings.ContainsAny(text, ".eE")
	}
	if !strings.ContainsAny(text, ".eE") {
		n, ok := new(big.Int).SetString(text, 10)
		return ok && (bits == 0 || fitsBits(n, bits))
	}
	f, err := strconv.ParseFloat(text, 64)
	return err == nil && f == float64(int64(f)) && (bits == 0 || fitsBits(big.NewInt(int64(f)), bits))
}

func fitsBits(n *big.Int, bits int) bool {
	limit := new(big.Int).Lsh(big.NewInt(1), uint(bits))
	return n.Cmp(limit) < 0 && n.Cmp(new(big.Int).Neg(limit)) >= 0
}
