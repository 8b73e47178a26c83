package chaos

import (
	"database/sql"
	"strings"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib" // the drivers, to read rows past the gateway
	_ "modernc.org/sqlite"
)

// row is what a store holds of an operation.
type row struct {
	id        string
	key       string
	state     string
	code      string // "" without a failure
	result    string // "" without one
	attempts  int
	execution int // 0: not executed, 1: unknown, 2: executed
}

// open opens a store of either kind beside the gateway.
func open(t *testing.T, store string) *sql.DB {
	t.Helper()
	driver, source := "pgx", store
	if path, ok := strings.CutPrefix(store, "sqlite:"); ok {
		driver, source = "sqlite", "file:"+path+"?mode=ro&_pragma=busy_timeout(5000)"
	}
	db, err := sql.Open(driver, source)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// settled waits until every operation has ended, and answers them all.
func settled(t *testing.T, store string) []row {
	t.Helper()
	db := open(t, store)
	eventually(t, "every operation has ended", func() bool {
		var live int
		err := db.QueryRowContext(t.Context(), `SELECT count(*) FROM async_operations WHERE finished_at IS NULL`).Scan(&live)
		return err == nil && live == 0
	})
	found, err := db.QueryContext(t.Context(), `SELECT CAST(id AS text), coalesce(idempotency_key, ''), state,
		coalesce(failure_code, ''), coalesce(result, ''), attempts, execution FROM async_operations`)
	if err != nil {
		t.Fatal(err)
	}
	defer found.Close()
	var rows []row
	for found.Next() {
		var r row
		if err := found.Scan(&r.id, &r.key, &r.state, &r.code, &r.result, &r.attempts, &r.execution); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, r)
	}
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
	return rows
}
