package upstreams

import (
	"errors"
	"testing"
)

func TestWithoutNodeOneLineSaysHowToGetIt(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if err := install(t.Context(), t.TempDir()); !errors.Is(err, errNoNode) {
		t.Errorf("got %v, want %v", err, errNoNode)
	}
}
