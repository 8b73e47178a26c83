// Package e2e tests the gateway as its users meet it: the program itself, built
// with the race detector and run as a process, with real stores behind it and
// real GraphQL servers as its upstreams.
//
// It holds tests alone. What they start listens on the loopback interface and
// ends with them.
package e2e

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"asyncgate/test/gateway"
	"asyncgate/test/pgtest"
)

// binary is the path of the gateway under test, set before any test runs.
var binary string

func TestMain(m *testing.M) { os.Exit(runAll(m)) }

func runAll(m *testing.M) (code int) {
	dir, err := os.MkdirTemp("", "asyncgate-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	if binary, err = gateway.Build(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	// These tests wait more than they compute. The command line has the last word.
	if err := flag.Set("test.parallel", "6"); err != nil {
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
