package gqlgen

import (
	"context"
	"encoding/json"

	"github.com/99designs/gqlgen/graphql"

	"asyncgate/test/upstreams/gqlgen/generated"
)

// fragile fails where its schema says so. How deep it goes on is told by the
// length of Fine.
type fragile struct{}

func newFragile(depth int) *generated.Fragile {
	if depth <= 0 {
		return &generated.Fragile{Fine: "", Items: []*generated.Fragile{}}
	}
	return &generated.Fragile{
		Fine:      "fine"[:depth],
		Items:     []*generated.Fragile{newFragile(depth - 1), nil, newFragile(0)},
		HardItems: []*generated.Fragile{newFragile(depth - 1), newFragile(0)},
	}
}

func (fragile) Broken(context.Context, *generated.Fragile) (*string, error) {
	return nil, brokenError{"it broke", map[string]any{"code": "BROKEN", "spilled": json.Number("9007199254740993.10"), "nested": map[string]any{"nothing": nil}}}
}

func (fragile) BrokenHard(context.Context, *generated.Fragile) (string, error) {
	return "", brokenError{message: "it broke hard <&> \U0001F680"}
}

func (fragile) List(ctx context.Context, _ *generated.Fragile) ([]*string, error) {
	graphql.AddError(ctx, brokenError{"the second is lost", map[string]any{"code": "LOST"}})
	return []*string{new("a"), nil, nil}, nil
}

func (fragile) HardList(context.Context, *generated.Fragile) ([]string, error) {
	return nil, brokenError{message: "and so is the list"}
}

func (fragile) Deeper(_ context.Context, it *generated.Fragile) (*generated.Fragile, error) {
	if it.Fine == "" {
		return nil, nil
	}
	return newFragile(len(it.Fine) - 1), nil
}

func (fragile) DeeperHard(_ context.Context, it *generated.Fragile) (*generated.Fragile, error) {
	return newFragile(len(it.Fine) - 1), nil
}
