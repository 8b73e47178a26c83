package asyncop_test

import (
	"slices"
	"testing"

	"asyncgate/internal/asyncop"
)

var states = []asyncop.State{asyncop.Queued, asyncop.Running, asyncop.Succeeded, asyncop.Failed, asyncop.Cancelled}

func TestOnlyTheseTransitionsAreLegal(t *testing.T) {
	t.Parallel()
	legal := map[asyncop.State][]asyncop.State{
		asyncop.Queued:  {asyncop.Running, asyncop.Failed, asyncop.Cancelled},
		asyncop.Running: {asyncop.Queued, asyncop.Succeeded, asyncop.Failed, asyncop.Cancelled},
	}
	for _, from := range states {
		for _, to := range states {
			if got, want := from.CanBecome(to), slices.Contains(legal[from], to); got != want {
				t.Errorf("%s to %s: %v, want %v", from, to, got, want)
			}
		}
	}
}

func TestTerminalStatesChangeNoMore(t *testing.T) {
	t.Parallel()
	for _, state := range states {
		ends := state != asyncop.Queued && state != asyncop.Running
		if state.Terminal() != ends || (asyncop.Operation{State: state}).Done() != ends {
			t.Errorf("%s: terminal %v, want %v", state, state.Terminal(), ends)
		}
	}
}

func TestExecutionsAreOrderedAndNamed(t *testing.T) {
	t.Parallel()
	names := []string{"NOT_EXECUTED", "UNKNOWN", "EXECUTED"}
	for i, execution := range []asyncop.Execution{asyncop.NotExecuted, asyncop.UnknownExecution, asyncop.Executed} {
		if int(execution) != i || execution.String() != names[i] {
			t.Errorf("%d is %s, want %d %s", execution, execution, i, names[i])
		}
	}
}
