package e2e

import (
	"net/http"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"asyncgate/test/pgtest"
)

// TestAZombieChangesNothing stops a node with its attempt under way, until
// another has recovered its claim, and lets it go on.
func TestAZombieChangesNothing(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	upstream := perform(t, map[string]act{
		"once": func(w http.ResponseWriter, r *http.Request, n int) {
			<-release
			says(200, fine)(w, r, n)
		},
		"twice": first(func(w http.ResponseWriter, r *http.Request, n int) {
			<-release
			says(200, `{"data":{"again":"late"}}`)(w, r, n)
		}, says(200, `{"data":{"again":"fine"}}`)),
	})
	g := before(t, pgtest.URL(t), upstream.url).with(t, oneUpstream, "stale_after: 3s", "stale_after: 2s")
	zombie := g.serve(t)
	ada := zombie.as(token(t, "ada", ""))
	once, twice := ada.submit(t, tagged("work", "once")), ada.submit(t, tagged("again", "twice"))
	eventually(t, "both run", func() bool { return upstream.total() == 2 })
	alive := g.serve(t)
	zombie.Signal(syscall.SIGSTOP)
	ada = alive.as(ada.token)
	updates := ada.subscribe(t, updatesDocument, once.ID)
	ada.await(t, once.ID).ended(t, "FAILED", "OUTCOME_UNKNOWN", "UNKNOWN", 1)
	ada.await(t, twice.ID).ended(t, "SUCCEEDED", "", "", 2)
	oneTerminalUpdate(t, updates.run(t))
	close(release)
	zombie.Signal(syscall.SIGCONT)
	eventually(t, "the zombie knows", func() bool { return len(zombie.as(ada.token).get(t, once.ID, "0").AttemptLog) == 1 })
	<-time.After(3 * time.Second) // its late outcomes have come
	ada.await(t, once.ID).ended(t, "FAILED", "OUTCOME_UNKNOWN", "UNKNOWN", 1)
	again := ada.await(t, twice.ID)
	again.ended(t, "SUCCEEDED", "", "", 2)
	if string(again.Result) != `{"data":{"again":"fine"}}` {
		t.Errorf("the result is %s", again.Result)
	}
	if n := upstream.total(); n != 3 {
		t.Errorf("the upstream was called %d times", n)
	}
}

// TestPoisonEndsAtItsLastAttempt has a mutation that takes its node along each
// time.
func TestPoisonEndsAtItsLastAttempt(t *testing.T) {
	t.Parallel()
	var called atomic.Int32
	upstream := perform(t, map[string]act{"poison": func(_ http.ResponseWriter, r *http.Request, _ int) {
		called.Add(1)
		<-r.Context().Done()
	}})
	g := before(t, pgtest.URL(t), upstream.url).with(t, oneUpstream, "stale_after: 3s", "stale_after: 1s")
	survivor := g.with(t, oneUpstream, "worker: {stale_after: 3s", "worker: {concurrency: 1, stale_after: 1s").serve(t)
	ada := survivor.as(token(t, "ada", ""))
	op := ada.submit(t, tagged("again", "poison"))
	for n := range 2 {
		eventually(t, "the poison runs", func() bool { return int(called.Load()) > n })
		survivor.Kill()
		survivor = g.serve(t)
		ada = survivor.as(ada.token)
	}
	ada.await(t, op.ID).ended(t, "FAILED", "OUTCOME_UNKNOWN", "UNKNOWN", 2)
	if n := called.Load(); n != 2 {
		t.Errorf("the upstream was called %d times, want as often as it may be", n)
	}
}

// TestARefusalDoesNotUndoADoubt has an attempt whose outcome is unknown, and one
// that is refused.
func TestARefusalDoesNotUndoADoubt(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, store string) {
		upstream := perform(t, map[string]act{"doubt": first(closes, says(404, "<html>not found</html>"))})
		ada := before(t, store, upstream.url).serve(t).as(token(t, "ada", ""))
		ada.await(t, ada.submit(t, tagged("again", "doubt")).ID).ended(t, "FAILED", "UPSTREAM_REJECTED", "UNKNOWN", 2)
	})
}
