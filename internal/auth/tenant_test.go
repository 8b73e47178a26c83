package auth

import (
	"regexp"
	"strings"
	"testing"
)

var tenantGrammar = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)

func FuzzValidTenantIsTheGrammar(f *testing.F) {
	for _, seed := range []string{
		"", "a", "acme", "a-b", "-a", "a-", "A", "a.b", "a\n", "ä", "*", strings.Repeat("a", 63), strings.Repeat("a", 64),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, name string) {
		// `$` also matches before a final line break in some dialects, not in Go's.
		if got, want := ValidTenant(name), tenantGrammar.MatchString(name); got != want {
			t.Fatalf("%q: got %v, want %v", name, got, want)
		}
	})
}
