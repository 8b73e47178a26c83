package gqlgen

import (
	"encoding/json"
	"slices"

	"asyncgate/test/upstreams/gqlgen/generated"
)

// shop is what there is. Nothing changes it.
type shop struct {
	products []*generated.Product
	bundles  []*generated.Bundle
	makers   []*generated.Maker
}

func open() shop {
	ada := &generated.Maker{ID: "m1", Name: new("Ada & Söhne")}
	nameless := &generated.Maker{ID: "m2", Boss: ada}
	products := []*generated.Product{
		{
			ID: "p1", Name: new("Wheel"), Color: new(generated.ColorRed), Price: json.Number("1.10"), Maker: ada, Code: "C-p1",
			Stock: json.Number("9007199254740993"), Tags: []*string{new("round"), nil, new("")},
			Sizes: []*generated.Size{
				{Width: 1.5, Height: new(2.0), Unit: generated.UnitMm},
				{Width: 1e21, Unit: generated.UnitCm},
			},
			Attributes: map[string]any{"z": 1, "a": map[string]any{"2": nil, "1": 1.5}, "list": []any{[]any{}, nil}, "text": "<b>&\u2028"},
		},
		{
			ID: "p2", Name: new(`Bolt "M8"`), Color: new(generated.ColorGreen), Price: json.Number("0.000000000000000000001"),
			Maker: nameless, Code: "C-p2", Stock: 7,
		},
		{
			ID: "p3", Name: new("Nut \U0001F680"), Color: new(generated.ColorBlue), Price: json.Number("123456789012345678901234567890.5"),
			Code: "C-p3", Stock: json.Number("-123456789012345678901234567890"), Tags: []*string{},
		},
		{ID: "p4", Price: json.Number("-0.0E+400"), Maker: ada, Code: "C-p4", Stock: 0, Attributes: []any{}},
	}
	bundle := &generated.Bundle{ID: "b1", Name: new("Everything"), Price: json.Number("1E2"), Products: products}
	return shop{products: products, bundles: []*generated.Bundle{bundle}, makers: []*generated.Maker{ada, nameless}}
}

// node is the thing with this id, nil where there is none.
func (s shop) node(id string) generated.Node {
	for _, product := range s.products {
		if product.ID == id {
			return product
		}
	}
	for _, maker := range s.makers {
		if maker.ID == id {
			return maker
		}
	}
	if id == s.bundles[0].ID {
		return s.bundles[0]
	}
	return nil
}

func (s shop) priced() []generated.Priced {
	var priced []generated.Priced
	for _, product := range s.products {
		priced = append(priced, product)
	}
	return append(priced, s.bundles[0])
}

func (s shop) find(f filter) []*generated.Product {
	found := []*generated.Product{}
	for _, product := range s.products {
		if f.matches(product) {
			found = append(found, product)
		}
	}
	return found
}

func upTo(first *int, products []*generated.Product) []*generated.Product {
	if first == nil {
		return products
	}
	return products[:min(max(*first, 0), len(products))]
}

// filter is the input ProductFilter.
type filter struct {
	Color  *generated.Color  `json:"color"`
	Colors []generated.Color `json:"colors"`
	Names  []string          `json:"names"`
	Not    *filter           `json:"not"`
	Any    []filter          `json:"any"`
}

// filterOf reads an input as gqlgen made it.
func filterOf(input map[string]any) (filter, error) {
	var f filter
	text, err := json.Marshal(input)
	if err != nil {
		return f, err
	}
	err = json.Unmarshal(text, &f)
	return f, err
}

func (f filter) matches(product *generated.Product) bool {
	color, name := valueOf(product.Color), valueOf(product.Name)
	switch {
	case f.Color != nil && *f.Color != color,
		f.Colors != nil && !slices.Contains(f.Colors, color),
		f.Names != nil && !slices.Contains(f.Names, name),
		f.Not != nil && f.Not.matches(product),
		f.Any != nil && !slices.ContainsFunc(f.Any, func(one filter) bool { return one.matches(product) }):
		return false
	}
	return true
}

func valueOf[T any](pointer *T) (value T) {
	if pointer != nil {
		value = *pointer
	}
	return value
}

func theValues() *generated.Values {
	return &generated.Values{
		Big:       json.Number("9007199254740993"),
		Bigs:      []any{json.Number("-123456789012345678901234567890"), nil, 7},
		Decimal:   json.Number("1.10"),
		Exponent:  json.Number("-0.0E+400"),
		Int:       -2147483648,
		Float:     1e-7,
		Yes:       true,
		Text:      "nul \x00 <b>&\"quotes\" \\ \U0001F680 \u2028 \u2029 end",
		EmptyList: []string{},
		Nulls:     []*string{nil, new("x"), nil},
		Matrix:    [][]int{{1, 2}, {}, {3}},
		JSON:      json.RawMessage(`{"z":1,"a":{"2":null,"1":1.0},"":9007199254740993,"z":2,"e":[[[]],{}]}`),
		EmptyJSON: map[string]any{},
	}
}
