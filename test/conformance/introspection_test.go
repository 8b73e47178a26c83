package conformance

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"asyncgate/internal/executor/raw"
)

// introspectionKeepsTheServersSchema holds the gateway's introspection to the
// server's, by graphql-js: clients' tools read it with that.
func (p *pair) introspectionKeepsTheServersSchema(t *testing.T) {
	query := document{text: string(graphqlJS(t, nil, "query"))}.body()
	both := writeObject([]raw.Member{
		{Name: "server", Value: p.direct.post(t, query)},
		{Name: "gateway", Value: p.through.post(t, query)},
	})
	if faults := graphqlJS(t, both); len(faults) > 0 {
		t.Errorf("%s", faults)
	}
}

// graphqlJS runs schemas.mjs with the graphql-js that the Yoga upstream
// brings, and answers what it prints.
func graphqlJS(t *testing.T, stdin []byte, args ...string) []byte {
	t.Helper()
	program, err := filepath.Abs(filepath.Join("..", "upstreams", "yoga", "schemas.mjs"))
	if err != nil {
		t.Fatal(err)
	}
	node := exec.CommandContext(t.Context(), "node", append([]string{program}, args...)...)
	node.Stdin = bytes.NewReader(stdin)
	var wrong strings.Builder
	node.Stderr = &wrong
	printed, err := node.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, wrong.String())
	}
	return printed
}
