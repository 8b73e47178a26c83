package e2e

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
)

// tenants is a configuration of two tenants before one upstream of the script's
// schema.
const tenants = `
listen: 127.0.0.1:0
store: ${STORE}
auth: {jwt: [{issuer: "https://one.example/", hs256_secret: "${SECRET_ONE}"}]}
tenants:
  acme: {upstream: {url: "${UPSTREAM}", schema: upstream.graphqls, idle_timeout: 60s}}
  globex: {upstream: {url: "${UPSTREAM}", schema: upstream.graphqls, idle_timeout: 60s}}
mutations: {work: {}, again: {}}
worker: {stale_after: 3s, drain_timeout: 15s}
log: {level: warn}
`

// beforeTenants writes tenants, changed, for the upstream at url.
func beforeTenants(t *testing.T, store, url, was, is string) configuration {
	t.Helper()
	g := configure(t, tenants, map[string]string{"STORE": store, "UPSTREAM": url})
	if err := os.WriteFile(filepath.Join(filepath.Dir(g.path), "upstream.graphqls"), []byte(scriptSchema), 0o600); err != nil {
		t.Fatal(err)
	}
	return g.with(t, tenants, was, is)
}

// submitMany submits through several callers, in turns, and answers the ids.
func submitMany(t *testing.T, callers []caller, input string, count int) []string {
	t.Helper()
	ids := make([]string, count)
	var all errgroup.Group
	all.SetLimit(8)
	for i := range count {
		all.Go(func() error {
			got, err := callers[i%len(callers)].send(t.Context(), body(submitDocument, object("input", input)))
			if err != nil {
				return err
			}
			id, ok := submittedID(got.body)
			if !ok {
				return fmt.Errorf("got %s", got.body)
			}
			ids[i] = id
			return nil
		})
	}
	if err := all.Wait(); err != nil {
		t.Fatal(err)
	}
	return ids
}

func submittedID(text []byte) (string, bool) {
	value := text
	for _, name := range []string{"data", "submitAsync", "id"} {
		next, ok := inside(value, name)
		if !ok {
			return "", false
		}
		value = next
	}
	return strings.Trim(string(value), `"`), true
}

func TestAMutationAtItsBoundKeepsNoOtherWaiting(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, store string) {
		upstream := perform(t, map[string]act{"bounded": after(time.Second, says(200, fine)), "free": says(200, `{"data":{"again":"fine"}}`)})
		ada := beforeTenants(t, store, upstream.url, "work: {}", "work: {concurrency: 1}").serve(t).as(token(t, "ada", "acme"))
		submitMany(t, []caller{ada}, tagged("work", "bounded"), 50)
		before := upstream.count("bounded")
		ada.await(t, ada.submit(t, tagged("again", "free")).ID).ended(t, "SUCCEEDED", "", "", 1)
		if passed := upstream.count("bounded") - before; passed > 5 {
			t.Errorf("%d of another mutation went first", passed)
		}
	})
}

// The wait of a tenant that has nothing queued is counted in what goes before
// it, not in time.
func TestATenantsBacklogKeepsNoOtherTenantWaiting(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, store string) {
		const backlog, concurrency = 800, 4
		var first atomic.Int64 // of the backlog, when the other tenant's comes
		var upstream *script
		upstream = perform(t, map[string]act{
			"backlog": after(50*time.Millisecond, says(200, fine)),
			"single": func(w http.ResponseWriter, r *http.Request, n int) {
				first.Store(int64(upstream.count("backlog")))
				says(200, fine)(w, r, n)
			},
		})
		n := beforeTenants(t, store, upstream.url, "worker: {", "worker: {concurrency: 4, ").serve(t)
		submitMany(t, []caller{n.as(token(t, "ada", "acme"))}, tagged("work", "backlog"), backlog)
		if done := upstream.count("backlog"); done > backlog*3/4 {
			t.Fatalf("%d of %d have gone: there is no backlog", done, backlog)
		}
		grace := n.as(token(t, "grace", "globex"))
		for range 5 {
			submitting, asked := upstream.count("backlog"), time.Now()
			grace.await(t, grace.submit(t, tagged("work", "single")).ID).ended(t, "SUCCEEDED", "", "", 1)
			passed := int(first.Load()) - submitting
			t.Logf("%d went first, and it took %v", passed, time.Since(asked))
			if passed > 10*concurrency {
				t.Errorf("%d of the backlog went first", passed)
			}
		}
	})
}

func TestAStopLetsWhatRunsEndAndWhatWaitsWait(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, store string) {
		const each = 50
		released := make(chan struct{})
		release := sync.OnceFunc(func() { close(released) })
		upstream := perform(t, map[string]act{"drained": func(w http.ResponseWriter, r *http.Request, n int) {
			<-released
			says(200, fine)(w, r, n)
		}})
		t.Cleanup(release)
		g := beforeTenants(t, store, upstream.url, "worker: {", "worker: {concurrency: 50, ")
		n := g.serve(t)
		ada := n.as(token(t, "ada", "acme"))
		ids := submitMany(t, []caller{ada}, tagged("work", "drained"), 2*each)
		eventually(t, "fifty run", func() bool { return upstream.count("drained") == each })
		n.Signal(syscall.SIGTERM)
		eventually(t, "it stops", func() bool { _, err := ada.send(t.Context(), body(`{ nothing }`, "")); return err != nil })
		release()
		<-n.Ended()
		if called := upstream.count("drained"); called != each {
			t.Errorf("the upstream was called %d times, want %d", called, each)
		}
		ada = g.serve(t).as(ada.token)
		for _, id := range ids {
			op := ada.await(t, id)
			if op.ended(t, "SUCCEEDED", "", "", 1); len(op.AttemptLog) != 1 {
				t.Errorf("%d attempts are logged", len(op.AttemptLog))
			}
		}
		if called := upstream.count("drained"); called != 2*each {
			t.Errorf("the upstream was called %d times, want once for each", called)
		}
	})
}
