package postgres

import (
	"testing"

	"github.com/jackc/pgx/v5/stdlib"

	"asyncgate/test/pgtest"
)

// TestRowsOfTheFirstSchemaStayWhatTheyAre migrates a queue up, down and up
// again: what was scheduled is not due before its time.
func TestRowsOfTheFirstSchemaStayWhatTheyAre(t *testing.T) {
	t.Parallel()
	config, err := poolConfig(pgtest.URL(t))
	if err != nil {
		t.Fatal(err)
	}
	db := stdlib.OpenDB(*config.ConnConfig)
	defer db.Close()
	provider, err := newProvider(db)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := provider.UpTo(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	const queue = `
INSERT INTO async_operations (id, issuer, subject, authority, mutations, document, idempotent,
    fingerprint, priority, max_attempts, created_at, not_before, start_before, label)
SELECT gen_random_uuid(), 'issuer', 'ada', '{}', '{pay}', 'mutation { pay }', true,
    sha256('pay'), 4, 3, now(), now() + wait, now() + interval '1 day', wait::text
FROM unnest(ARRAY[interval '0', interval '1 hour']) AS wait`
	if _, err := db.ExecContext(t.Context(), queue); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := provider.Up(t.Context()); err != nil {
			t.Fatal(err)
		}
		var right int
		if err := db.QueryRowContext(t.Context(), "SELECT count(*) FROM async_operations WHERE due = (not_before <= now())").Scan(&right); err != nil {
			t.Fatal(err)
		}
		if right != 2 {
			t.Errorf("%d of 2 rows are due as they should be", right)
		}
		if _, err := provider.DownTo(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
	}
}
