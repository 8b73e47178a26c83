package server

import (
	"strings"
	"testing"
)

func TestAnIdempotencyKeyIsAStringOrAToken(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("k", maxKey)
	for header, want := range map[string]string{
		`"8e03978e-40d5-43e8"`: "8e03978e-40d5-43e8",
		`"a \"b\" \\ c, d"`:    `a "b" \ c, d`,
		`8e03978e-40d5-43e8`:   "8e03978e-40d5-43e8",
		`order:17/a`:           "order:17/a",
		`"` + long + `"`:       long,
		long:                   long,
	} {
		if got, err := parseIdempotencyKey([]string{header}); err != nil || *got != want {
			t.Errorf("%s: %v, %v", header, got, err)
		}
	}
	for _, header := range []string{
		``, `""`, `"`, `"a`, `a"`, `"a" b`, `"a";p=1`, `"a", "b"`, `a, b`, `a b`, `"\n"`, `"a\"`, "\"\u00e9\"", "\u00e9", "\"a\tb\"",
		`"` + long + `k"`, long + "k", `:YWJj:=`, `(a)`, `'` + "\x7f",
	} {
		if got, err := parseIdempotencyKey([]string{header}); err == nil {
			t.Errorf("%q: %q", header, *got)
		}
	}
	if got, err := parseIdempotencyKey([]string{"a", "a"}); err == nil {
		t.Errorf("two of them: %q", *got)
	}
	if got, err := parseIdempotencyKey(nil); got != nil || err != nil {
		t.Errorf("none: %v, %v", got, err)
	}
}

// Whatever is taken is a key that can be stored, and is what its quoted form
// says.
func FuzzIdempotencyKey(f *testing.F) {
	for _, seed := range []string{`"a"`, `a`, `"a\"b\\"`, `"a`, "\"\x00\"", ""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, header string) {
		key, err := parseIdempotencyKey([]string{header})
		if err != nil {
			return
		}
		if len(*key) < 1 || len(*key) > maxKey || strings.IndexFunc(*key, func(c rune) bool { return c < 0x20 || c > 0x7e }) >= 0 {
			t.Fatalf("%q is the key %q", header, *key)
		}
		quoted := `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(*key) + `"`
		if again, err := parseIdempotencyKey([]string{quoted}); err != nil || *again != *key {
			t.Fatalf("%q is the key %q, and %s is not: %v", header, *key, quoted, err)
		}
	})
}
