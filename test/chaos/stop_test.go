package chaos

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"asyncgate/test/gateway"
)

// drained waits until a process that was told to end has ended in good order.
func drained(t *testing.T, p *gateway.Process, within time.Duration) {
	t.Helper()
	told := time.Now()
	select {
	case <-p.Ended():
		t.Logf("it ended after %v", time.Since(told))
		if code := p.ExitCode(); code != 0 {
			t.Errorf("it ended with %d", code)
		}
	case <-time.After(within):
		t.Errorf("it has not ended within %v", within)
	}
}

// TestAStopTellsNoOutcomeThatDidNotHappen stops a node with fifty attempts under
// way that outlast the drain, and fifty operations that wait for their turn.
func TestAStopTellsNoOutcomeThatDidNotHappen(t *testing.T) {
	t.Parallel()
	for name, stage := range map[string]func(*testing.T, *upstream) *cluster{"Postgres": pair, "SQLite": onDisk} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := newUpstream(t)
			c := stage(t, u).with(t, "worker: {", "worker: {concurrency: 50, drain_timeout: 2s, ").
				with(t, "timeout: 5s", "timeout: 60s") // fifty run until the stop
			c.nodes = c.nodes[:1]
			l := c.startAll(t).load(t)
			submitFifty(t, l, "runs", hangs)
			eventually(t, "fifty run", func() bool { return u.called() == 50 })
			submitFifty(t, l, "waits", answers)
			c.node(0).Signal(syscall.SIGTERM)
			drained(t, c.node(0), 2*time.Second+5*time.Second)
			if called := u.called(); called != 50 {
				t.Errorf("%d began while it stopped", called-50)
			}
			c.start(t, 0)
			for _, r := range l.judge(t, u, false) {
				if calls := len(u.saw(r.id)); r.attempts != calls {
					t.Errorf("%s counts %d attempts, and %d were sent", r.id, r.attempts, calls)
				}
			}
		})
	}
}

// submitFifty submits fifty operations, half of them idempotent.
func submitFifty(t *testing.T, l *load, name, does string) {
	t.Helper()
	for n := range 50 {
		s := submission{key: fmt.Sprintf("%s-%d", name, n), field: []string{"once", "again"}[n%2], does: does}
		id, err := l.submit(t.Context(), 0, s)
		if err != nil {
			t.Fatal(err)
		}
		l.watcher.watch(id)
	}
}

// TestADeployLetsALongMutationEnd replaces a node that runs a mutation which may
// run once only: the default drain_timeout is the longest mutation's timeout.
func TestADeployLetsALongMutationEnd(t *testing.T) {
	t.Parallel()
	long := time.Duration(share(5, 40)) * time.Second
	u := newUpstream(t)
	c := pair(t, u)
	c.nodes = c.nodes[:1]
	l := c.startAll(t).load(t)
	id, err := l.submit(t.Context(), 0, submission{key: "long", field: "once", does: answers, ms: int(long.Milliseconds())})
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "it runs", func() bool { return u.called() == 1 })
	l.watcher.watch(id)
	old := c.node(0)
	old.Signal(syscall.SIGTERM)
	c.start(t, 0)
	drained(t, old, long+5*time.Second)
	if rows := l.judge(t, u, true); len(rows) != 1 || rows[0].attempts != 1 {
		t.Errorf("got %+v", rows)
	}
}
