package gqlgen

import (
	"context"

	"asyncgate/test/upstreams/gqlgen/generated"
)

// echo answers its arguments as gqlgen coerced them.
type echo struct{}

func (echo) Scalars(_ context.Context, _ *generated.Echo, number *int, float *float64, text *string, boolean *bool, id *string, color *generated.Color) (any, error) {
	return map[string]any{"int": number, "float": float, "string": text, "boolean": boolean, "id": id, "color": color}, nil
}

func (echo) Lists(_ context.Context, _ *generated.Echo, ints []*int, matrix [][]int, floats []float64, texts []*string, ids []string, colors []generated.Color) (any, error) {
	return map[string]any{"ints": ints, "matrix": matrix, "floats": floats, "strings": texts, "ids": ids, "colors": colors}, nil
}

func (echo) Inputs(_ context.Context, _ *generated.Echo, one map[string]any, many []map[string]any, by map[string]any, unused *int) (any, error) {
	return map[string]any{"one": one, "many": many, "by": by, "unused": unused}, nil
}

func (echo) Exact(_ context.Context, _ *generated.Echo, value, big, decimal any) (any, error) {
	return map[string]any{"json": value, "big": big, "decimal": decimal}, nil
}

func (echo) Again(context.Context, *generated.Echo) (*generated.Echo, error) {
	return &generated.Echo{}, nil
}
