package e2e

import (
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"asyncgate/test/pgtest"
)

// counting answers after a moment, and notes how many wait at a time.
type counting struct{ now, most atomic.Int32 }

func (c *counting) act(w http.ResponseWriter, r *http.Request, n int) {
	for now, most := c.now.Add(1), c.most.Load(); now > most; most = c.most.Load() {
		c.most.CompareAndSwap(most, now)
	}
	<-time.After(50 * time.Millisecond)
	c.now.Add(-1)
	says(200, fine)(w, r, n)
}

func TestWhatRunsOnTwoNodesNeverPassesItsBounds(t *testing.T) {
	t.Parallel()
	const many = 40
	for name, bound := range map[string]struct {
		was, is string
		most    int32
	}{
		"OfAMutation": {"  work: {}", "  work: {concurrency: 2}", 2},
		"OfATenant":   {"worker: {", "worker: {per_tenant: 3, ", 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			acts, c := map[string]act{}, &counting{}
			for i := range many {
				acts[strconv.Itoa(i)] = c.act
			}
			g := before(t, pgtest.URL(t), perform(t, acts).url).with(t, oneUpstream, bound.was, bound.is)
			nodes := []caller{g.serve(t).as(token(t, "ada", "")), g.serve(t).as(token(t, "grace", ""))}
			var ids []string
			for i := range many {
				ids = append(ids, nodes[i%2].submit(t, tagged("work", strconv.Itoa(i))).ID)
			}
			for i, id := range ids {
				nodes[i%2].await(t, id).ended(t, "SUCCEEDED", "", "", 1)
			}
			if most := c.most.Load(); most > bound.most || most < 2 {
				t.Errorf("%d ran at a time, want %d at most", most, bound.most)
			}
		})
	}
}

func TestAKeyIsRequiredWhereThePolicySaysSo(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, store string) {
		upstream := perform(t, map[string]act{"keyed": says(200, fine)})
		g := before(t, store, upstream.url).with(t, oneUpstream, "  work: {}", "  work: {require_idempotency_key: true}")
		ada := g.serve(t).as(token(t, "ada", ""))
		if got := ada.trySubmit(t, tagged("work", "keyed")); got.code() != "IDEMPOTENCY_KEY_REQUIRED" {
			t.Errorf("got %s", got.body)
		}
		if n := rows(t, store); n != 0 {
			t.Errorf("%d rows were stored", n)
		}
		ada.await(t, ada.submit(t, tagged("work", "keyed", "idempotencyKey", `"k"`)).ID).ended(t, "SUCCEEDED", "", "", 1)
	})
}

// TestAnUpstreamThatIsDownIsLeftAloneForAWhile has an upstream that closes each
// connection until it is mended.
func TestAnUpstreamThatIsDownIsLeftAloneForAWhile(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, store string) {
		var mended atomic.Bool
		var called atomic.Int32
		upstream := perform(t, map[string]act{"down": func(w http.ResponseWriter, r *http.Request, n int) {
			if called.Add(1); mended.Load() {
				says(200, fine)(w, r, n)
				return
			}
			closes(w, r, n)
		}})
		g := before(t, store, upstream.url).with(t, oneUpstream, "worker: {", "breaker: {failures: 3, open_for: 3s}\nworker: {")
		ada := g.serve(t).as(token(t, "ada", ""))
		const document = `mutation ($tag: String!) { work(tag: $tag) }`
		for range 3 {
			if got := ada.ask(t, document, object("tag", `"down"`)); got.code() != "OUTCOME_UNKNOWN" {
				t.Fatalf("got %s", got.body)
			}
		}
		opened := time.Now()
		op := ada.submit(t, tagged("work", "down"))
		if got := ada.ask(t, document, object("tag", `"down"`)); got.code() != "UPSTREAM_UNAVAILABLE" || !strings.Contains(string(got.body), "NOT_EXECUTED") {
			t.Errorf("got %s", got.body)
		}
		mended.Store(true)
		ada.await(t, op.ID).ended(t, "SUCCEEDED", "", "", 1)
		if took := time.Since(opened); took < 2500*time.Millisecond || took > 3*time.Second+push {
			t.Errorf("it ran after %v, want soon after 3 s", took)
		}
		if n := called.Load(); n != 4 {
			t.Errorf("the upstream was called %d times, want 4: nothing while it was left alone", n)
		}
		if got := ada.ask(t, document, object("tag", `"down"`)); string(got.body) != fine {
			t.Errorf("got %s", got.body)
		}
	})
}
