package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const secret = "a secret of at least thirty-two bytes"

// gateway runs the command line and answers what it wrote.
func gateway(t *testing.T, args ...string) (code int, out, err string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code = run(t.Context(), args, stdio{out: &stdout, err: &stderr, env: func(name string) (string, bool) {
		return secret, name == "SECRET"
	}})
	return code, stdout.String(), stderr.String()
}

// configure writes a configuration with these issuers and upstreams.
func configure(t *testing.T, issuers, upstreams string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "gateway.yaml")
	file := "auth: {jwt: [" + issuers + "]}\n" + upstreams + "\nmutations: {pay: {}}\n"
	if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const (
	oneIssuer   = `{issuer: demo, hs256_secret: "${SECRET}"}`
	twoIssuers  = `{issuer: a, hs256_secret: "${SECRET}", tenants: [acme]}, {issuer: b, hs256_secret: "${SECRET}", tenants: [globex]}`
	oneUpstream = `upstream: {url: "http://localhost/graphql"}`
	twoTenants  = `tenants: {acme: {upstream: {url: "http://localhost/a"}}, globex: {upstream: {url: "http://localhost/b"}}}`
)

func TestUsageErrorsExitWithTwo(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{}, {"fly"}, {"token"}, {"token", "--config", "x"}, {"version", "--loud"}, {"token", "--config", "x", "--subject", "s", "--ttl", "long"},
	} {
		code, out, err := gateway(t, args...)
		if code != exitUsage || out != "" || !strings.HasPrefix(err, "gateway: ") || strings.Count(err, "\n") != 1 {
			t.Errorf("%q: got %d, %q and %q", args, code, out, err)
		}
	}
}

func TestHelpIsNoError(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"--help"}, {"token", "--help"}} {
		code, out, err := gateway(t, args...)
		if code != exitOK || !strings.Contains(out, "Usage: gateway") || err != "" {
			t.Errorf("%q: got %d, %q and %q", args, code, out, err)
		}
	}
}

func TestErrorsExitWithOneAndNameTheProgram(t *testing.T) {
	t.Parallel()
	broken := configure(t, oneIssuer, "upstream: {}")
	for _, args := range [][]string{
		{"token", "--config", "nowhere.yaml", "--subject", "ada"}, {"token", "--config", broken, "--subject", "ada"}, {"migrate", "--config", broken},
	} {
		code, out, err := gateway(t, args...)
		if code != exitFailed || out != "" || !strings.HasPrefix(err, "gateway: ") {
			t.Errorf("%q: got %d, %q and %q", args, code, out, err)
		}
	}
	if _, _, err := gateway(t, "migrate", "--config", broken); !strings.Contains(err, broken+":2: upstream.url: is missing") {
		t.Errorf("got %q", err)
	}
}

func TestVersionIsOneLine(t *testing.T) {
	t.Parallel()
	code, out, err := gateway(t, "version")
	if code != exitOK || !strings.HasPrefix(out, "asyncgate ") || strings.Count(out, "\n") != 1 || err != "" {
		t.Fatalf("got %d, %q and %q", code, out, err)
	}
}
