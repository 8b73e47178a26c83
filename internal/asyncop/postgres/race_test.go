package postgres

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"asyncgate/internal/asyncop"
	"asyncgate/test/pgtest"
)

// race is a Recover that meets a transaction of a node's, which has done its
// part and not committed.
type race struct {
	store *Store
	tx    pgx.Tx
	id    uuid.UUID
}

// newRace makes one due operation and a node with a heartbeat.
func newRace(t *testing.T) *race {
	t.Helper()
	store, err := Open(t.Context(), pgtest.URL(t), Options{Migrate: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	r := &race{store: store, id: uuid.Must(uuid.NewV7())}
	if _, err := store.Submit(t.Context(), []asyncop.Submission{{
		ID: r.id, Issuer: "issuer", Subject: "ada", Authority: json.RawMessage(`{}`),
		Mutations: []string{"pay"}, Document: "mutation { pay }", MaxAttempts: 1, StartWithin: time.Hour,
	}}); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Heartbeat(t.Context(), "node", nil); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *race) claim(t *testing.T) asyncop.ClaimRef {
	t.Helper()
	claimed, err := r.store.Claim(t.Context(), asyncop.Intake{Node: "node", Limit: 1, Look: true})
	claims := claimed.Claims
	if err != nil || len(claims) != 1 {
		t.Fatalf("%d claims, %v", len(claims), err)
	}
	return claims[0].Ref()
}

// hold runs a statement in a transaction that stays open.
func (r *race) hold(t *testing.T, sql string, args ...any) {
	t.Helper()
	tx, err := r.store.pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tx.Rollback(context.WithoutCancel(t.Context())) }) // committed by then, unless the test failed
	if _, err := tx.Exec(t.Context(), sql, args...); err != nil {
		t.Fatal(err)
	}
	r.tx = tx
}

// recover starts a Recover, waits until it waits for the transaction, commits
// that and answers what was taken.
func (r *race) recover(t *testing.T, staleAfter time.Duration) []uuid.UUID {
	t.Helper()
	taken := make(chan []uuid.UUID, 1)
	go func() {
		ids, err := r.store.Recover(t.Context(), staleAfter)
		if err != nil {
			t.Errorf("recover: %v", err)
		}
		taken <- ids
	}()
	const waiting = `SELECT count(*) > 0 FROM pg_stat_activity
		WHERE datname = current_database() AND wait_event_type = 'Lock'`
	for blocked := false; !blocked; {
		if err := r.store.pool.QueryRow(t.Context(), waiting).Scan(&blocked); err != nil {
			t.Fatal(err)
		}
		if len(taken) > 0 {
			t.Fatal("the recovery did not wait")
		}
	}
	if err := r.tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	return <-taken
}

func (r *race) state(t *testing.T) asyncop.State {
	t.Helper()
	op, err := r.store.Get(t.Context(), asyncop.EverythingScope(), r.id)
	if err != nil {
		t.Fatal(err)
	}
	return op.State
}

func TestRecoverLeavesWhatEndedWhileItWaited(t *testing.T) {
	t.Parallel()
	r := newRace(t)
	claim := r.claim(t)
	finished := []asyncop.Finished{{Claim: claim, Outcome: asyncop.Succeed(json.RawMessage(`{"data":{}}`))}}
	r.hold(t, finishSQL, append([]any{[]uuid.UUID{claim.ID}, []uuid.UUID{claim.Token}}, finishColumns(finished)...)...)
	if taken := r.recover(t, time.Microsecond); len(taken) != 0 {
		t.Errorf("took %v", taken)
	}
	if state := r.state(t); state != asyncop.Succeeded {
		t.Errorf("%s, want SUCCEEDED", state)
	}
}

