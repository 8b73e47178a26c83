// Package chaos breaks what a gateway stands on, under load, and judges by what
// the upstream saw: that nothing is lost, done twice or misreported.
//
// A load submits through a cluster of nodes, and writes what it was told into a
// ledger. Watchers subscribe to some of it. A fault strikes the cluster, again
// and again. At the end a judge compares the ledger, the upstream's calls, the
// watchers' events and the rows. Each of these is a file here.
//
// `go test` runs a short form. -kills makes it longer.
package chaos

import (
	"flag"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"

	"asyncgate/test/gateway"
	"asyncgate/test/pgtest"
)

// What the command line says.
var (
	kills = flag.Int("kills", 2, "how often nodes are killed; other faults strike in proportion")
	quick = flag.Bool("quick", false, "build the gateway without the race detector, to measure it")
	seed  = flag.Uint64("seed", 0, "of all that is random; 0 for another each time")
)

// binary is the path of the gateway under test, set before any test runs.
var binary string

func TestMain(m *testing.M) { os.Exit(runAll(m)) }

func runAll(m *testing.M) (code int) {
	// These tests wait more than they compute. The command line has the last word.
	if err := flag.Set("test.parallel", "12"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	flag.Parse()
	dir, err := os.MkdirTemp("", "asyncgate-chaos-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	build := gateway.Build
	if *quick {
		build = gateway.BuildQuick
	}
	if binary, err = build(dir); err != nil {
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

// share is a number in proportion to the kills: one for so many of them, at
// least 1 and at most most.
func share(of, most int) int { return min(max(1, *kills/of), most) }

// chance is seeded, for each test another. The seed is logged.
func chance(t *testing.T) *rand.Rand {
	t.Helper()
	from := *seed
	if from == 0 {
		from = uint64(time.Now().UnixNano())
	}
	t.Logf("-seed %d -kills %d", from, *kills)
	name := fnv.New64a()
	_, _ = name.Write([]byte(t.Name())) // a hash takes anything
	return rand.New(rand.NewPCG(from, name.Sum64()))
}

// between is a random duration.
func between(random *rand.Rand, least, most time.Duration) time.Duration {
	return least + time.Duration(random.Int64N(int64(most-least)+1))
}

// patience bounds every wait for something that must happen.
const patience = 20 * time.Second

// eventually waits until something holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	deadline := time.After(patience)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("not within %v: %s", patience, what)
		}
	}
}
