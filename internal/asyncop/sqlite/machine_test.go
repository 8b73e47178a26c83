package sqlite

import (
	"context"
	"testing"
	"time"

	"asyncgate/internal/asyncop/storetest"
)

// shiftSQL moves every instant back, as though time had passed.
const shiftSQL = `
UPDATE async_nodes SET heartbeat_at = heartbeat_at - ?1;
UPDATE async_operations
SET created_at = created_at - ?1, not_before = not_before - ?1, start_before = start_before - ?1,
    started_at = started_at - ?1, finished_at = finished_at - ?1,
    attempt_log = (
        SELECT json_group_array(json_patch(value, json_object(
            'started_at', value ->> 'started_at' - ?1, 'finished_at', value ->> 'finished_at' - ?1)))
        FROM json_each(attempt_log))`

func TestTheStoreDoesWhatTheModelDoes(t *testing.T) {
	t.Parallel()
	store := fresh(t, Options{})
	execute := func(sql string, arguments ...any) error {
		return store.write(t.Context(), func(ctx context.Context, tx transaction) error {
			_, err := tx.tx.ExecContext(ctx, sql, arguments...)
			return err
		})
	}
	// What a crash leaves is for other tests: no sequence waits for the disk.
	if _, err := store.writer.ExecContext(t.Context(), "PRAGMA synchronous = OFF"); err != nil {
		t.Fatal(err)
	}
	storetest.CheckModel(t, storetest.World{
		Store: store,
		Pass:  func(d time.Duration) error { return execute(shiftSQL, d.Microseconds()) },
		Empty: func() error { return execute("DELETE FROM async_operations; DELETE FROM async_nodes") },
	})
}
