// Package schema gets an upstream's schema, from a file or by introspection,
// and merges it with the gateway's own into the one that a tenant's clients see.
//
// It imports gqlparser and nothing of ours, and speaks no HTTP. Schemas that it
// is given are never written to: tenants share them.
package schema

import "errors"

var (
	// ErrInvalid: what was read is no valid GraphQL schema. The message says
	// what is wrong and, for a file, on which line.
	ErrInvalid = errors.New("invalid schema")
	// ErrAnswer: the upstream answered introspection with something else than
	// a schema. The message holds no URL and little of the upstream's text.
	ErrAnswer = errors.New("no schema from introspection")
	// ErrConflict: the upstream's schema and the gateway's define the same name
	// differently. The message names every such pair.
	ErrConflict = errors.New("the upstream's schema conflicts with the gateway's")
)
