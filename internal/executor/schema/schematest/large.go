// Package schematest makes schemas for tests and benchmarks.
package schematest

import (
	"fmt"
	"strings"
)

// LargeSDL is a schema of about 3,000 types, shaped like those that are
// generated from a database.
func LargeSDL() string {
	var sdl strings.Builder
	sdl.WriteString("schema { query: query_root mutation: mutation_root }\nscalar numeric\n")
	sdl.WriteString("interface Node { id: ID! }\nenum order_by { asc desc asc_nulls_first }\n")
	var queries, mutations strings.Builder
	for i := range 600 {
		fmt.Fprintf(&sdl, "\"A row of t%d.\"\ntype t%d implements Node {\n  id: ID!\n", i, i)
		for f := range 10 {
			fmt.Fprintf(&sdl, "  \"Column %d.\"\n  f%d(limit: Int = 10, where: t%d_bool, order: [order_by!]): t%d\n", f, f, i, (i+f)%600)
		}
		fmt.Fprintf(&sdl, "}\ninput t%d_bool { and: [t%d_bool!] id: ID = \"x\" n: numeric @deprecated(reason: \"old\") }\n", i, i)
		fmt.Fprintf(&sdl, "input t%d_set { id: ID n: numeric = 1.5 }\n", i)
		fmt.Fprintf(&sdl, "type t%d_answer { rows: [t%d!]! affected: Int! }\n", i, i)
		fmt.Fprintf(&sdl, "enum t%d_column { id n created updated }\n", i)
		fmt.Fprintf(&queries, "  t%d(where: t%d_bool, distinct: [t%d_column!]): [t%d!]!\n  t%d_by_pk(id: ID!): t%d\n", i, i, i, i, i, i)
		fmt.Fprintf(&mutations, "  insert_t%d(rows: [t%d_set!]!): t%d_answer\n  delete_t%d(where: t%d_bool!): t%d_answer\n", i, i, i, i, i, i)
	}
	fmt.Fprintf(&sdl, "type query_root {\n%s}\ntype mutation_root {\n%s}\n", &queries, &mutations)
	return sdl.String()
}
