package upstreams_test

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"asyncgate/test/pgtest"
)

func TestMain(m *testing.M) { os.Exit(runAll(m)) }

func runAll(m *testing.M) int {
	if code := pgtest.Main(m); code != 0 {
		return code
	}
	if err := goleak.Find(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}
