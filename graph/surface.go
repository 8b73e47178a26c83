package graph

import (
	"log/slog"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"asyncgate/graph/generated"
	"asyncgate/internal/executor"
)

// Surface is the gateway's own schema, executable over operations, for the
// executor to merge with each tenant's.
func Surface(operations *executor.Operations, log *slog.Logger) executor.Surface {
	resolver := &Resolver{Operations: operations}
	return executor.Surface{
		Gateway: func(merged *ast.Schema) graphql.ExecutableSchema {
			return generated.NewExecutableSchema(generated.Config{Schema: merged, Resolvers: resolver})
		},
		Present: Presenter(log),
		Recover: Recover(log),
	}
}
