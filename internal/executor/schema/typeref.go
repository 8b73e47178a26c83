package schema

import (
	"errors"
	"fmt"

	"github.com/vektah/gqlparser/v2/ast"
)

// typeRef is a type with its wrappers, outermost first.
type typeRef struct {
	Kind   string   `json:"kind"`
	Name   string   `json:"name"`
	OfType *typeRef `json:"ofType"`
}

// convert unwraps a type. A name is missing where the query asked for fewer
// wrappers than the type has.
func (t *typeRef) convert() (*ast.Type, error) {
	switch {
	case t == nil:
		return nil, fmt.Errorf("its type is missing, or has more than %d wrappers", typeDepth)
	case t.Kind == "LIST":
		elem, err := t.OfType.convert()
		return ast.ListType(elem, nil), err
	case t.Kind != "NON_NULL":
		return ast.NamedType(t.Name, nil), checkName(t.Name)
	}
	typ, err := t.OfType.convert()
	if err == nil && typ.NonNull {
		return nil, errors.New("its type is non-null twice")
	}
	if err == nil {
		typ.NonNull = true
	}
	return typ, err
}
