package chaos

import (
	"fmt"
	"testing"
	"time"
)

// TestAKilledListenerDelaysAPushByAPollIntervalAndASecond kills the sessions
// that LISTEN while an operation runs, and watches it at both nodes: one of them
// is not the one that runs it.
func TestAKilledListenerDelaysAPushByAPollIntervalAndASecond(t *testing.T) {
	t.Parallel()
	const busy = time.Second // what a busy machine adds
	random, u := chance(t), newUpstream(t)
	c := pair(t, u).startAll(t)
	l := c.load(t)
	watchers := []*watcher{l.watcher, l.client.watch(t, 0)}
	for n := range share(1, 20) {
		id, err := l.submit(t.Context(), n, submission{key: fmt.Sprint(n), field: "once", does: answers, ms: 300})
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range watchers {
			w.watch(id)
		}
		<-time.After(between(random, 0, 400*time.Millisecond))
		killListeners(t, c, random)
		for i, w := range watchers {
			eventually(t, "the push", func() bool { return w.waiting() == 0 })
			ends, _ := w.read()
			if late := ends[id][0].at.Sub(u.saw(id)[0].ended); late > pollInterval+time.Second+busy {
				t.Errorf("watcher %d was told after %v", i, late)
			}
		}
	}
	l.judge(t, u, true)
}
