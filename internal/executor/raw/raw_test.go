package raw_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"asyncgate/internal/executor/raw"
)

func TestMembersKeepTheirBytesAndOrder(t *testing.T) {
	t.Parallel()
	members, err := raw.Object([]byte(` { "b" : 1.10 , "a":{"x": [ 9007199254740993 ]}, "\u0062": "\u0000<" } `))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range members {
		got = append(got, m.Name+"="+string(m.Value))
	}
	want := []string{"b=1.10", `a={"x": [ 9007199254740993 ]}`, `b="\u0000<"`}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if last, _ := raw.Get(members, "b"); string(last) != `"\u0000<"` {
		t.Errorf("the last member of a name wins, got %s", last)
	}
}

func TestAnotherKindOfValueIsNotAnObject(t *testing.T) {
	t.Parallel()
	for _, text := range []string{``, `null`, `[]`, `"{}"`, `{}{}`, `{} x`, `{"a":1,}`, `{"a" 1}`, `{a:1}`, "{\"a\":\"\n\"}", "{\"a\":\"\xff\"}"} {
		if _, err := raw.Object([]byte(text)); !errors.Is(err, raw.ErrSyntax) {
			t.Errorf("%q: got %v, want ErrSyntax", text, err)
		}
	}
}

func TestNestingIsBounded(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("[", 1_000_000) + strings.Repeat("]", 1_000_000)
	if raw.Valid([]byte(deep)) {
		t.Error("a million levels were accepted")
	}
}

func TestQuoteEscapesNoMoreThanItMust(t *testing.T) {
	t.Parallel()
	if got := string(raw.Quote("<a&b>\x00\"")); got != `"<a&b>\u0000\""` {
		t.Error(got)
	}
}

// FuzzValid holds the scanner against encoding/json: the same texts are JSON,
// except that we insist on UTF-8.
func FuzzValid(f *testing.F) {
	for _, seed := range []string{`{"a":[1,2.5e-3,true,null,"\u00e9"]}`, `-0.1`, `01`, `"\x"`, ` [ ] `, `{"a":{}}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		want := json.Valid(text) && utf8.Valid(text)
		if got := raw.Valid(text); got != want {
			t.Fatalf("%q: got %v, want %v", text, got, want)
		}
	})
}

func BenchmarkObject(b *testing.B) {
	text := []byte(`{"data":{"list":[` + strings.Repeat(`{"id":"1","name":"some name here","n":12345.5},`, 20_000) + `null]}}`)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := raw.Object(text); err != nil {
			b.Fatal(err)
		}
	}
}
