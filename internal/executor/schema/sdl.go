package schema

import (
	"fmt"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"
)

// byteOrderMark begins files that some editors write.
const byteOrderMark = "\ufeff"

// FromSDL reads a schema file; name is the file's name in errors, which are
// ErrInvalid and carry file, line and column. Extensions and schema blocks
// count, and the file may define again what GraphQL has built in.
func FromSDL(name, sdl string) (*ast.Schema, error) {
	source := &ast.Source{Name: name, Input: strings.TrimPrefix(sdl, byteOrderMark)}
	document, err := parser.ParseSchema(source)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	schema, err := assemble(document)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	if schema.Query == nil {
		return nil, fmt.Errorf("%w: %s: it has no query root type; define type Query, or name another in a schema block", ErrInvalid, name)
	}
	return schema, nil
}
