package schema

import (
	"errors"
	"fmt"

	"github.com/vektah/gqlparser/v2/ast"
)

// document converts a schema. An error says where in the schema it is wrong.
func (i *introspection) document() (*ast.SchemaDocument, error) {
	roots, err := i.roots()
	if err != nil {
		return nil, err
	}
	definitions, err := each(i.Types, introspectedType.definition)
	if err != nil {
		return nil, err
	}
	directives, err := each(i.Directives, introspectedDirective.definition)
	if err != nil {
		return nil, err
	}
	return &ast.SchemaDocument{
		Schema:      ast.SchemaDefinitionList{{Description: i.Description, OperationTypes: roots}},
		Definitions: definitions,
		Directives:  directives,
	}, nil
}

func (i *introspection) roots() (ast.OperationTypeDefinitionList, error) {
	if i.QueryType == nil {
		return nil, errors.New("it has no query root type")
	}
	roots := ast.OperationTypeDefinitionList{{Operation: ast.Query, Type: i.QueryType.Name}}
	if i.MutationType != nil {
		roots = append(roots, &ast.OperationTypeDefinition{Operation: ast.Mutation, Type: i.MutationType.Name})
	}
	if i.SubscriptionType != nil {
		roots = append(roots, &ast.OperationTypeDefinition{Operation: ast.Subscription, Type: i.SubscriptionType.Name})
	}
	return roots, nil
}

func (t introspectedType) definition() (*ast.Definition, error) {
	def := &ast.Definition{Kind: t.Kind, Name: t.Name, Description: t.Description}
	var err error
	switch t.Kind {
	case ast.Scalar:
		if t.SpecifiedByURL != nil {
			def.Directives = ast.DirectiveList{apply("specifiedBy", "url", *t.SpecifiedByURL)}
		}
	case ast.Object, ast.Interface:
		def.Interfaces = names(t.Interfaces)
		def.Fields, err = each(t.Fields, introspectedField.definition)
	case ast.Union:
		def.Types = names(t.PossibleTypes)
	case ast.Enum:
		def.EnumValues, err = each(t.EnumValues, introspectedValue.definition)
	case ast.InputObject:
		if t.IsOneOf {
			def.Directives = ast.DirectiveList{{Name: "oneOf"}}
		}
		def.Fields, err = each(t.InputFields, introspectedInput.field)
	default:
		err = fmt.Errorf("%q is no kind of type", t.Kind)
	}
	if err := errors.Join(checkName(t.Name), err); err != nil {
		return nil, fmt.Errorf("type %s: %w", t.Name, err)
	}
	return def, nil
}

func (d introspectedDirective) definition() (*ast.DirectiveDefinition, error) {
	arguments, err := each(d.Args, introspectedInput.argument)
	if err := errors.Join(checkName(d.Name), err); err != nil {
		return nil, fmt.Errorf("directive @%s: %w", d.Name, err)
	}
	for _, location := range d.Locations {
		if err := checkName(string(location)); err != nil {
			return nil, fmt.Errorf("directive @%s: location %w", d.Name, err)
		}
	}
	return &ast.DirectiveDefinition{
		Name:         d.Name,
		Description:  d.Description,
		Arguments:    arguments,
		Locations:    d.Locations,
		IsRepeatable: d.IsRepeatable,
	}, nil
}

func (f introspectedField) definition() (*ast.FieldDefinition, error) {
	arguments, err := each(f.Args, introspectedInput.argument)
	typ, typeErr := f.Type.convert()
	if err := errors.Join(checkName(f.Name), err, typeErr); err != nil {
		return nil, fmt.Errorf("field %s: %w", f.Name, err)
	}
	return &ast.FieldDefinition{
		Name:        f.Name,
		Description: f.Description,
		Arguments:   arguments,
		Type:        typ,
		Directives:  f.directives(),
	}, nil
}

func (i introspectedInput) argument() (*ast.ArgumentDefinition, error) {
	typ, typeErr := i.Type.convert()
	value, valueErr := literal(i.DefaultValue)
	if err := errors.Join(checkName(i.Name), typeErr, valueErr); err != nil {
		return nil, fmt.Errorf("input %s: %w", i.Name, err)
	}
	return &ast.ArgumentDefinition{
		Name:         i.Name,
		Description:  i.Description,
		Type:         typ,
		DefaultValue: value,
		Directives:   i.directives(),
	}, nil
}

func (i introspectedInput) field() (*ast.FieldDefinition, error) {
	argument, err := i.argument()
	if err != nil {
		return nil, err
	}
	return &ast.FieldDefinition{
		Name:         argument.Name,
		Description:  argument.Description,
		Type:         argument.Type,
		DefaultValue: argument.DefaultValue,
		Directives:   argument.Directives,
	}, nil
}

func (v introspectedValue) definition() (*ast.EnumValueDefinition, error) {
	if err := checkName(v.Name); err != nil {
		return nil, err
	}
	return &ast.EnumValueDefinition{Name: v.Name, Description: v.Description, Directives: v.directives()}, nil
}

func (d deprecation) directives() ast.DirectiveList {
	switch {
	case d.DeprecationReason != nil:
		return ast.DirectiveList{apply("deprecated", "reason", *d.DeprecationReason)}
	case d.IsDeprecated:
		return ast.DirectiveList{{Name: "deprecated"}}
	}
	return nil
}

// apply is a directive with one argument, a string.
func apply(directive, argument, value string) *ast.Directive {
	return &ast.Directive{
		Name:      directive,
		Arguments: ast.ArgumentList{{Name: argument, Value: &ast.Value{Kind: ast.StringValue, Raw: value}}},
	}
}

func names(list []typeName) []string {
	var all []string
	for _, t := range list {
		all = append(all, t.Name)
	}
	return all
}

// each converts a list, up to the first error.
func each[From, To any](list []From, one func(From) (To, error)) ([]To, error) {
	var all []To
	for _, from := range list {
		to, err := one(from)
		if err != nil {
			return nil, err
		}
		all = append(all, to)
	}
	return all, nil
}
