package sqlite

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"asyncgate/internal/asyncop"
)

func TestASubmissionThatTheSchemaRefusesFailsNoNeighbour(t *testing.T) {
	t.Parallel()
	store := fresh(t, Options{})
	before, after := submission(), submission()
	tooUrgent := submission(func(s *asyncop.Submission) { s.Priority = 10 })
	submitted, err := store.Submit(t.Context(), []asyncop.Submission{before, tooUrgent, before, after})
	if err != nil {
		t.Fatal(err)
	}
	for i, wantErr := range []bool{false, true, true, false} {
		if got := submitted[i].Err; (got != nil) != wantErr {
			t.Errorf("submission %d: %v", i, got)
		}
	}
	get(t, store, before.ID)
	get(t, store, after.ID)
}

func TestAFullDiskIsAnErrorAndLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	store := fresh(t, Options{})
	kept := submit(t, store)
	limitPages(t, store, 1) // SQLite takes it for the present size
	batch := []asyncop.Submission{submission(), submission(func(s *asyncop.Submission) {
		s.Document = strings.Repeat("x", 1<<20)
	})}

	_, err := store.Submit(t.Context(), batch)
	var full *sqlite.Error
	if !errors.As(err, &full) || full.Code() != sqlite3.SQLITE_FULL {
		t.Fatalf("got %v, want SQLITE_FULL", err)
	}
	get(t, store, kept.ID)
	for _, s := range batch {
		if _, err := store.Get(t.Context(), everything, s.ID); !errors.Is(err, asyncop.ErrNotFound) {
			t.Errorf("got %v, want ErrNotFound", err)
		}
	}
	limitPages(t, store, 1000000)
	if _, err := store.Submit(t.Context(), batch); err != nil {
		t.Errorf("with room again: %v", err)
	}
}

func limitPages(t *testing.T, store *Store, pages int) {
	t.Helper()
	if _, err := store.writer.Exec(fmt.Sprintf("PRAGMA max_page_count = %d", pages)); err != nil {
		t.Fatal(err)
	}
}

func TestAResultOfEightMebibytesComesBack(t *testing.T) {
	t.Parallel()
	store := fresh(t, Options{})
	op := submit(t, store)
	result := json.RawMessage(`{"data":"` + strings.Repeat("ü", 4<<20) + `"}`)
	finish(t, store, claimOne(t, store), asyncop.Succeed(result))
	if got := get(t, store, op.ID).Result; string(got) != string(result) {
		t.Errorf("%d bytes came back of %d", len(got), len(result))
	}
}

func TestAWriteThatHasBegunIsNotCutOff(t *testing.T) {
	t.Parallel()
	store := fresh(t, Options{})
	ctx, cancel := context.WithCancel(t.Context())
	err := store.write(ctx, func(ctx context.Context, tx transaction) error {
		cancel()
		return tx.exec(ctx, heartbeatSQL, values{"node": node, "now": now()})
	})
	if err != nil {
		t.Fatal(err)
	}
	var nodes int
	if err := store.reader.QueryRow("SELECT count(*) FROM async_nodes").Scan(&nodes); err != nil || nodes != 1 {
		t.Errorf("%d nodes, %v", nodes, err)
	}
}

func TestWaitingForAWriteEndsWithTheContext(t *testing.T) {
	t.Parallel()
	store := fresh(t, Options{})
	err := store.write(t.Context(), func(context.Context, transaction) error {
		ctx, cancel := context.WithCancel(t.Context())
		var waiting sync.WaitGroup
		waiting.Go(func() {
			if _, err := store.Submit(ctx, []asyncop.Submission{submission()}); !errors.Is(err, context.Canceled) {
				t.Errorf("got %v, want context.Canceled", err)
			}
		})
		cancel()
		waiting.Wait()
		return store.Ping(t.Context()) // reads do not wait
	})
	if err != nil {
		t.Error(err)
	}
}

