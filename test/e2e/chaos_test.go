package e2e

import (
	"strconv"
	"testing"
	"time"

	"asyncgate/test/pgtest"
)

func TestEveryMutationIsCalledOnceThoughNodesDie(t *testing.T) {
	t.Parallel()
	const many = 60
	acts := map[string]act{}
	for i := range many {
		acts[strconv.Itoa(i)] = after(300*time.Millisecond, says(200, fine))
	}
	upstream := perform(t, acts)
	g := before(t, pgtest.URL(t), upstream.url).with(t, oneUpstream, "worker: {", "worker: {concurrency: 3, ")
	a, b := g.serve(t), g.serve(t)
	ada := token(t, "ada", "")
	submitted := map[string]string{} // ids by tag
	for tag := range acts {
		submitted[tag] = a.as(ada).submit(t, tagged("work", tag)).ID
	}
	calls := func(n int) func() bool { return func() bool { return upstream.total() >= n } }
	eventually(t, "some have run", calls(many/6))
	a.Kill()
	eventually(t, "more have run", calls(many/3))
	a = g.serve(t)
	eventually(t, "half have run", calls(many/2))
	b.Stop(t)

	unknown := 0
	for tag, id := range submitted {
		op := a.as(ada).await(t, id)
		if op.State == "FAILED" {
			unknown++
			op.ended(t, "FAILED", "OUTCOME_UNKNOWN", "UNKNOWN", 1)
		} else {
			op.ended(t, "SUCCEEDED", "", "", 1)
		}
		// What was claimed by the killed node may not have been sent yet.
		if n := upstream.count(tag); n > 1 || n == 0 && op.State == "SUCCEEDED" {
			t.Errorf("%s, which is %s, was called %d times", tag, op.State, n)
		}
	}
	if unknown > 3 {
		t.Errorf("%d outcomes are unknown: the node that was killed held 3 at most", unknown)
	}
}
