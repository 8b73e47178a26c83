package chaos

import (
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"asyncgate/internal/auth"
	"asyncgate/test/faults"
	"asyncgate/test/gateway"
	"asyncgate/test/pgtest"
)

const (
	staleAfter   = 2 * time.Second
	pollInterval = time.Second
)

const configuration = `
listen: 127.0.0.1:0
store: ${STORE}
auth: {jwt: [{issuer: "https://chaos.example/", hs256_secret: "${SECRET}"}]}
upstream: {url: "${UPSTREAM}", schema: upstream.graphqls}
mutations:
  once: {}
  again: {idempotent: true, max_attempts: 50, timeout: 5s}
worker: {stale_after: 2s, poll_interval: 1s}
breaker: {open_for: 1s}
log: {level: warn}
`

// issuer signs the tokens of the load.
var issuer = auth.Issuer{Issuer: "https://chaos.example/", HS256Secret: []byte("a secret that only these tests know")}

// cluster is nodes that share a store, before one upstream. Each may be
// replaced at any time.
type cluster struct {
	nodes []atomic.Pointer[gateway.Process]

	config   string // its path
	text     string // what is in it
	store    string // its URL
	entrance string // the URL by which the first node reaches the store
	upstream string // its URL

	// What faults strike, where the stage of a test has it.
	database   *pgtest.Cluster
	toDatabase *faults.Proxy // of the first node
	toUpstream *faults.Proxy
}

// newCluster configures so many nodes. None is started yet.
func newCluster(t *testing.T, nodes int, store, upstream string) *cluster {
	t.Helper()
	c := &cluster{nodes: make([]atomic.Pointer[gateway.Process], nodes), store: store, entrance: store, upstream: upstream}
	c.config = filepath.Join(t.TempDir(), "gateway.yaml")
	c.text = configuration
	c.write(t, "gateway.yaml", c.text)
	c.write(t, "upstream.graphqls", schema)
	return c
}

// with changes the configuration.
func (c *cluster) with(t *testing.T, was, is string) *cluster {
	t.Helper()
	if !strings.Contains(c.text, was) {
		t.Fatalf("%q is not in the configuration", was)
	}
	c.text = strings.Replace(c.text, was, is, 1)
	c.write(t, "gateway.yaml", c.text)
	return c
}

func (c *cluster) write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(filepath.Dir(c.config), name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// start starts the ith node, or another in its place.
func (c *cluster) start(t *testing.T, i int) {
	t.Helper()
	store := c.store
	if i == 0 {
		store = c.entrance
	}
	c.nodes[i].Store(gateway.Start(t, binary, c.config,
		"STORE="+store, "UPSTREAM="+c.upstream, "SECRET="+string(issuer.HS256Secret)))
}

// startAll starts all of them.
func (c *cluster) startAll(t *testing.T) *cluster {
	t.Helper()
	for i := range c.nodes {
		c.start(t, i)
	}
	return c
}

// node is the process that is the ith node now.
func (c *cluster) node(i int) *gateway.Process { return c.nodes[i%len(c.nodes)].Load() }
