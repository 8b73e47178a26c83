package e2e

import (
	"database/sql"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib" // drivers, for what is in a store
	_ "modernc.org/sqlite"

	"asyncgate/test/gateway"
	"asyncgate/test/pgtest"
	"asyncgate/test/upstreams"
)

// twoTenants is the configuration of most tests: two issuers, and two tenants
// with an upstream each. slow is idempotent for acme alone.
const twoTenants = `
listen: 127.0.0.1:0
store: ${STORE}
auth:
  jwt:
    - {issuer: "https://one.example/", hs256_secret: "${SECRET_ONE}", tenants: [acme, globex], admin: true}
    - {issuer: "https://two.example/", hs256_secret: "${SECRET_TWO}", tenants: [acme]}
authority: {max_age: 1h, tenant_admin_roles: [manager], admin_roles: [operator]}
tenants:
  acme:
    upstream: {url: "${ACME}", schema: "${SCHEMA}", headers: {X-Api-Key: "${API_KEY}"}}
    mutations: {slow: {idempotent: true, max_attempts: 2}}
  globex:
    upstream: {url: "${GLOBEX}"}
identity:
  headers: {X-User-Id: "{subject}", X-Tenant: "{tenant}", X-Roles: "{roles?}"}
mutations: {slow: {}, echo: {}, fail: {}, headers: {}}
worker: {stale_after: 3s, drain_timeout: 15s}
log: {level: debug}
`

// The secrets of a test's configuration. None is ever logged.
const (
	secretOne = "the first issuer's secret, known here alone"
	secretTwo = "the second issuer's secret, known here alone"
	apiKey    = "the-key-of-acme-at-its-upstream"
)

// stores makes an empty store of each kind.
var stores = map[string]func(t *testing.T) string{
	"SQLite": func(t *testing.T) string {
		t.Helper()
		return "sqlite:" + filepath.Join(t.TempDir(), "operations.db")
	},
	"Postgres": func(t *testing.T) string {
		t.Helper()
		return pgtest.URL(t)
	},
}

// onEachStore holds a rule against every kind of store.
func onEachStore(t *testing.T, rule func(t *testing.T, store string)) {
	t.Helper()
	for name, empty := range stores {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rule(t, empty(t))
		})
	}
}

// database opens a store past the gateway.
func database(t *testing.T, store string) *sql.DB {
	t.Helper()
	driver, source := "pgx", store
	if path, isSQLite := strings.CutPrefix(store, "sqlite:"); isSQLite {
		driver, source = "sqlite", "file:"+path+"?_pragma=busy_timeout(5000)"
	}
	db, err := sql.Open(driver, source)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// rows counts the operations of a store.
func rows(t *testing.T, store string) (n int) {
	t.Helper()
	if err := database(t, store).QueryRowContext(t.Context(), "SELECT count(*) FROM async_operations").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// configuration is one that nodes can serve.
type configuration struct {
	path string // of gateway.yaml
	env  map[string]string
}

// node is a process that serves a gateway.
type node struct {
	*gateway.Process
	endpoint string // of its GraphQL
}

// configure writes a configuration that reads env.
func configure(t *testing.T, yaml string, env map[string]string) configuration {
	t.Helper()
	g := configuration{
		path: filepath.Join(t.TempDir(), "gateway.yaml"),
		env:  map[string]string{"SECRET_ONE": secretOne, "SECRET_TWO": secretTwo, "API_KEY": apiKey},
	}
	maps.Copy(g.env, env)
	if err := os.WriteFile(g.path, []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	return g
}

// beforeYoga is twoTenants with an upstream behind each.
func beforeYoga(t *testing.T, store string, acme, globex *upstreams.Server) configuration {
	t.Helper()
	schema, err := filepath.Abs(filepath.Join("..", "upstreams", "yoga", "schema.graphql"))
	if err != nil {
		t.Fatal(err)
	}
	return configure(t, twoTenants, map[string]string{
		"STORE": store, "ACME": acme.URL, "GLOBEX": globex.URL, "SCHEMA": schema,
	})
}

// with is g with something else in its configuration, which is yaml.
func (g configuration) with(t *testing.T, yaml, was, is string) configuration {
	t.Helper()
	changed := strings.Replace(yaml, was, is, 1)
	if changed == yaml {
		t.Fatalf("%q is not in the configuration", was)
	}
	if err := os.WriteFile(g.path, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	return g
}

// environment is what the configuration reads.
func (g configuration) environment() []string {
	env := make([]string, 0, len(g.env))
	for name, value := range g.env {
		env = append(env, name+"="+value)
	}
	return env
}

// serve starts a node and waits until it serves.
func (g configuration) serve(t *testing.T) node {
	t.Helper()
	p := gateway.Start(t, binary, g.path, g.environment()...)
	return node{Process: p, endpoint: p.URL}
}

// as is a caller of the node.
func (n node) as(token string) caller { return caller{endpoint: n.endpoint, token: token} }
