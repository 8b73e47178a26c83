package config

import (
	"bytes"
	"errors"
	"flag"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"asyncgate/internal/auth"
)

var update = flag.Bool("update", false, "write the golden files anew")

const canary = "canary-4fb1c2a97e6d85303b7a6c1d9e8f0a2b"

// environment has what the files in testdata read.
func environment(name string) (string, bool) {
	switch name {
	case "ASYNCGATE_SECRET", "DB_PASSWORD":
		return canary, true
	case "CONCURRENCY":
		return "32", true
	case "EMPTY":
		return "", true
	}
	return "", false
}

func TestEveryFieldIsRead(t *testing.T) {
	t.Parallel()
	got, err := Load(filepath.Join("testdata", "full.yaml"), environment)
	if err != nil {
		t.Fatal(err)
	}
	report := Mutation{MaxAttempts: 5, Timeout: 5 * time.Minute, StartWithin: 24 * time.Hour, MaxPriority: 4}
	acmeReport, acmeOnly := report, report
	acmeReport.Timeout, acmeOnly.Roles = time.Hour, []string{"editor"}
	want := &Config{
		Listen: "0.0.0.0:9000",
		Store:  Store{Postgres: "postgres://gate:" + canary + "@db.internal/asyncgate"},
		Issuers: []auth.Issuer{{
			Issuer: "https://id.example/", Audience: "asyncgate", HS256Secret: []byte(canary),
			Claims:  auth.Claims{Tenant: "org.tenant", Roles: "realm_access.roles", Extra: []string{"email", "org.plan"}},
			Tenants: []string{"*"}, Admin: true, Leeway: 5 * time.Second,
		}, {
			Issuer: "https://partner.example/", HS256Secret: []byte(canary),
			Claims: auth.Claims{Tenant: "tenant", Roles: "roles"}, Tenants: []string{"globex"}, Leeway: 30 * time.Second,
		}},
		Authority: Authority{MaxAge: 12 * time.Hour, TenantAdminRoles: []string{"lead"}, AdminRoles: []string{"root"}},
		Tenants: map[string]Tenant{
			"acme": {
				Upstream: Upstream{
					URL: "http://127.0.0.1:9001/graphql", Schema: filepath.Join("testdata", "schemas", "acme.graphqls"),
					Timeout: 10 * time.Second, IdleTimeout: time.Second,
					Headers: map[string]string{"X-Api-Key": "key-" + canary, "Authorization": "Bearer static"},
				},
				Mutations: map[string]Mutation{"generateReport": acmeReport, "acmeOnly": acmeOnly},
				PerTenant: 0,
			},
			"*": {
				Upstream: Upstream{
					URL: "https://{tenant}.api.example:8443/of/{tenant}/graphql", Schema: filepath.Join("testdata", "schemas", "acme.graphqls"),
					Timeout: 30 * time.Second, IdleTimeout: 2 * time.Second, Headers: map[string]string{},
				},
				Mutations: map[string]Mutation{}, PerTenant: 16,
			},
			"Globex Corp": {
				Upstream: Upstream{
					URL: "https://globex.example/graphql", Schema: "/etc/globex.graphqls",
					Timeout: 30 * time.Second, IdleTimeout: 2 * time.Second, Headers: map[string]string{},
				},
				Mutations: map[string]Mutation{}, PerTenant: 16,
			},
		},
		Headers: map[string]string{"X-User-Id": "{subject}", "X-Tenant": "{tenant}", "X-Roles": "{roles?}", "X-Email": "{email}"},
		Mutations: map[string]Mutation{"generateReport": report, "importCatalog": {
			Idempotent: true, MaxAttempts: 7, Timeout: 10 * time.Minute, Roles: []string{"editor"},
			StartWithin: time.Hour, MaxPriority: 9,
			AbortOnCancel: true, RequireIdempotencyKey: true, Concurrency: 3,
		}},
		Worker:    Worker{Concurrency: 32, PerTenant: 16, PollInterval: 2 * time.Second, StaleAfter: 30 * time.Second, DrainTimeout: time.Hour},
		Breaker:   Breaker{Failures: 0, OpenFor: time.Minute},
		Retention: Retention{Result: time.Hour, Operation: 2 * time.Hour},
		Limits:    Limits{Body: 2 << 20, Variables: 0, Result: 4096},
		Origins:   []string{"https://app.example", "http://localhost:3000"},
		Log:       Log{Format: "text", Level: "debug"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatal(diff)
	}
}

func TestDefaults(t *testing.T) {
	t.Parallel()
	got, err := Load(filepath.Join("testdata", "minimal.yaml"), environment)
	if err != nil {
		t.Fatal(err)
	}
	want := &Config{
		Listen: "127.0.0.1:8080", Store: Store{SQLite: filepath.Join("testdata", "asyncgate.db")}, StoreMigrate: true,
		Issuers: []auth.Issuer{{
			Issuer: "demo", HS256Secret: []byte(canary), Claims: auth.Claims{Tenant: "tenant", Roles: "roles"},
			Tenants: []string{"*"}, Admin: true, Leeway: 30 * time.Second,
		}},
		Authority: Authority{MaxAge: 24 * time.Hour},
		Upstream: &Upstream{
			URL: "http://127.0.0.1:9001/graphql", Timeout: 30 * time.Second, IdleTimeout: 2 * time.Second, Headers: map[string]string{},
		},
		Tenants: map[string]Tenant{}, Headers: map[string]string{},
		Mutations: map[string]Mutation{"generateReport": usualMutation},
		Worker:    Worker{Concurrency: 256, PerTenant: 64, PollInterval: time.Second, StaleAfter: time.Minute, DrainTimeout: 5 * time.Minute},
		Breaker:   Breaker{Failures: 10, OpenFor: 30 * time.Second},
		Retention: Retention{Result: 24 * time.Hour, Operation: 168 * time.Hour},
		Limits:    Limits{Body: 1 << 20, Variables: 256 << 10, Result: 8 << 20},
		Log:       Log{Format: "json", Level: "info"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatal(diff)
	}
}

func TestATenantsAllowlistLiesOverTheGlobalOne(t *testing.T) {
	t.Parallel()
	c, err := Load(filepath.Join("testdata", "full.yaml"), environment)
	if err != nil {
		t.Fatal(err)
	}
	acme, other := c.Allowlist("acme"), c.Allowlist("Globex Corp")
	if len(acme) != 3 || acme["generateReport"].Timeout != time.Hour || !acme["importCatalog"].Idempotent {
		t.Errorf("acme: %+v", acme)
	}
	if diff := cmp.Diff(c.Mutations, other); diff != "" {
		t.Error(diff)
	}
	delete(acme, "importCatalog")
	if len(c.Mutations) != 2 || len(c.Allowlist("acme")) != 3 {
		t.Error("changing an allowlist changed the configuration")
	}
}

// A tenant changes fields of the global entry, not the whole entry.
func TestATenantKeepsWhatItDoesNotChange(t *testing.T) {
	t.Parallel()
	c, err := Parse([]byte(`
auth: {jwt: [{issuer: demo, hs256_secret: "${ASYNCGATE_SECRET}"}]}
mutations: {pay: {idempotent: true, roles: [editor], max_attempts: 3}}
tenants: {acme: {upstream: {url: "http://localhost"}, mutations: {pay: {max_attempts: 2, roles: []}}}}
`), "", environment)
	if err != nil {
		t.Fatal(err)
	}
	pay := c.Allowlist("acme")["pay"]
	if !pay.Idempotent || pay.MaxAttempts != 2 || len(pay.Roles) != 0 {
		t.Fatalf("got %+v", pay)
	}
}

func TestEveryMistakeIsToldWithItsLine(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(filepath.Join("testdata", "mistakes.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = Parse(data, "testdata", environment)
	if err == nil {
		t.Fatal("no mistake was found")
	}
	for _, secret := range []string{"hunter2", canary} {
		if strings.Contains(err.Error(), secret) {
			t.Errorf("the error tells a secret: %s", secret)
		}
	}
	golden := filepath.Join("testdata", "mistakes.golden")
	got := err.Error() + "\n"
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Fatal(diff)
	}
}

func TestTheFileIsNamedInItsMistakes(t *testing.T) {
	t.Parallel()
	path := filepath.Join("testdata", "mistakes.yaml")
	_, err := Load(path, environment)
	var mistakes *FileError
	if !errors.As(err, &mistakes) || !strings.HasPrefix(err.Error(), path+":2: ") {
		t.Fatalf("got %v", err)
	}
	if _, err := Load("nowhere.yaml", environment); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("got %v, want os.ErrNotExist", err)
	}
}

func TestRefusesToStart(t *testing.T) {
	t.Parallel()
	const (
		jwt      = "auth: {jwt: [{issuer: demo, hs256_secret: \"${ASYNCGATE_SECRET}\"}]}\n"
		upstream = "upstream: {url: \"http://localhost\"}\n"
		allow    = "mutations: {pay: {}}\n"
		tenant   = "tenants: {acme: {upstream: {url: \"http://localhost\"}}}\n"
	)
	tests := map[string]struct{ file, want string }{
		"Empty":                {"", "1: the file is empty"},
		"CommentsAlone":        {"# nothing\n", "1: the file is empty"},
		"NoMapping":            {"ada\n", "must be a mapping"},
		"NotYAML":              {"auth: [\n", "is no valid YAML"},
		"TwoDocuments":         {jwt + "---\n" + jwt, "second document"},
		"NoAuth":               {upstream + allow, "1: auth.jwt: names no issuer"},
		"NoIssuer":             {"auth: {jwt: []}\n" + upstream + allow, "1: auth.jwt: names no issuer"},
		"NeitherTenantsNorOne": {jwt + allow, "1: there is neither upstream nor tenants"},
		"TenantsAndOne":        {jwt + allow + upstream + tenant, "3: upstream: stands beside tenants on line 4"},
		"NoTenant":             {jwt + allow + "tenants: {}\n", "3: tenants: names no tenant"},
		"NoMutations":          {jwt + upstream, "1: mutations: allows no mutation"},
		"EmptyMutations":       {jwt + upstream + "mutations: {}\n", "3: mutations: allows no mutation"},
		"NoMutationsInTenant":  {jwt + tenant, "1: mutations: allows no mutation"},
		"Anchors":              {jwt + "upstream: &u {url: \"http://localhost\"}\n" + allow, "2: upstream: must be a mapping"},
		"EmptyEnvironment":     {"auth: {jwt: [{issuer: demo, hs256_secret: \"${EMPTY}\"}]}\n" + upstream + allow, "hs256_secret: is empty"},
		"UnsetInside":          {jwt + upstream + allow + "store: sqlite:${HOME_DIR}/x.db\n", "4: store: reads the environment variable HOME_DIR"},
		"UnclosedName":         {jwt + upstream + allow + "store: sqlite:${HOME\n", "4: store: has a ${"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Parse([]byte(test.file), "", environment)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("got %v, want %q", err, test.want)
			}
			if n := strings.Count(err.Error(), "\n"); n != 0 {
				t.Fatalf("one mistake was told as %d: %v", n+1, err)
			}
		})
	}
}

