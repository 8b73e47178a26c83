package e2e

import (
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"
)

// cancel cancels an operation, and answers the outcome.
func (c caller) cancel(t *testing.T, id string) string {
	t.Helper()
	return textAt(t, c.ask(t, cancelDocument, object("id", quote(id))).body, "data", "cancelAsync", "outcome")
}

// cancelling serves a script's upstream, where again is retried after a second,
// and hang is cut off.
func cancelling(t *testing.T, store string, upstream *script) caller {
	t.Helper()
	g := before(t, store, upstream.url).with(t, oneUpstream, "  hang: {timeout: 500ms}", "  hang: {abort_on_cancel: true, idempotent: true}")
	return g.serve(t).as(token(t, "ada", ""))
}

func TestCancellingWhatIsQueuedKeepsItFromTheUpstream(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, store string) {
		upstream := perform(t, map[string]act{"queued": says(200, fine)})
		ada := cancelling(t, store, upstream)
		op := ada.submit(t, tagged("work", "queued", "notBefore", instant(time.Now().Add(time.Second))))
		if outcome := ada.cancel(t, op.ID); outcome != "CANCELLED" {
			t.Errorf("the cancellation's outcome is %s", outcome)
		}
		ada.await(t, op.ID).ended(t, "CANCELLED", "CANCELLED", "NOT_EXECUTED", 0)
		if outcome := ada.cancel(t, op.ID); outcome != "ALREADY_DONE" {
			t.Errorf("the second cancellation's outcome is %s", outcome)
		}
		<-time.After(1500 * time.Millisecond) // its time has come
		if n := upstream.total(); n != 0 {
			t.Errorf("the upstream was called %d times", n)
		}
	})
}

func TestCancellingBetweenAttemptsMakesNoOther(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, store string) {
		upstream := perform(t, map[string]act{"between": closes})
		ada := cancelling(t, store, upstream)
		op := ada.submit(t, tagged("again", "between"))
		eventually(t, "between two attempts", func() bool {
			now := ada.get(t, op.ID, "0")
			return now.State == "QUEUED" && now.Attempts == 1
		})
		if outcome := ada.cancel(t, op.ID); outcome != "CANCELLED" {
			t.Errorf("the cancellation's outcome is %s", outcome)
		}
		ada.await(t, op.ID).ended(t, "CANCELLED", "CANCELLED", "UNKNOWN", 1)
		<-time.After(1500 * time.Millisecond) // its backoff is over
		if n := upstream.total(); n != 1 {
			t.Errorf("the upstream was called %d times, want once", n)
		}
	})
}

func TestAnAttemptWhoseCancellationWasRequestedIsTheLast(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, store string) {
		upstream := perform(t, map[string]act{"last": after(time.Second, closes), "fine": after(time.Second, says(200, fine))})
		ada := cancelling(t, store, upstream)
		for tag, want := range map[string]string{"last": "CANCELLED", "fine": "SUCCEEDED"} {
			op := ada.submit(t, tagged("again", tag))
			eventually(t, "called", func() bool { return upstream.count(tag) == 1 })
			if outcome := ada.cancel(t, op.ID); outcome != "CANCEL_REQUESTED" {
				t.Errorf("the cancellation's outcome is %s", outcome)
			}
			if ended := ada.await(t, op.ID); ended.State != want || !ended.CancellationRequested {
				t.Errorf("%s is %s, want %s", tag, ended.State, want)
			}
			if n := upstream.count(tag); n != 1 {
				t.Errorf("the upstream was called %d times, want once", n)
			}
		}
	})
}

func TestACancellationCutsARunningAttemptOffWhereItMay(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, store string) {
		gone := make(chan struct{})
		upstream := perform(t, map[string]act{"abort": func(_ http.ResponseWriter, r *http.Request, _ int) {
			<-r.Context().Done()
			close(gone)
		}})
		ada := cancelling(t, store, upstream)
		op := ada.submit(t, tagged("hang", "abort"))
		watching := ada.subscribe(t, resultDocument, op.ID)
		eventually(t, "called", func() bool { return upstream.count("abort") == 1 })
		asked := time.Now()
		if outcome := ada.cancel(t, op.ID); outcome != "CANCEL_REQUESTED" {
			t.Errorf("the cancellation's outcome is %s", outcome)
		}
		watching.result(t).ended(t, "CANCELLED", "CANCELLED", "UNKNOWN", 1)
		within(t, push, "the push of a cancelled operation", asked)
		<-gone
		if n := upstream.count("abort"); n != 1 {
			t.Errorf("the upstream was called %d times, want once", n)
		}
	})
}

// TestACancellationReachesAnAttemptThatAReloadLeftBehind has heartbeats that
// come too late to tell.
func TestACancellationReachesAnAttemptThatAReloadLeftBehind(t *testing.T) {
	t.Parallel()
	upstream := perform(t, map[string]act{"left": hangs})
	g := before(t, stores["SQLite"](t), upstream.url).with(t, strings.Replace(oneUpstream, "stale_after: 3s", "stale_after: 300s", 1),
		"  hang: {timeout: 500ms}", "  hang: {abort_on_cancel: true}")
	n := g.serve(t)
	ada := n.as(token(t, "ada", ""))
	op := ada.submit(t, tagged("hang", "left"))
	eventually(t, "called", func() bool { return upstream.count("left") == 1 })
	n.Signal(syscall.SIGHUP)
	eventually(t, "reloaded", func() bool { return strings.Contains(n.Log(), `"msg":"reloaded"`) })
	asked := time.Now()
	ada.cancel(t, op.ID)
	ada.await(t, op.ID).ended(t, "CANCELLED", "CANCELLED", "UNKNOWN", 1)
	within(t, push, "the end of a cancelled operation", asked)
}
