package e2e

import (
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"asyncgate/test/upstreams"
)

func TestADeployLosesNothing(t *testing.T) {
	t.Parallel()
	yoga := upstreams.Yoga(t)
	onEachStore(t, func(t *testing.T, store string) {
		g := beforeYoga(t, store, yoga, yoga)
		before := g.serve(t)
		ada := before.as(token(t, "ada", "globex")) // slow is not idempotent there
		tag := t.Name()
		done := ada.await(t, ada.submit(t, slow("0", tag+"-done")).ID)
		due := time.Now().Add(3 * time.Second)
		queued := ada.submit(t, slow("0", tag+"-queued", "notBefore", instant(due)))
		running := ada.submit(t, slow("2", tag+"-running"))
		began(t, yoga, tag+"-running")
		watching := ada.subscribe(t, resultDocument, queued.ID)
		before.Stop(t)
		if code := watching.closed(t); code != websocket.CloseServiceRestart {
			t.Errorf("the socket was closed with %d", code)
		}

		ada = g.serve(t).as(ada.token)
		if kept := ada.get(t, done.ID, "0"); kept.State != "SUCCEEDED" || string(kept.Result) != string(done.Result) {
			t.Errorf("after the restart it is %s %s\nbefore it was %s", kept.State, kept.Result, done.Result)
		}
		drained := ada.get(t, running.ID, "0")
		drained.ended(t, "SUCCEEDED", "", "", 1)
		if want := lastAnswer(t, yoga, tag+"-running"); string(drained.Result) != want {
			t.Errorf("the result is %s\nwant %s", drained.Result, want)
		}
		ada.subscribe(t, resultDocument, queued.ID).result(t).ended(t, "SUCCEEDED", "", "", 1)
		if early := time.Until(due); early > 0 {
			t.Errorf("it ran %v before it was due", early)
		}
		for _, name := range []string{"-done", "-queued", "-running"} {
			if n := calls(t, yoga, tag+name); n != "1" {
				t.Errorf("%s was called %s times", name, n)
			}
		}
	})
}

func TestAKilledWorkersMutationRunsAgainOnlyWhereItIsIdempotent(t *testing.T) {
	t.Parallel()
	yoga := upstreams.Yoga(t)
	onEachStore(t, func(t *testing.T, store string) {
		g := beforeYoga(t, store, yoga, yoga)
		killed := g.serve(t)
		again, never := killed.as(token(t, "ada", "acme")), killed.as(token(t, "ada", "globex"))
		tag := t.Name()
		idempotent := again.submit(t, slow("2", tag+"-idempotent"))
		other := never.submit(t, slow("2", tag+"-other"))
		began(t, yoga, tag+"-idempotent")
		began(t, yoga, tag+"-other")
		killed.Kill()

		n := g.serve(t)
		lost := n.as(never.token).await(t, other.ID)
		lost.ended(t, "FAILED", "OUTCOME_UNKNOWN", "UNKNOWN", 1)
		if lost.Error.Retryable {
			t.Error("submitting it again could do the work twice, and it is called retryable")
		}
		n.as(again.token).await(t, idempotent.ID).ended(t, "SUCCEEDED", "", "", 2)
		if n := calls(t, yoga, tag+"-other"); n != "1" {
			t.Errorf("what is not idempotent was called %s times", n)
		}
		if n := calls(t, yoga, tag+"-idempotent"); n != "2" {
			t.Errorf("what is idempotent was called %s times", n)
		}
	})
}
