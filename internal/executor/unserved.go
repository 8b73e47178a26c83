package executor

import (
	"maps"
	"slices"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/validator/core"
)

// Unserved is a name on the allowlist that the upstream has no mutation for.
// It can never be submitted.
type Unserved struct {
	Mutation   string
	Suggestion string // a mutation of the upstream with a similar name, or ""
}

// Unserved answers the tenant's, by name.
func (t *Tenant) Unserved() []Unserved {
	var missing []Unserved
	for _, name := range slices.Sorted(maps.Keys(t.allowlist)) {
		if t.schema.hasMutation(name) {
			continue
		}
		gap := Unserved{Mutation: name}
		if near := core.SuggestionList(name, t.schema.mutations()); len(near) > 0 {
			gap.Suggestion = near[0]
		}
		missing = append(missing, gap)
	}
	return missing
}

// hasMutation reports whether the upstream has a mutation of that name.
func (c *composite) hasMutation(name string) bool {
	return slices.Contains(c.mutations(), name)
}

// mutations names the upstream's.
func (c *composite) mutations() []string {
	var names []string
	root := c.root(ast.Mutation)
	if root == nil {
		return nil
	}
	for _, field := range root.Fields {
		if !c.merged.IsGatewayField(ast.Mutation, field.Name) {
			names = append(names, field.Name)
		}
	}
	return names
}
