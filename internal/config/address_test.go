package config

import (
	"strings"
	"testing"
)

// A name that fits the grammar must reach no host or service but those that
// are meant for tenants.
func TestWhereTheTenantMayStandInAURL(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"http://{tenant}.api.internal/graphql":        "",
		"https://{tenant}.api.internal.:8443/":        "",
		"https://api-{tenant}.eu.example.org":         "",
		"http://127.0.0.1:9001/{tenant}/graphql":      "",
		"http://localhost/of-{tenant}?x=1":            "",
		"http://[::1]:80/{tenant}":                    "",
		"http://{tenant}.a.b/{tenant}/{tenant}":       "",
		"http://api.internal/graphql":                 "must have {tenant}",
		"http://{tenant}/graphql":                     "may have {tenant} only",
		"http://{tenant}:80/graphql":                  "may have {tenant} only",
		"http://{tenant}.internal/graphql":            "may have {tenant} only",
		"http://{tenant}.internal./graphql":           "may have {tenant} only",
		"http://api.{tenant}.internal/graphql":        "may have {tenant} only",
		"http://api.internal.{tenant}/graphql":        "may have {tenant} only",
		"http://{tenant}.{tenant}.internal/graphql":   "may have {tenant} only",
		"http://{tenant}.0.0.1/graphql":               "may have {tenant} only",
		"http://{tenant}.api.internal:80/?t={tenant}": "may have {tenant} only",
		"http://api.internal?t={tenant}":              "may have {tenant} only",
		"http://a.b.c:{tenant}/":                      "must be an absolute",
		"{tenant}://a.b.c/":                           "must be an absolute",
		"http://{tenant}@a.b.c/":                      "must not hold a user",
		"http://a.b.c/#{tenant}":                      "must not have a fragment",
		"http://{tenants}.b.c/{tenant}":               "must be an absolute",
	} {
		if got := addressFault(address, true); !strings.HasPrefix(got, want) || (got == "") != (want == "") {
			t.Errorf("%s: got %q, want %q", address, got, want)
		}
		if strings.Contains(address, tenantPlace) && addressFault(address, false) == "" {
			t.Errorf("%s: is taken for one upstream", address)
		}
	}
}

func TestAnonymousIsForTheGatewayWithoutTenants(t *testing.T) {
	t.Parallel()
	const jwt, allow = "auth: {anonymous: true, jwt: [{issuer: demo, hs256_secret: \"${ASYNCGATE_SECRET}\"}]}\n", "mutations: {pay: {}}\n"
	c, err := Parse([]byte(jwt+allow+"upstream: {url: \"http://localhost\"}\n"), "", environment)
	if err != nil || !c.Anonymous {
		t.Errorf("got %v", err)
	}
	_, err = Parse([]byte(jwt+allow+"tenants: {acme: {upstream: {url: \"http://localhost\"}}}\n"), "", environment)
	if err == nil || !strings.Contains(err.Error(), "1: auth.anonymous: cannot be true beside tenants") {
		t.Errorf("got %v", err)
	}
}