func TestManyWritersTakeTurns(t *testing.T) {
	t.Parallel()
	store := fresh(t, Options{})
	beat(t, store)
	const writers, each = 16, 10
	var group sync.WaitGroup
	for range writers {
		group.Go(func() {
			for range each {
				if err := oneLife(t.Context(), store); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	group.Wait()
	var succeeded int
	err := store.reader.QueryRow("SELECT count(*) FROM async_operations WHERE state = 'SUCCEEDED'").Scan(&succeeded)
	if err != nil || succeeded != writers*each {
		t.Errorf("%d succeeded of %d, %v", succeeded, writers*each, err)
	}
}

// oneLife submits one operation, and claims and finishes one.
func oneLife(ctx context.Context, store *Store) error {
	if _, err := store.Submit(ctx, []asyncop.Submission{submission()}); err != nil {
		return err
	}
	claimed, err := store.Claim(ctx, asyncop.Intake{Node: node, Limit: 1, Look: true})
	claims := claimed.Claims
	if err != nil || len(claims) != 1 {
		return fmt.Errorf("%d claims: %w", len(claims), err)
	}
	settled, err := store.Finish(ctx, []asyncop.Finished{{Claim: claims[0].Ref(), Outcome: asyncop.Succeed(json.RawMessage(`{}`))}})
	if err != nil {
		return err
	}
	return settled[0].Err
}

func TestReleaseAtAFullAttemptLogRestoresIt(t *testing.T) {
	t.Parallel()
	store := fresh(t, Options{})
	op := submit(t, store)
	for range asyncop.AttemptLogHead + asyncop.AttemptLogTail + 2 {
		retry(t, store, claimOne(t, store), 0)
	}
	before := get(t, store, op.ID).AttemptLog
	claim := claimOne(t, store)
	if log := claim.Operation.AttemptLog; len(log) != len(before) || log[len(log)-1].FinishedAt != nil {
		t.Errorf("the log has %d entries while running, want %d", len(log), len(before))
	}
	if _, err := store.Release(t.Context(), []asyncop.ClaimRef{claim.Ref()}); err != nil {
		t.Fatal(err)
	}
	after := get(t, store, op.ID).AttemptLog
	if len(after) != asyncop.AttemptLogHead+asyncop.AttemptLogTail || fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("the log has %d entries after the release, or others than before", len(after))
	}
}

// The schema refuses rows that the state machine cannot make.
func TestImpossibleRowsAreRefused(t *testing.T) {
	t.Parallel()
	store := fresh(t, Options{})
	queued := submit(t, store, func(s *asyncop.Submission) { s.Priority = 0 })
	submit(t, store)
	beat(t, store)
	claimed, err := store.Claim(t.Context(), asyncop.Intake{Node: node, Limit: 1, Look: true})
	claims := claimed.Claims
	if err != nil || len(claims) != 1 {
		t.Fatalf("%d claims, %v", len(claims), err)
	}
	running := claims[0].Operation
	done := submit(t, store)
	if _, err := store.Cancel(t.Context(), everything, done.ID); err != nil {
		t.Fatal(err)
	}
	for _, impossible := range []struct {
		id  uuid.UUID
		set string
	}{
		{queued.ID, "state = 'DONE'"},
		{queued.ID, "state = 'RUNNING'"},
		{queued.ID, "state = 'FAILED'"},
		{queued.ID, "claim_token = 'x'"},
		{queued.ID, "node = 'node-1'"},
		{queued.ID, "finished_at = 1"},
		{queued.ID, "attempts = max_attempts"},
		{queued.ID, "attempts = -1"},
		{queued.ID, "max_attempts = 0"},
		{queued.ID, "cancellation_requested = 1"},
		{queued.ID, "result = '{}'"},
		{queued.ID, "purged = 1"},
		{queued.ID, "priority = 10"},
		{queued.ID, "priority = 'high'"},
		{queued.ID, "execution = 3"},
		{queued.ID, "failure_code = 'TIMEOUT'"},
		{queued.ID, "idempotency_key = ''"},
		{queued.ID, "fingerprint = x'00'"},
		{queued.ID, "mutations = '{}'"},
		{queued.ID, "attempt_log = 'none'"},
		{running.ID, "claim_token = NULL"},
		{running.ID, "node = NULL"},
		{running.ID, "node = 'no such node'"},
		{running.ID, "started_at = NULL"},
		{running.ID, "state = 'QUEUED'"},
		{running.ID, "attempts = max_attempts + 1"},
		{done.ID, "finished_at = NULL"},
		{done.ID, "failure_code = NULL, failure_message = NULL"},
		{done.ID, "state = 'SUCCEEDED'"},
		{done.ID, "result = '{}', purged = 1"},
	} {
		_, err := store.writer.Exec("UPDATE async_operations SET "+impossible.set+" WHERE id = ?", impossible.id.String())
		if !refused(err) {
			t.Errorf("%s: got %v, want a refusal", impossible.set, err)
		}
	}
}

// The clock of a machine may be set back; an end never comes before its start.
func TestAClockThatIsSetBackStopsNothing(t *testing.T) {
	t.Parallel()
	store := fresh(t, Options{})
	cancelled, done := submit(t, store), submit(t, store)
	if _, err := store.writer.Exec("UPDATE async_operations SET created_at = created_at + 3600000000"); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Cancel(t.Context(), everything, cancelled.ID); err != nil {
		t.Error(err)
	}
	finish(t, store, claimOne(t, store), asyncop.Succeed(json.RawMessage(`{}`)))
	op := get(t, store, done.ID)
	if !op.StartedAt.Equal(op.CreatedAt) || !op.FinishedAt.Equal(op.CreatedAt) {
		t.Errorf("created %s, started %s, finished %s", op.CreatedAt, op.StartedAt, op.FinishedAt)
	}
}
