package upstream

import (
	"context"
	"errors"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"asyncgate/internal/demo/upstream/catalogue"
)

// errDeclined: the card was not charged.
var errDeclined = errors.New("the card was declined")

var codes = []struct {
	err  error
	code string
}{
	{errUnauthenticated, "UNAUTHENTICATED"},
	{errDeclined, "CARD_DECLINED"},
	{catalogue.ErrInvalid, "BAD_USER_INPUT"},
}

// present gives an error the code that its clients can act on.
func present(ctx context.Context, err error) *gqlerror.Error {
	presented := graphql.DefaultErrorPresenter(ctx, err)
	for _, row := range codes {
		if errors.Is(err, row.err) {
			presented.Extensions = map[string]any{"code": row.code}
		}
	}
	return presented
}
