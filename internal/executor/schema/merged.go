package schema

import "github.com/vektah/gqlparser/v2/ast"

// Merged is the schema that the clients of one tenant see, and which side
// serves what of it. It is safe for concurrent use and must not be changed.
type Merged struct {
	Schema *ast.Schema

	roots map[ast.Operation]string
	// gateway holds the root fields that the gateway serves.
	gateway map[ast.Operation]map[string]bool
}

// IsGatewayField reports whether the gateway serves a root field: one of its
// own, __schema or __type. __typename is neither side's.
func (m *Merged) IsGatewayField(operation ast.Operation, field string) bool {
	return m.gateway[operation][field]
}

// IsRoot reports whether a type is the root of any kind of operation.
func (m *Merged) IsRoot(typeName string) bool {
	for _, root := range m.roots {
		if root == typeName {
			return true
		}
	}
	return false
}

// RootName is the name of an operation's root type, "" where it has none.
func (m *Merged) RootName(operation ast.Operation) string { return m.roots[operation] }
