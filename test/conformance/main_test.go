// Package conformance holds the gateway to its first promise: whatever GraphQL
// server a team has, the gateway changes nothing that it says. Each document is
// sent to a real server, directly and through the gateway, and the two answers
// are compared byte for byte.
//
// corpus/ has the documents. More are made up from each server's schema:
// `go test -documents 2000` says how many.
package conformance

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"asyncgate/test/gateway"
	"asyncgate/test/pgtest"
)

// What the command line says.
var (
	documents = flag.Uint64("documents", 200, "documents to make up for each server")
	seed      = flag.Uint64("seed", 1, "what they are made up from")
)

// binary is the path of the gateway under test, set before any test runs.
var binary string

func TestMain(m *testing.M) { os.Exit(runAll(m)) }

func runAll(m *testing.M) (code int) {
	dir, err := os.MkdirTemp("", "asyncgate-conformance-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	if binary, err = gateway.Build(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if code = pgtest.Main(m); code != 0 {
		return code
	}
	if err := goleak.Find(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}
