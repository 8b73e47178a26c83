package gqlgen

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"asyncgate/test/upstreams/gqlgen/generated"
)

type mutation struct{}

func (mutation) Save(_ context.Context, input generated.ProductInput) (*generated.SavePayload, error) {
	saved := &generated.Product{
		ID: "new-" + input.Name, Name: &input.Name, Color: input.Color, Price: input.Price, Stock: 0,
		Tags: input.Tags, Attributes: input.Attributes, Code: "C",
	}
	if saved.Price == nil {
		saved.Price = json.Number("0.0")
	}
	for _, size := range input.Sizes {
		saved.Sizes = append(saved.Sizes, &generated.Size{Width: size.Width, Height: size.Height, Unit: valueOf(size.Unit)})
	}
	return &generated.SavePayload{Product: saved, Input: input, Query: &generated.Query{}}, nil
}

func (m mutation) SaveAll(ctx context.Context, inputs []*generated.ProductInput) ([]*generated.SavePayload, error) {
	saved := make([]*generated.SavePayload, len(inputs))
	for i, input := range inputs {
		if input.Name == "bad" {
			fail(ctx, i, brokenError{"bad", map[string]any{"code": "BAD"}})
			continue
		}
		saved[i], _ = m.Save(ctx, *input)
	}
	return saved, nil
}

// fail is an error of one element of the list that is resolved.
func fail(ctx context.Context, i int, err error) {
	failed := present(ctx, err)
	failed.Path = append(append(ast.Path{}, graphql.GetPath(ctx)...), ast.PathIndex(i))
	graphql.AddError(ctx, failed)
}

func (mutation) Remove(_ context.Context, id string) (*string, error) {
	if open().node(id) == nil {
		return nil, nil
	}
	return &id, nil
}

func (mutation) Echo(context.Context) (*generated.Echo, error) { return &generated.Echo{}, nil }

func (mutation) Refuse(_ context.Context, code string, _ *bool) (*generated.SavePayload, error) {
	return nil, brokenError{"refused", map[string]any{"code": code}}
}

func (mutation) MustFail(context.Context) (*generated.SavePayload, error) {
	return nil, brokenError{"nothing was saved", map[string]any{"code": "HARD", "at": []any{1, nil, map[string]any{"deep": json.Number("1.10")}}}}
}

func (m mutation) Partly(ctx context.Context, names []string) ([]*generated.Product, error) {
	products := make([]*generated.Product, len(names))
	for i, name := range names {
		if strings.HasPrefix(name, "bad") {
			fail(ctx, i, brokenError{name + " is bad", map[string]any{"code": "BAD_NAME", "name": name}})
			continue
		}
		payload, err := m.Save(ctx, generated.ProductInput{Name: name, Color: new(generated.ColorRed)})
		if err != nil {
			return nil, err
		}
		products[i] = payload.Product
	}
	return products, nil
}

func (mutation) Fragile(context.Context) (*generated.Fragile, error) { return newFragile(1), nil }