func TestOneMistakeIsToldOnce(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"listen:", "limits:", "worker: []", "log: {level: }", "identity: 5", "limits: ${ASYNCGATE_SECRET}"} {
		file := "auth: {jwt: [{issuer: demo, hs256_secret: \"${ASYNCGATE_SECRET}\"}]}\nupstream: {url: \"http://localhost\"}\n" +
			"mutations: {pay: {}}\n" + line + "\n"
		_, err := Parse([]byte(file), "", environment)
		var mistakes *FileError
		if !errors.As(err, &mistakes) || len(mistakes.Mistakes) != 1 || mistakes.Mistakes[0].Line != 4 {
			t.Errorf("%s: got %v", line, err)
		}
	}
}

func TestParseStore(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Store{
		"sqlite:a.db": {SQLite: "dir/a.db"}, "sqlite:/var/a.db": {SQLite: "/var/a.db"},
		"postgres://u@h/d": {Postgres: "postgres://u@h/d"}, "postgresql://h/d?sslmode=disable": {Postgres: "postgresql://h/d?sslmode=disable"},
		"": {}, "sqlite:": {}, "sqlite::memory:": {}, "a.db": {}, "mysql://h": {}, "postgres:d": {}, "postgres://u:" + canary + "@h:x/d": {},
	} {
		got, err := ParseStore(text, "dir")
		if got != want || (err == nil) != (want != Store{}) {
			t.Errorf("%q: got %+v and %v", text, got, err)
		}
		if err != nil && strings.Contains(err.Error(), canary) {
			t.Errorf("%q: the error tells a secret: %v", text, err)
		}
	}
}

func TestLogsHoldNoSecrets(t *testing.T) {
	t.Parallel()
	c, err := Load(filepath.Join("testdata", "full.yaml"), environment)
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "config", c, "store", c.Store, "issuers", c.Issuers[0])
	if strings.Contains(log.String(), canary) {
		t.Fatal(log.String())
	}
}

func FuzzParseNeverTellsASecret(f *testing.F) {
	for _, name := range []string{"full.yaml", "minimal.yaml", "mistakes.yaml"} {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte("a: &a {b: *a}\n? {c: d}\n: e\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		_, err := Parse(data, "dir", func(string) (string, bool) { return canary, true })
		if err != nil && strings.Contains(err.Error(), canary) && !bytes.Contains(data, []byte(canary)) {
			t.Fatalf("the error tells a secret: %v", err)
		}
	})
}
