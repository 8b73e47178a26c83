package e2e

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"asyncgate/internal/auth"
)

// The issuers of every configuration here.
var (
	issuerOne = auth.Issuer{Issuer: "https://one.example/", HS256Secret: []byte(secretOne)}
	issuerTwo = auth.Issuer{Issuer: "https://two.example/", HS256Secret: []byte(secretTwo)}
)

// token is the first issuer's, for an hour.
func token(t *testing.T, subject, tenant string, roles ...string) string {
	t.Helper()
	return mint(t, issuerOne, auth.SecurityContext{Subject: subject, Tenant: tenant, Roles: roles}, time.Now())
}

// mint signs a token that lives for an hour from now on.
func mint(t *testing.T, issuer auth.Issuer, who auth.SecurityContext, now time.Time) string {
	t.Helper()
	minted, err := auth.Mint(issuer, who, time.Hour, now)
	if err != nil {
		t.Fatal(err)
	}
	return minted
}

// token prints a token with the gateway's own command.
func (g configuration) token(t *testing.T, args ...string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), binary, append([]string{"token", "--config", g.path}, args...)...)
	command.Env = append(os.Environ(), g.environment()...)
	printed, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(printed))
}
