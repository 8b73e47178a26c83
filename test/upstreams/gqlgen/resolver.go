package gqlgen

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/99designs/gqlgen/graphql"

	"asyncgate/test/upstreams/gqlgen/generated"
)

// resolver resolves the root, and names who resolves the rest.
type resolver struct{}

func (resolver) Query() generated.QueryResolver       { return query{open()} }
func (resolver) Mutation() generated.MutationResolver { return mutation{} }
func (resolver) Product() generated.ProductResolver   { return product{open()} }
func (resolver) Bundle() generated.BundleResolver     { return bundle{} }
func (resolver) Maker() generated.MakerResolver       { return maker{open()} }
func (resolver) Echo() generated.EchoResolver         { return echo{} }
func (resolver) Fragile() generated.FragileResolver   { return fragile{} }
func (resolver) Tree() generated.TreeResolver         { return tree{} }

type query struct{ shop }

func (query) Shop(context.Context) (*generated.Query, error) { return &generated.Query{}, nil }

func (query) Caller(ctx context.Context) (*string, error) {
	name := graphql.GetOperationContext(ctx).Headers.Get("X-User-Id")
	if name == "" {
		return nil, nil
	}
	return &name, nil
}

func (q query) Node(_ context.Context, id string) (generated.Node, error) { return q.node(id), nil }

func (q query) Nodes(_ context.Context, ids []string) ([]generated.Node, error) {
	nodes := make([]generated.Node, len(ids))
	for i, id := range ids {
		nodes[i] = q.node(id)
	}
	return nodes, nil
}

func (q query) Product(_ context.Context, by map[string]any) (*generated.Product, error) {
	if nested, ok := by["filter"].(map[string]any); ok {
		f, err := filterOf(nested)
		if err != nil || len(q.find(f)) == 0 {
			return nil, err
		}
		return q.find(f)[0], nil
	}
	for _, product := range q.products {
		if product.ID == by["id"] || product.Name != nil && *product.Name == by["name"] {
			return product, nil
		}
	}
	return nil, nil
}

func (q query) Products(_ context.Context, input map[string]any, sort []*generated.ProductSort, first *int) ([]*generated.Product, error) {
	f, err := filterOf(input)
	if err != nil {
		return nil, err
	}
	found := q.find(f)
	slices.SortStableFunc(found, func(a, b *generated.Product) int {
		for _, by := range sort {
			order := strings.Compare(valueOf(a.Name), valueOf(b.Name))
			if by.By == generated.ProductOrderID {
				order = strings.Compare(a.ID, b.ID)
			}
			if valueOf(by.Descending) {
				order = -order
			}
			if order != 0 {
				return order
			}
		}
		return 0
	})
	return upTo(first, found), nil
}

func (q query) Search(_ context.Context, text string) ([]generated.SearchResult, error) {
	found := []generated.SearchResult{}
	for _, product := range q.products {
		if strings.Contains(valueOf(product.Name), text) {
			found = append(found, product)
		}
	}
	for _, maker := range q.makers {
		if strings.Contains(valueOf(maker.Name), text) {
			found = append(found, maker)
		}
	}
	return append(found, q.bundles[0]), nil
}

func (q query) Priced(context.Context, *float64) ([]generated.Priced, error) { return q.priced(), nil }

func (query) Values(context.Context) (*generated.Values, error) { return theValues(), nil }

func (query) Tree(_ context.Context, depth int) (*generated.Tree, error) {
	return &generated.Tree{Depth: depth}, nil
}

func (query) Echo(context.Context) (*generated.Echo, error) { return &generated.Echo{}, nil }

func (query) Fragile(context.Context) (*generated.Fragile, error) { return newFragile(2), nil }

func (query) Solid(context.Context) (*generated.Fragile, error) { return newFragile(1), nil }

func (query) Fails(_ context.Context, code *string) (*string, error) {
	return nil, brokenError{"short and stout <&>", map[string]any{"code": code, "number": json.Number("9007199254740993")}}
}

func (query) MustFail(context.Context) (string, error) {
	return "", brokenError{message: "nothing is left"}
}

func (query) Empty(context.Context) ([]*generated.Product, error) {
	return []*generated.Product{}, nil
}

func (query) None(context.Context) (*generated.Product, error) { return nil, nil }

func (query) Old(context.Context, *int) (*string, error) { return new("old"), nil }

type product struct{ shop }

func (product) Discount(_ context.Context, it *generated.Product, percent float64, _ *string) (*float64, error) {
	if it.ID == "p3" {
		return nil, nil
	}
	return new(percent / 4), nil
}

func (product) Sizes(_ context.Context, it *generated.Product, unit *generated.Unit) ([]*generated.Size, error) {
	sizes := make([]*generated.Size, len(it.Sizes))
	for i, size := range it.Sizes {
		sizes[i] = &generated.Size{Width: size.Width, Height: size.Height, Unit: cmp.Or(valueOf(unit), size.Unit)}
	}
	return sizes, nil
}

func (p product) Related(_ context.Context, it *generated.Product, first *int, where map[string]any) ([]*generated.Product, error) {
	f, err := filterOf(where)
	if err != nil {
		return nil, err
	}
	others := slices.DeleteFunc(p.find(f), func(other *generated.Product) bool { return other.ID == it.ID })
	return upTo(first, others), nil
}

type bundle struct{}

func (bundle) Discount(_ context.Context, _ *generated.Bundle, percent float64, _ *string) (*float64, error) {
	return new(percent / 4), nil
}

func (bundle) Products(_ context.Context, it *generated.Bundle) ([]*generated.Product, error) {
	return it.Products, nil
}

type maker struct{ shop }

func (m maker) Products(_ context.Context, it *generated.Maker, color *generated.Color) ([]*generated.Product, error) {
	return slices.DeleteFunc(m.find(filter{Color: color}), func(made *generated.Product) bool {
		return made.Maker == nil || made.Maker.ID != it.ID
	}), nil
}

type tree struct{}

func (tree) Left(_ context.Context, it *generated.Tree) (*generated.Tree, error) {
	return branch(it.Depth - 1), nil
}

func (tree) Right(_ context.Context, it *generated.Tree) (*generated.Tree, error) {
	return branch(it.Depth - 2), nil
}

func branch(depth int) *generated.Tree {
	if depth < 0 {
		return nil
	}
	return &generated.Tree{Depth: depth}
}
