package chaos

import (
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"asyncgate/test/pgtest"
)

var backlog = flag.Int("backlog", 2000, "how many operations of one tenant wait, where others must not")

// tenancy is what a configuration has where each path of the upstream is a
// tenant.
const tenancy = `tenants: {"*": {upstream: {url: "${UPSTREAM}/{tenant}", schema: upstream.graphqls}}}`

// counter is an upstream that does nothing, and counts it by tenant. A tenant
// called stuck gets no answer.
type counter struct {
	*httptest.Server

	mu    sync.Mutex
	calls map[string]int       // guarded by mu, by tenant
	began map[string]time.Time // guarded by mu, by operation
	total int                  // guarded by mu
}

func newCounter(t *testing.T) *counter {
	t.Helper()
	c := &counter{calls: map[string]int{}, began: map[string]time.Time{}}
	c.Server = httptest.NewServer(c)
	t.Cleanup(c.Close)
	return c
}

func (c *counter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	tenant := strings.TrimPrefix(r.URL.Path, "/")
	c.mu.Lock()
	c.calls[tenant]++
	c.total++
	c.began[r.Header.Get("X-Async-Operation-Id")] = time.Now()
	c.mu.Unlock()
	if tenant == "stuck" {
		<-r.Context().Done()
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, `{"data":{"once":"done"}}`) // the caller may have gone
}

// count answers the calls of one tenant, and of all.
func (c *counter) count(tenant string) (its, all int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.calls[tenant], c.total
}

// start is when an operation began; zero before it did.
func (c *counter) start(id string) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.began[id]
}

// queue lets so many operations wait of each tenant, and starts a node. They are
// copies of one that was submitted.
func queue(t *testing.T, u *counter, worker string, waiting map[string]int) *cluster {
	t.Helper()
	c := newCluster(t, 1, pgtest.URL(t), u.URL).
		with(t, `upstream: {url: "${UPSTREAM}", schema: upstream.graphqls}`, tenancy).
		with(t, "worker: {", "worker: {"+worker).
		startAll(t)
	for tenant := range waiting {
		if _, err := c.clientOf(t, tenant).nothing(t, time.Now().Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	c.node(0).Stop(t)
	db := open(t, c.store)
	for tenant, count := range waiting {
		if _, err := db.ExecContext(t.Context(), copies, tenant, count); err != nil {
			t.Fatal(err)
		}
	}
	c.start(t, 0)
	return c
}

const copies = `
INSERT INTO async_operations (id, tenant, issuer, subject, authority, mutations, document, variables, idempotent, fingerprint,
	priority, max_attempts, lane, created_at, not_before, start_before)
SELECT gen_random_uuid(), tenant, issuer, subject, authority, mutations, document, variables, idempotent, fingerprint,
	priority, max_attempts, lane, created_at, created_at, start_before
FROM async_operations, generate_series(1, $2::integer)
WHERE tenant = $1`

// nothing submits an operation that does nothing, and answers its id.
func (c *client) nothing(t *testing.T, notBefore time.Time) (id string, err error) {
	t.Helper()
	var data struct{ SubmitAsync struct{ ID string } }
	err = c.ask(t.Context(), 0, `mutation ($at: DateTime!) { submitAsync(input:
		{document: "mutation { once(does: \"answers\", ms: 0) }", notBefore: $at}) { id } }`, map[string]any{"at": notBefore}, &data)
	return data.SubmitAsync.ID, err
}

// TestABacklogOfOneTenantDelaysNoOther measures from the submission's answer to
// the call of the upstream. What it allows is generous; what it logs is to be
// read.
func TestABacklogOfOneTenantDelaysNoOther(t *testing.T) {
	t.Parallel()
	u := newCounter(t)
	c := queue(t, u, "concurrency: 16, ", map[string]int{"deep": *backlog})
	other := c.clientOf(t, "other")
	eventually(t, "the backlog is worked on", func() bool { its, _ := u.count("deep"); return its > 100 })
	var waits []time.Duration
	for range 50 {
		asked := time.Now()
		id, err := other.nothing(t, asked)
		if err != nil {
			t.Fatal(err)
		}
		eventually(t, "it starts", func() bool { return !u.start(id).IsZero() })
		waits = append(waits, u.start(id).Sub(asked))
		if done, _ := u.count("deep"); done >= *backlog {
			break // on a quick machine
		}
	}
	done, _ := u.count("deep")
	slices.Sort(waits)
	median, worst := waits[len(waits)/2], waits[len(waits)-1]
	t.Logf("behind %d of %d: from submission to start, median %v, worst %v of %d", *backlog-done, *backlog, median, worst, len(waits))
	if median > time.Second {
		t.Errorf("it took %v", median)
	}
}

// TestTenantsWithUnequalBacklogsGetEqualShares stops to count while the
// shortest backlog still waits.
func TestTenantsWithUnequalBacklogsGetEqualShares(t *testing.T) {
	t.Parallel()
	const tenants, shortest = 100, 60
	u, waiting := newCounter(t), map[string]int{}
	for i := range tenants {
		waiting[fmt.Sprintf("t%d", i)] = shortest * (1 + i%10)
	}
	queue(t, u, "concurrency: 50, ", waiting)
	const share = shortest / 2
	counts := map[string]int{}
	eventually(t, "half of the shortest backlog is done", func() bool {
		u.mu.Lock()
		defer u.mu.Unlock()
		for tenant := range waiting {
			counts[tenant] = u.calls[tenant]
		}
		return u.total >= tenants*share
	})
	least, most, sum := tenants*share, 0, 0
	for _, n := range counts {
		least, most, sum = min(least, n), max(most, n), sum+n
	}
	mean := float64(sum) / tenants
	t.Logf("%d tenants had %d to %d starts, %.1f on average", tenants, least, most, mean)
	if float64(least) < 0.8*mean || float64(most) > 1.2*mean {
		t.Errorf("a share is not within 20 %% of %.1f", mean)
	}
}

// TestATenantAtItsCapCostsTheOthersNothing works through a backlog beside a
// tenant that is at its cap, and beside none, in turns.
func TestATenantAtItsCapCostsTheOthersNothing(t *testing.T) {
	t.Parallel()
	var alone, beside []time.Duration
	for range share(20, 5) {
		alone = append(alone, workThrough(t, map[string]int{"busy": 1000}))
		beside = append(beside, workThrough(t, map[string]int{"busy": 1000, "stuck": 1000}))
	}
	t.Logf("1000 operations took %v, and beside a tenant at its cap %v", alone, beside)
	if slices.Min(beside) > 3*slices.Min(alone) {
		t.Error("a tenant at its cap costs the others")
	}
}

// workThrough answers how long what waits of the busy tenant takes.
func workThrough(t *testing.T, waiting map[string]int) time.Duration {
	t.Helper()
	u := newCounter(t)
	c := queue(t, u, "concurrency: 32, per_tenant: 8, ", waiting)
	defer c.node(0).Kill()
	began := time.Now()
	eventually(t, "the busy tenant's are done", func() bool { its, _ := u.count("busy"); return its >= waiting["busy"] })
	if held, _ := u.count("stuck"); held > 8 {
		t.Errorf("%d of the tenant at its cap run", held)
	}
	return time.Since(began)
}
