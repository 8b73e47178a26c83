package postgres

import (
	"testing"
	"time"

	"asyncgate/internal/asyncop/storetest"
	"asyncgate/test/pgtest"
)

// shiftSQL moves every instant back, as though time had passed.
const shiftSQL = `
WITH nodes AS (UPDATE async_nodes SET heartbeat_at = heartbeat_at - $1::bigint * interval '1 microsecond')
UPDATE async_operations
SET created_at = created_at - $1 * interval '1 microsecond',
    not_before = not_before - $1 * interval '1 microsecond',
    start_before = start_before - $1 * interval '1 microsecond',
    started_at = started_at - $1 * interval '1 microsecond',
    finished_at = finished_at - $1 * interval '1 microsecond',
    attempt_log = (
        SELECT coalesce(jsonb_agg(entry || jsonb_build_object(
            'started_at', (entry ->> 'started_at')::timestamptz - $1 * interval '1 microsecond',
            'finished_at', (entry ->> 'finished_at')::timestamptz - $1 * interval '1 microsecond') ORDER BY place), '[]')
        FROM jsonb_array_elements(attempt_log) WITH ORDINALITY AS logged (entry, place))`

func TestTheStoreDoesWhatTheModelDoes(t *testing.T) {
	t.Parallel()
	store, err := Open(t.Context(), pgtest.URL(t)+"&options=-csynchronous_commit%3Doff", Options{Migrate: true})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	storetest.CheckModel(t, storetest.World{
		Store: store,
		Pass: func(d time.Duration) error {
			_, err := store.pool.Exec(t.Context(), shiftSQL, d.Microseconds())
			return err
		},
		Empty: func() error {
			_, err := store.pool.Exec(t.Context(), "WITH n AS (DELETE FROM async_nodes) DELETE FROM async_operations")
			return err
		},
	})
}
