package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/vektah/gqlparser/v2/ast"
)

// FromIntrospection converts the answer to an introspection query. Errors:
// ErrAnswer where it holds no schema, ErrInvalid where that schema is not valid.
func FromIntrospection(answer []byte) (*ast.Schema, error) {
	data, err := decode[struct {
		Schema *introspection `json:"__schema"`
	}](answer)
	if err != nil {
		return nil, err
	}
	if data.Schema == nil {
		return nil, unusable("it has no data.__schema")
	}
	document, err := data.Schema.document()
	if err != nil {
		return nil, invalid(err)
	}
	schema, err := assemble(document)
	if err != nil {
		return nil, invalid(err)
	}
	return schema, nil
}

// introspection is a schema as servers answer it; what they answer as null or
// do not know is empty.
type introspection struct {
	Description      string                  `json:"description"`
	QueryType        *typeName               `json:"queryType"`
	MutationType     *typeName               `json:"mutationType"`
	SubscriptionType *typeName               `json:"subscriptionType"`
	Types            []introspectedType      `json:"types"`
	Directives       []introspectedDirective `json:"directives"`
}

type typeName struct {
	Name string `json:"name"`
}

type introspectedType struct {
	Kind           ast.DefinitionKind  `json:"kind"`
	Name           string              `json:"name"`
	Description    string              `json:"description"`
	SpecifiedByURL *string             `json:"specifiedByURL"`
	IsOneOf        bool                `json:"isOneOf"`
	Fields         []introspectedField `json:"fields"`
	InputFields    []introspectedInput `json:"inputFields"`
	Interfaces     []typeName          `json:"interfaces"`
	EnumValues     []introspectedValue `json:"enumValues"`
	PossibleTypes  []typeName          `json:"possibleTypes"`
}

type introspectedField struct {
	Name        string              `json:"name"`
	Description string              `json:"description"`
	Args        []introspectedInput `json:"args"`
	Type        *typeRef            `json:"type"`
	deprecation
}

type introspectedInput struct {
	Name         string   `json:"name"`
	Description  string   `json:"description"`
	Type         *typeRef `json:"type"`
	DefaultValue *string  `json:"defaultValue"`
	deprecation
}

type introspectedValue struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	deprecation
}

type introspectedDirective struct {
	Name         string                  `json:"name"`
	Description  string                  `json:"description"`
	IsRepeatable bool                    `json:"isRepeatable"`
	Locations    []ast.DirectiveLocation `json:"locations"`
	Args         []introspectedInput     `json:"args"`
}

type deprecation struct {
	IsDeprecated      bool    `json:"isDeprecated"`
	DeprecationReason *string `json:"deprecationReason"`
}

// decode reads the data of a GraphQL response. Errors: ErrAnswer.
func decode[T any](answer []byte) (T, error) {
	var response struct {
		Data   *T            `json:"data"`
		Errors []answerError `json:"errors"`
	}
	var none T
	if len(bytes.TrimSpace(answer)) == 0 {
		return none, unusable("it is empty")
	}
	if err := json.Unmarshal(answer, &response); err != nil {
		return none, unusable("it is not what introspection answers, and begins with %q", excerpt(string(answer[:min(len(answer), excerptSource)])))
	}
	if fatal := fatalError(response.Errors, answer); fatal != nil {
		return none, unusable("it is an error, %q", excerpt(fatal.Message))
	}
	if response.Data == nil {
		return none, unusable("it has no data")
	}
	return *response.Data, nil
}

// answerError is an error beside, or in place of, the data.
type answerError struct {
	Message string `json:"message"`
	Path    []any  `json:"path"`
}

// fatalError is the first of an answer's errors without whose place the schema
// is not whole, or nil.
func fatalError(errs []answerError, answer []byte) *answerError {
	if len(errs) == 0 {
		return nil
	}
	var response struct {
		Data any `json:"data"`
	}
	_ = json.Unmarshal(answer, &response) // it was decoded before
	for i := range errs {
		if !errs[i].spares(response.Data) {
			return &errs[i]
		}
	}
	return nil
}

// spares reports whether the schema is whole without what the error is about:
// a default value that its server could not print, as graphql-js cannot where
// a custom scalar has an object for one. Only a non-null input is not whole
// without its default, since it would then be required.
func (e answerError) spares(data any) bool {
	if len(e.Path) == 0 || e.Path[len(e.Path)-1] != "defaultValue" {
		return false
	}
	input, ok := at(data, e.Path[:len(e.Path)-1]).(map[string]any)
	if !ok {
		return false
	}
	typ, ok := input["type"].(map[string]any)
	return ok && typ["kind"] != "NON_NULL"
}

// at follows a response path through decoded data. An index may be text:
// Mercurius writes it so.
func at(value any, path []any) any {
	for _, step := range path {
		switch from := value.(type) {
		case map[string]any:
			name, _ := step.(string)
			value = from[name]
		case []any:
			index, err := strconv.Atoi(fmt.Sprint(step))
			if err != nil || index < 0 || index >= len(from) {
				return nil
			}
			value = from[index]
		default:
			return nil
		}
	}
	return value
}

// invalid is ErrInvalid with what is wrong about the schema, and the way out.
func invalid(err error) error {
	return fmt.Errorf("%w: from introspection: %s; correct the upstream, or give its schema as a file", ErrInvalid, excerpt(err.Error()))
}

// unusable is ErrAnswer with what is wrong about the answer, and the way out.
func unusable(format string, args ...any) error {
	return fmt.Errorf("%w: the answer: %s; allow the gateway to introspect the upstream, or give its schema as a file",
		ErrAnswer, fmt.Sprintf(format, args...))
}
