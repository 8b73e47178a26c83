package postgres_test

import (
	"testing"

	"asyncgate/internal/asyncop"
	"asyncgate/test/pgtest"
)

// TestBehindPgBouncerInTransactionModeWakesArePolledFor has LISTEN accepted, and
// nothing heard.
func TestBehindPgBouncerInTransactionModeWakesArePolledFor(t *testing.T) {
	t.Parallel()
	direct := pgtest.URL(t)
	by := start(t, direct)
	here := newWaiting(t, pgtest.Bouncer(t, direct))
	for range 5 {
		if took := here.pushed(t, by, func() {}); took > latestPush {
			t.Errorf("told after %v", took)
		}
	}
	if here.Listening() {
		t.Error("a LISTEN that hears nothing is taken for proven")
	}
	id := by.submit(t)
	if _, err := here.Heartbeat(t.Context(), "behind", nil); err != nil {
		t.Fatal(err)
	}
	claimed, err := here.Claim(t.Context(), asyncop.Intake{Node: "behind", Limit: 10, Look: true})
	if err != nil || len(claimed.Claims) != 1 || claimed.Claims[0].Operation.ID != id {
		t.Fatalf("claimed %v, %v", claimed.Claims, err)
	}
	settled, err := here.Finish(t.Context(), []asyncop.Finished{{Claim: claimed.Claims[0].Ref(), Outcome: asyncop.Succeed([]byte(`{"data":{}}`))}})
	if err != nil || settled[0].Err != nil {
		t.Errorf("finish: %v, %v", settled, err)
	}
}
