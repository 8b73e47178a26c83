package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	"asyncgate/internal/auth"
	"asyncgate/internal/config"
)

func TestTheGatewayBelievesTheToken(t *testing.T) {
	t.Parallel()
	path := configure(t, twoIssuers, twoTenants)
	code, out, stderr := gateway(t, "token", "--config", path, "--subject", "ada", "--issuer", "b", "--tenant", "globex",
		"--role", "editor", "--role", "a,b", "--ttl", "10m")
	if code != exitOK || stderr != "" || strings.Count(out, "\n") != 1 {
		t.Fatalf("got %d, %q and %q", code, out, stderr)
	}
	cfg, err := config.Load(path, func(string) (string, bool) { return secret, true })
	if err != nil {
		t.Fatal(err)
	}
	verifier, err := auth.NewVerifier(cfg.Policy())
	if err != nil {
		t.Fatal(err)
	}
	caller, err := verifier.Verify(t.Context(), strings.TrimSpace(out))
	if err != nil {
		t.Fatal(err)
	}
	if caller.Issuer != "b" || caller.Subject != "ada" || caller.Tenant != "globex" || !slices.Equal(caller.Roles, []string{"editor", "a,b"}) {
		t.Errorf("got %+v", caller)
	}
	if left := time.Until(caller.ExpiresAt); left < 9*time.Minute || left > 10*time.Minute {
		t.Errorf("it lives for %v", left)
	}
}

func TestNeitherIssuerNorTenantIsNeededWhereThereIsOne(t *testing.T) {
	t.Parallel()
	code, out, stderr := gateway(t, "token", "--config", configure(t, oneIssuer, oneUpstream), "--subject", "ada")
	if code != exitOK || strings.Count(out, ".") != 2 {
		t.Fatalf("got %d, %q and %q", code, out, stderr)
	}
}

func TestATokenMayNameATenantThatTheStarStandsFor(t *testing.T) {
	t.Parallel()
	path := configure(t, oneIssuer, `tenants: {"*": {upstream: {url: "http://{tenant}.api.example/graphql"}}}`)
	for tenant, want := range map[string]int{"acme": exitOK, "*": exitFailed, "Acme": exitFailed, "a.b": exitFailed} {
		if code, _, stderr := gateway(t, "token", "--config", path, "--subject", "ada", "--tenant", tenant); code != want {
			t.Errorf("%s: got %d and %q", tenant, code, stderr)
		}
	}
}

func TestTokenSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		issuers, upstreams string
		args               []string
		want               string
	}{
		"SeveralIssuersAndNoneChosen": {twoIssuers, twoTenants, []string{"--tenant", "acme"}, "--issuer one of a, b"},
		"NoSuchIssuer":                {oneIssuer, oneUpstream, []string{"--issuer", "x"}, "no issuer x"},
		"TenantMissing":               {oneIssuer, twoTenants, nil, "--tenant one of acme, globex"},
		"TenantNotTheIssuers":         {twoIssuers, twoTenants, []string{"--issuer", "a", "--tenant", "globex"}, "does not speak for tenant globex"},
		"TenantNotConfigured":         {oneIssuer, twoTenants, []string{"--tenant", "initech"}, "does not speak for tenant initech"},
		"TenantWithoutTenancy":        {oneIssuer, oneUpstream, []string{"--tenant", "acme"}, "has no tenants"},
		"NoTimeToLive":                {oneIssuer, oneUpstream, []string{"--ttl", "0s"}, "a second or longer"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			args := append([]string{"token", "--subject", "ada", "--config", configure(t, test.issuers, test.upstreams)}, test.args...)
			code, out, stderr := gateway(t, args...)
			if code != exitFailed || out != "" || !strings.Contains(stderr, test.want) || strings.Contains(stderr, secret) {
				t.Fatalf("got %d, %q and %q, want %q", code, out, stderr, test.want)
			}
		})
	}
}

func TestAnIssuerWithoutASecretCannotSign(t *testing.T) {
	t.Parallel()
	_, err := (&tokenCommand{}).issuer([]auth.Issuer{{Issuer: "https://id.example/"}})
	if err == nil || !strings.Contains(err.Error(), "hs256_secret") {
		t.Fatalf("got %v", err)
	}
}
