package e2e

import (
	"testing"
	"time"

	"asyncgate/test/upstreams"
)

func TestAWaitEndsWithTheOperationOrWithItsTime(t *testing.T) {
	t.Parallel()
	yoga := upstreams.Yoga(t)
	onEachStore(t, func(t *testing.T, store string) {
		ada := beforeYoga(t, store, yoga, yoga).serve(t).as(token(t, "ada", "globex"))
		waiting := time.Now()
		done := ada.submit(t, slow("0.3", t.Name(), "waitMs", "30000"))
		within(t, 10*time.Second, "the submission's wait", waiting)
		done.ended(t, "SUCCEEDED", "", "", 1)

		queued := ada.submit(t, slow("0", t.Name(), "notBefore", instant(time.Now().Add(30*time.Minute))))
		waiting = time.Now()
		still := ada.get(t, queued.ID, "300")
		if took := time.Since(waiting); still.State != "QUEUED" || took < 300*time.Millisecond {
			t.Errorf("after %v it is %s", took, still.State)
		}
		within(t, 5*time.Second, "the query's wait", waiting)
		const bounded = `subscription ($id: ID!, $waitMs: Int) { operationResult(id: $id, waitMs: $waitMs) { id } }`
		for _, waitMs := range []string{"0", "300"} {
			s := ada.connect(t)
			s.subscribe(t, bounded, object("id", quote(queued.ID), "waitMs", waitMs))
			all := s.run(t)
			if len(all) != 1 || all[0].Type != "error" || codeIn([]byte(object("errors", string(all[0].payload)))) != "WAIT_TIMEOUT" {
				t.Errorf("waitMs %s: got %+v", waitMs, all)
			}
		}
	})
}

func TestASocketCarriesManyOperationsAtOnce(t *testing.T) {
	t.Parallel()
	yoga := upstreams.Yoga(t)
	ada := beforeYoga(t, stores["SQLite"](t), yoga, yoga).serve(t).as(token(t, "ada", "globex"))
	s := ada.connect(t)
	wanted := map[string]string{} // the operation's id by the subscription's
	for _, name := range []string{"a", "b", "c", "d"} {
		wanted[name] = ada.submit(t, slow("0.5", t.Name()+name)).ID
		s.send(t, object("type", `"subscribe"`, "id", quote(name), "payload", string(body(resultDocument, object("id", quote(wanted[name]))))))
	}
	for range 2 * len(wanted) {
		m := s.receive(t)
		if m.Type == "complete" {
			continue
		}
		op := operationAt(t, m.payload, "data", "operationResult")
		if op.ID != wanted[m.ID] || op.State != "SUCCEEDED" {
			t.Errorf("subscription %s got operation %s, which is %s", m.ID, op.ID, op.State)
		}
	}
}
