package schema_test

import (
	"context"
	"testing"

	"asyncgate/internal/executor/schema"
	"asyncgate/internal/executor/schema/schematest"
)

func BenchmarkFromSDL(b *testing.B) {
	sdl := schematest.LargeSDL()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := schema.FromSDL("large.graphqls", sdl); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkFromIntrospection(b *testing.B) {
	answer := largeAnswer(b)
	b.SetBytes(int64(len(answer)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := schema.FromIntrospection(answer); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkMerge(b *testing.B) {
	upstream, err := schema.FromIntrospection(largeAnswer(b))
	if err != nil {
		b.Fatal(err)
	}
	own := gateway(b)
	b.ReportAllocs()
	for b.Loop() {
		merge(b, upstream, own)
	}
}

// largeAnswer is what introspection answers about the large schema.
func largeAnswer(b *testing.B) []byte {
	b.Helper()
	var last []byte
	post := serve(load(b, schematest.LargeSDL()))
	_, err := introspect(b.Context(), func(ctx context.Context, body []byte) (answer []byte, err error) {
		last, err = post(ctx, body)
		return last, err
	})
	if err != nil {
		b.Fatal(err)
	}
	return last
}
