package schema

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

// typeDepth is how many wrappers of a type the query reaches through, as many
// as graphql-js asks for.
const typeDepth = 9

// query asks for a whole schema. What stands in ${} is asked for only where the
// server offers it: a field as ${Type.field}, an argument as ${Type.field.argument}.
const query = `query IntrospectionQuery {
  __schema {
    ${__Schema.description}
    queryType { name }
    mutationType { name }
    subscriptionType { name }
    types { ...FullType }
    directives {
      name
      description
      ${__Directive.isRepeatable}
      locations
      args${__Directive.args.includeDeprecated} { ...InputValue }
    }
  }
}
fragment FullType on __Type {
  kind
  name
  description
  ${__Type.specifiedByURL}
  ${__Type.specifiedByUrl}
  ${__Type.isOneOf}
  fields(includeDeprecated: true) {
    name
    description
    args${__Field.args.includeDeprecated} { ...InputValue }
    type { ...TypeRef }
    isDeprecated
    deprecationReason
  }
  inputFields${__Type.inputFields.includeDeprecated} { ...InputValue }
  interfaces { name }
  enumValues(includeDeprecated: true) { name description isDeprecated deprecationReason }
  possibleTypes { name }
}
fragment InputValue on __InputValue {
  name
  description
  type { ...TypeRef }
  defaultValue
  ${__InputValue.isDeprecated}
  ${__InputValue.deprecationReason}
}
fragment TypeRef on __Type { ${TypeRef} }`

// asked are the types of introspection that grew over the years.
var asked = []string{"__Schema", "__Type", "__Field", "__InputValue", "__Directive"}

// Introspect asks a server for its schema: first, in small requests, for what
// its introspection offers, so that an old server is not asked for what it
// would refuse; then for everything. It answers what the server said, for
// FromIntrospection. post sends a JSON request body and answers the response's
// body; its errors come back wrapped, their text as it is. Other errors:
// ErrAnswer.
func Introspect(ctx context.Context, post func(ctx context.Context, body []byte) ([]byte, error)) ([]byte, error) {
	offered := map[string]bool{}
	for _, typ := range asked {
		answer, err := ask(ctx, post, fmt.Sprintf(`{ __type(name: %q) { fields { name args { name } } } }`, typ))
		if err != nil {
			return nil, err
		}
		if err := note(offered, typ, answer); err != nil {
			return nil, err
		}
	}
	return ask(ctx, post, os.Expand(query, func(place string) string { return fill(offered, place) }))
}

// ask posts one query. A request asks for one __type only: some servers take
// several for an attack.
func ask(ctx context.Context, post func(context.Context, []byte) ([]byte, error), query string) ([]byte, error) {
	body, err := json.Marshal(map[string]string{"query": query})
	if err != nil {
		return nil, err
	}
	answer, err := post(ctx, body)
	if err != nil {
		return nil, fmt.Errorf("introspect: %w", err)
	}
	return answer, nil
}

// note adds the fields of a type, and their arguments, to what is offered.
func note(offered map[string]bool, typ string, answer []byte) error {
	data, err := decode[struct {
		Type struct {
			Fields []struct {
				Name string     `json:"name"`
				Args []typeName `json:"args"`
			} `json:"fields"`
		} `json:"__type"`
	}](answer)
	for _, field := range data.Type.Fields {
		offered[typ+"."+field.Name] = true
		for _, arg := range field.Args {
			offered[typ+"."+field.Name+"."+arg.Name] = true
		}
	}
	return err
}

// fill answers what stands in a place of the query.
func fill(offered map[string]bool, place string) string {
	path := strings.Split(place, ".")
	switch {
	case place == "TypeRef":
		return strings.Repeat("kind name ofType { ", typeDepth) + "kind name" + strings.Repeat(" }", typeDepth)
	case !offered[place]:
		return ""
	case len(path) == 3:
		return "(" + path[2] + ": true)"
	}
	return path[1]
}
