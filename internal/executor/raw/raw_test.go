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

func TestADigestIgnoresOrderAndWhiteSpaceAlone(t *testing.T) {
	t.Parallel()
	sum := func(text string) [32]byte {
		t.Helper()
		d, err := raw.DigestOf([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return d.Sum
	}
	if sum(`{"b":[{"y":1,"x":2}],"a":null}`) != sum(` { "a" : null, "b" : [ {"x":2,"\u0079":1} ] } `) {
		t.Error("order and white space count")
	}
	different := []string{
		`{}`, `[]`, `[{}]`, `[[]]`, `[[],[]]`, `[[[]]]`, `null`, `1`, `1.0`, `"1"`, `[1,2]`, `[12]`, `[2,1]`,
		`{"a":1}`, `{"a":"1"}`, `{"a":1,"b":1}`, `{"b":1}`, `{"a":{"b":1}}`, `{"ab":1}`, `{"a":[1]}`, `{"a":1,"a":2}`, `{"a":2,"a":1}`,
	}
	seen := map[[32]byte]string{}
	for _, text := range different {
		if other, ok := seen[sum(text)]; ok {
			t.Errorf("%s and %s are one", text, other)
		}
		seen[sum(text)] = text
	}
}

func TestADigestTellsDepthAndNULKeys(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]raw.Digest{
		`1`:                      {Depth: 0},
		`{"a":[{"b":1}],"c":{}}`: {Depth: 3},
		`["\u0000"]`:             {Depth: 1},
		`[{"a\u0000":1}]`:        {Depth: 2, NULKey: true},
	} {
		got, err := raw.DigestOf([]byte(text))
		if got.Sum = [32]byte{}; err != nil || got != want {
			t.Errorf("%s: got %+v, %v", text, got, err)
		}
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
		if _, err := raw.DigestOf(text); (err == nil) != want {
			t.Fatalf("%q: its digest: %v", text, err)
		}
	})
}

func BenchmarkDigestOfADeepValue(b *testing.B) {
	text := []byte(strings.Repeat("[", 9_000) + `"` + strings.Repeat("x", 230_000) + `"` + strings.Repeat("]", 9_000))
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := raw.DigestOf(text); err != nil {
			b.Fatal(err)
		}
	}
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