func TestRecoverLeavesANodeWhoseHeartbeatCameFirst(t *testing.T) {
	t.Parallel()
	r := newRace(t)
	r.claim(t)
	if _, err := r.store.pool.Exec(t.Context(), "UPDATE async_nodes SET heartbeat_at = now() - interval '1 hour'"); err != nil {
		t.Fatal(err)
	}
	r.hold(t, heartbeatSQL, "node")
	if taken := r.recover(t, time.Minute); len(taken) != 0 {
		t.Errorf("took %v", taken)
	}
	if state := r.state(t); state != asyncop.Running {
		t.Errorf("%s, want RUNNING", state)
	}
}

func TestRecoverSeesTheClaimThatItWaitedFor(t *testing.T) {
	t.Parallel()
	r := newRace(t)
	r.hold(t, runningSQL, "node", []string{""}, []string{""})
	if _, err := r.tx.Exec(t.Context(), claimSQL, "node", uuid.New(), []uuid.UUID{r.id}); err != nil {
		t.Fatal(err)
	}
	if taken := r.recover(t, time.Microsecond); len(taken) != 1 {
		t.Errorf("took %v, want the operation", taken)
	}
	if state := r.state(t); state != asyncop.Failed {
		t.Errorf("%s, want FAILED", state)
	}
}

// TestAClaimWhoseAnswerWasLostIsGivenBack claims as a call does whose
// connection breaks after the commit, and then as a pool does that a reload
// started under another name.
func TestAClaimWhoseAnswerWasLostIsGivenBack(t *testing.T) {
	t.Parallel()
	r := newRace(t)
	lost := uuid.New()
	if _, err := r.store.Heartbeat(t.Context(), "node before", nil); err != nil {
		t.Fatal(err)
	}
	if _, err := r.store.pool.Exec(t.Context(), claimSQL, "node before", lost, []uuid.UUID{r.id}); err != nil {
		t.Fatal(err)
	}
	r.store.unheard.add("node before", lost)
	claim := r.claim(t)
	op, err := r.store.Get(t.Context(), asyncop.EverythingScope(), claim.ID)
	if err != nil {
		t.Fatal(err)
	}
	if op.Attempts != 1 || len(op.AttemptLog) != 1 {
		t.Errorf("%d attempts, %d logged, want the lost one to be taken back", op.Attempts, len(op.AttemptLog))
	}
	if settled, err := r.store.Finish(t.Context(), []asyncop.Finished{{Claim: claim, Outcome: asyncop.Succeed(json.RawMessage(`{}`))}}); err != nil || settled[0].Err != nil {
		t.Errorf("finish: %v, %v", settled, err)
	}
	r.store.unheard.forget(time.Now().Add(2 * unheardFor))
	if left := r.store.unheard.all(); len(left) != 0 {
		t.Errorf("%d calls are looked for for ever", len(left))
	}
}

func TestAFailedClaimIsLookedForLater(t *testing.T) {
	t.Parallel()
	r := newRace(t)
	intake := asyncop.Intake{Node: "node", Limit: 1}
	_, err := desk{r.store}.Within(t.Context(), intake, []string{""}, func(ctx context.Context, tx asyncop.Transaction) ([]asyncop.Claim, error) {
		if _, err := tx.Running(ctx, nil); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(ctx)
		cancel()
		return tx.Claim(ctx, []uuid.UUID{r.id}, nil)
	})
	if err == nil {
		t.Fatal("claimed under a cancelled context")
	}
	if calls := r.store.unheard.all(); len(calls) != 1 {
		t.Errorf("%d calls to look for, want 1", len(calls))
	}
	r.claim(t)
}

func TestCloseGivesBackWhatWasClaimedUnheard(t *testing.T) {
	t.Parallel()
	r := newRace(t)
	other, err := Open(t.Context(), r.store.pool.Config().ConnString(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	lost := uuid.New()
	if _, err := other.pool.Exec(t.Context(), claimSQL, "node", lost, []uuid.UUID{r.id}); err != nil {
		t.Fatal(err)
	}
	other.unheard.add("node", lost)
	other.Close()
	if state := r.state(t); state != asyncop.Queued {
		t.Errorf("%s, want QUEUED", state)
	}
}
