package auth

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestTheVerifierBelievesWhatMintSigned(t *testing.T) {
	t.Parallel()
	dotted := theIssuer()
	dotted.Claims = Claims{Roles: "https://acme.example/roles", Extra: []string{"a", "a.b", "tenant.name"}}
	tests := map[string]struct {
		issuer Issuer
		extra  map[string]json.RawMessage
	}{
		"Nested": {theIssuer(), map[string]json.RawMessage{"limits.credit": json.RawMessage(`1.10`)}},
		"InEachOthersWay": {dotted, map[string]json.RawMessage{
			"a": json.RawMessage(`1`), "a.b": json.RawMessage(`[2]`),
		}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			now := time.Now().Truncate(time.Second).UTC()
			sc := SecurityContext{
				Subject: "ada", Tenant: "acme", Roles: []string{"editor", "a b"}, Scopes: []string{"read", "write"}, Extra: test.extra,
			}
			token, err := Mint(test.issuer, sc, time.Hour, now)
			if err != nil {
				t.Fatal(err)
			}
			got, err := newVerifier(t, true, test.issuer).Verify(t.Context(), token)
			if err != nil {
				t.Fatal(err)
			}
			sc.Issuer, sc.IssuedAt, sc.ExpiresAt = test.issuer.Issuer, now, now.Add(time.Hour)
			if diff := cmp.Diff(sc, got); diff != "" {
				t.Fatal(diff)
			}
		})
	}
}

func TestMintRefuses(t *testing.T) {
	t.Parallel()
	short := theIssuer()
	short.HS256Secret = []byte("too short a secret")
	long := SecurityContext{Subject: "ada", Roles: []string{strings.Repeat("r", maxToken)}}
	for name, mint := range map[string]func() (string, error){
		"ShortSecret": func() (string, error) { return Mint(short, SecurityContext{Subject: "ada"}, time.Hour, time.Now()) },
		"NoSubject":   func() (string, error) { return Mint(theIssuer(), SecurityContext{}, time.Hour, time.Now()) },
		"NoTime":      func() (string, error) { return Mint(theIssuer(), SecurityContext{Subject: "ada"}, 0, time.Now()) },
		"TooLong":     func() (string, error) { return Mint(theIssuer(), long, time.Hour, time.Now()) },
	} {
		if token, err := mint(); err == nil || token != "" || strings.Contains(err.Error(), "too short a secret") {
			t.Errorf("%s: got %q and %v", name, token, err)
		}
	}
}
