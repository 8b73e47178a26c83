package schema

import (
	"fmt"
	"maps"
	"slices"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/validator"
)

// Merge makes one schema of an upstream's and the gateway's own, and changes
// neither. Root types keep the upstream's names, and what the upstream has comes
// first; its subscription fields are left out, since nothing serves them.
// Errors: ErrConflict, naming all that the two define differently; ErrInvalid.
func Merge(upstream, gateway *ast.Schema) (*Merged, error) {
	m := &merge{upstream: upstream, gateway: gateway, document: &ast.SchemaDocument{}}
	m.merged.roots = map[ast.Operation]string{}
	m.merged.gateway = map[ast.Operation]map[string]bool{}
	if upstream.Query == nil {
		return nil, fmt.Errorf("%w: the upstream has no query root type", ErrInvalid)
	}
	m.addRoots()
	m.addTypes()
	m.addDirectives()
	if err := m.conflicts.err(); err != nil {
		return nil, err
	}
	schema, err := assemble(m.document)
	if err != nil {
		return nil, fmt.Errorf("%w: merge with the upstream's: %w", ErrInvalid, err)
	}
	prune(schema)
	m.merged.Schema = schema
	return &m.merged, nil
}

// merge is a merge under way.
type merge struct {
	upstream, gateway *ast.Schema
	document          *ast.SchemaDocument
	conflicts         conflicts
	merged            Merged
}

// addRoots adds the root types and says in the document which they are.
func (m *merge) addRoots() {
	definition := &ast.SchemaDefinition{
		Description: m.upstream.Description,
		Directives:  detachDirectives(m.upstream.SchemaDirectives),
	}
	for _, root := range []struct {
		operation         ast.Operation
		upstream, gateway *ast.Definition
	}{
		{ast.Query, m.upstream.Query, m.gateway.Query},
		{ast.Mutation, m.upstream.Mutation, m.gateway.Mutation},
		{ast.Subscription, m.upstream.Subscription, m.gateway.Subscription},
	} {
		def := m.root(root.operation, root.upstream, root.gateway)
		if len(def.Fields) == 0 {
			continue // neither side serves such operations
		}
		m.document.Definitions = append(m.document.Definitions, def)
		definition.OperationTypes = append(definition.OperationTypes,
			&ast.OperationTypeDefinition{Operation: root.operation, Type: def.Name})
		m.merged.roots[root.operation] = def.Name
	}
	m.document.Schema = ast.SchemaDefinitionList{definition}
}

// root merges one root type; either side may lack it.
func (m *merge) root(operation ast.Operation, upstream, gateway *ast.Definition) *ast.Definition {
	def := &ast.Definition{Kind: ast.Object}
	if upstream != nil {
		def = detach(upstream)
		def.Fields = slices.DeleteFunc(def.Fields, reserved)
	}
	if operation == ast.Subscription {
		def.Fields, def.Interfaces = nil, nil
	}
	if gateway != nil {
		m.serve(operation, def, gateway)
	}
	return def
}

// serve adds the gateway's root fields to a root type, which gets a name and a
// description where the upstream has no such root.
func (m *merge) serve(operation ast.Operation, def, gateway *ast.Definition) {
	if def.Name == "" {
		def.Name, def.Description = m.free(gateway.Name), gateway.Description
	}
	served := map[string]bool{}
	for _, field := range gateway.Fields {
		served[field.Name] = true
		if reserved(field) {
			continue // validation adds them anew
		}
		theirs := def.Fields.ForName(field.Name)
		if theirs == nil {
			def.Fields = append(def.Fields, detachField(field))
		} else if fieldSDL(theirs) != fieldSDL(field) {
			m.conflicts.add(fmt.Sprintf("%s field %s", operation, field.Name), fieldSDL(theirs), fieldSDL(field))
		}
	}
	m.merged.gateway[operation] = served
}

// free answers a name for a root type that the upstream lacks: it may have an
// ordinary type of the usual name.
func (m *merge) free(name string) string {
	for m.upstream.Types[name] != nil {
		name = "Gateway" + name
	}
	return name
}

// addTypes adds all types but the roots, in the order of their names, so that
// the merged schema is the same each time.
func (m *merge) addTypes() {
	for _, name := range slices.Sorted(maps.Keys(m.upstream.Types)) {
		def := m.upstream.Types[name]
		if ours := m.gateway.Types[name]; ours != nil && !isRoot(m.gateway, ours) && !introspects(ours) {
			m.compare(def, ours)
		}
		if !isRoot(m.upstream, def) {
			m.document.Definitions = append(m.document.Definitions, detach(def))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(m.gateway.Types)) {
		if def := m.gateway.Types[name]; m.upstream.Types[name] == nil && !isRoot(m.gateway, def) {
			m.document.Definitions = append(m.document.Definitions, detach(def))
		}
	}
}

// compare adds a conflict unless two types of one name can be one: scalars
// always, others where they have the same shape.
func (m *merge) compare(upstream, gateway *ast.Definition) {
	if upstream.Kind == ast.Scalar && gateway.Kind == ast.Scalar {
		return
	}
	theirs, ours := shapeOf(upstream), shapeOf(gateway)
	if !theirs.equal(ours) {
		m.conflicts.add("type "+upstream.Name, theirs.unlike(ours), ours.unlike(theirs))
	}
}

func isRoot(schema *ast.Schema, def *ast.Definition) bool {
	return def == schema.Query || def == schema.Mutation || def == schema.Subscription
}

// addDirectives adds the directives that either side defines itself. What
// GraphQL has built in must be what it is there where requests use it.
func (m *merge) addDirectives() {
	ours := maps.Clone(m.gateway.Directives)
	for _, directive := range validator.PreludeDocument().Directives {
		ours[directive.Name] = directive
	}
	for _, name := range slices.Sorted(maps.Keys(m.upstream.Directives)) {
		theirs := m.upstream.Directives[name]
		if builtIn(theirs) {
			continue
		}
		m.document.Directives = append(m.document.Directives, detachDirective(theirs))
		if own := ours[name]; own != nil && !mayDiffer(own) && directiveSDL(theirs) != directiveSDL(own) {
			m.conflicts.add("directive @"+name, directiveSDL(theirs), directiveSDL(own))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(m.gateway.Directives)) {
		if directive := m.gateway.Directives[name]; !builtIn(directive) && m.upstream.Directives[name] == nil {
			m.document.Directives = append(m.document.Directives, detachDirective(directive))
		}
	}
}

// mayDiffer reports whether an upstream may define a built-in directive in its
// own way: those that requests do not use, and @defer, which is no standard.
func mayDiffer(directive *ast.DirectiveDefinition) bool {
	return builtIn(directive) && (typeSystemOnly(directive) || directive.Name == "defer")
}

// builtIn reports whether gqlparser brought a directive, not a schema.
func builtIn(directive *ast.DirectiveDefinition) bool {
	return directive.Position != nil && directive.Position.Src.BuiltIn
}
