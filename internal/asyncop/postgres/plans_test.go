package postgres

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"asyncgate/internal/asyncop"
	"asyncgate/test/pgtest"
)

// manyRows makes 200,000 rows of 50 submitters in 5 tenants: 160,000 ended,
// 20,000 due, 10,000 scheduled, 5,000 overdue and 5,000 running.
const manyRows = `
INSERT INTO async_operations (id, state, tenant, issuer, subject, authority, mutations, document, idempotent,
    idempotency_key, fingerprint, priority, attempts, max_attempts, created_at, not_before, start_before,
    started_at, finished_at, claim_token, node, result, due)
SELECT gen_random_uuid(), k.state, 'tenant-' || n % 5, 'issuer', 'subject-' || n % 50, '{}', '{pay}', 'mutation { pay }', true,
    'key-' || n, sha256(n::text::bytea), n % 10, (k.state <> 'QUEUED')::int, 3, now() - interval '1 day' + n * interval '1 ms',
    now() + CASE WHEN k.kind = 17 THEN interval '1 hour' ELSE n * interval '-1 ms' END,
    now() + CASE WHEN n % 40 = 37 THEN interval '-1 hour' ELSE interval '1 day' END,
    CASE WHEN k.state <> 'QUEUED' THEN now() - interval '1 hour' END,
    CASE WHEN k.state = 'SUCCEEDED' THEN now() - n * interval '1 ms' END,
    CASE WHEN k.state = 'RUNNING' THEN gen_random_uuid() END,
    CASE WHEN k.state = 'RUNNING' THEN 'node-' || n % 3 END,
    CASE WHEN k.state = 'SUCCEEDED' THEN '{"data":{}}' END, k.kind <> 17
FROM generate_series(1, 200000) AS n
CROSS JOIN LATERAL (SELECT n % 20 AS kind, CASE
    WHEN n % 20 < 16 THEN 'SUCCEEDED' WHEN n % 40 = 36 THEN 'RUNNING' ELSE 'QUEUED' END AS state) AS k`

// plan is what the planner must do with a statement.
type plan struct {
	statement
	index  string // must find the rows; "": any
	pkey   bool   // and then the primary key, to change them
	sorts  bool   // may sort what it has limited already
	custom bool   // is always planned for its arguments
}

// plans are the statements that many rows must not slow down.
func plans() map[string]plan {
	ids := make([]uuid.UUID, 100)
	texts, shorts := make([]string, 100), make([]int16, 100)
	list := func(scope asyncop.Scope) statement {
		sql, args := listStatement(asyncop.List{Scope: scope, First: 20})
		return statement{sql, args}
	}
	return map[string]plan{
		"claim":          {statement: statement{claimSQL, []any{"node-1", ids[0], ids}}, index: "async_operations_pkey"},
		"move":           {statement: statement{moveSQL, []any{ids, texts}}, index: "async_operations_pkey"},
		"candidates":     {statement: statement{candidatesSQL, []any{texts, texts, texts, texts, make([]int64, 100)}}, index: "async_operations_backlog"},
		"tenants":        {statement: statement{tenantsSQL, []any{"", 1000}}, index: "async_operations_backlog"},
		"tenants after":  {statement: statement{tenantsSQL, []any{"tenant-2", 1000}}, index: "async_operations_backlog"},
		"backlogs":       {statement: statement{backlogsSQL, []any{texts, texts, texts, texts, 16}}, index: "async_operations_backlog"},
		"running":        {statement: statement{runningSQL, []any{"node-1", texts, texts}}, index: "async_operations_running"},
		"come due":       {statement: statement{comeDueSQL, []any{500}}, index: "async_operations_scheduled", pkey: true, sorts: true},
		"next scheduled": {statement: statement{nextScheduledSQL, nil}, index: "async_operations_scheduled"},

		"expire":   {statement: statement{expireSQL, []any{100, "late"}}, index: "async_operations_expiry", pkey: true},
		"next due": {statement: statement{nextDueSQL, nil}, index: "async_operations_scheduled"},
		"recover":  {statement: statement{recoverSQL, []any{"cancelled", "lost"}}, index: "async_operations_running", pkey: true, sorts: true},
		"purge":    {statement: statement{purgeSQL, []any{1000, 100}}, index: "async_operations_result", pkey: true},
		"delete":   {statement: statement{deleteSQL, []any{1000, 100}}, index: "async_operations_finished", pkey: true},

		"list submitter":      {statement: list(asyncop.SubmitterScope("tenant-1", "issuer", "subject-1")), index: "async_operations_submitter", custom: true},
		"list rare submitter": {statement: list(asyncop.SubmitterScope("tenant-1", "issuer", "rare")), index: "async_operations_submitter", custom: true},
		"list tenants":        {statement: list(asyncop.TenantsScope("tenant-1", "rare")), index: "async_operations_tenant", sorts: true, custom: true},
		"list everything":     {statement: list(asyncop.EverythingScope()), index: "async_operations_newest", custom: true},

		"winners":   {statement: statement{winnersSQL, []any{ids, texts, texts, texts, texts}}, index: "async_operations_key"},
		"get":       {statement: statement{getSQL, []any{ids[0], nil, nil, nil}}, index: "async_operations_pkey"},
		"revisions": {statement: statement{revisionsSQL, []any{ids}}, index: "async_operations_pkey"},
		"unheard":   {statement: statement{unheardSQL, []any{"node-1", ids[0]}}, index: "async_operations_running"},
		"pulses":    {statement: statement{pulsesSQL, []any{"node-1", ids, ids}}},
		"finish":    {statement: statement{finishSQL, []any{ids, ids, texts, texts, texts, texts, shorts}}, index: "async_operations_pkey", sorts: true},
		"retry":     {statement: statement{retrySQL, []any{ids, ids, texts, texts, shorts, make([]int64, 100), make([]bool, 100), ""}}, index: "async_operations_pkey", sorts: true},
		"release":   {statement: statement{releaseSQL, []any{ids, ids, ""}}, index: "async_operations_pkey", sorts: true},
	}
}

// TestPlansUseIndexesOn200000Rows looks at custom and generic plans, without
// statistics, with those of a table that was nearly empty, and with fresh ones.
func TestPlansUseIndexesOn200000Rows(t *testing.T) {
	t.Parallel()
	store, err := Open(t.Context(), pgtest.URL(t), Options{Migrate: true})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	conn, err := store.pool.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	steps := []struct{ statistics, sql string }{
		{"", "ALTER TABLE async_operations SET (autovacuum_enabled = false)"},
		{"no", manyRows},
		{"", "TRUNCATE async_operations"},
		{"", strings.Replace(manyRows, "200000", "100", 1)},
		{"", "ANALYZE async_operations"},
		{"stale", manyRows + " WHERE n > 100"},
		{"fresh", "ANALYZE async_operations"},
	}
	for _, step := range steps {
		if _, err := conn.Exec(t.Context(), step.sql); err != nil {
			t.Fatal(err)
		}
		if step.statistics != "" {
			requirePlans(t, conn.Conn(), step.statistics)
		}
	}
}

func requirePlans(t *testing.T, conn *pgx.Conn, statistics string) {
	t.Helper()
	for name, want := range plans() {
		requirePlan(t, conn, explainCustom, want, name+", custom plan, "+statistics+" statistics")
		if !want.custom {
			requirePlan(t, conn, explainGeneric, want, name+", generic plan, "+statistics+" statistics")
		}
	}
}

type explainer func(ctx context.Context, conn *pgx.Conn, s statement) (string, error)

func requirePlan(t *testing.T, conn *pgx.Conn, explain explainer, want plan, name string) {
	t.Helper()
	text, err := explain(t.Context(), conn, want.statement)
	if err != nil {
		t.Fatalf("explain %s: %v", name, err)
	}
	if strings.Contains(text, "Seq Scan on async_operations") {
		t.Errorf("%s: reads the whole table:\n%s", name, text)
	}
	if !want.sorts && strings.Contains(text, "Sort") {
		t.Errorf("%s: sorts:\n%s", name, text)
	}
	if !strings.Contains(text, want.index) {
		t.Errorf("%s: does not use %s:\n%s", name, want.index, text)
	}
	if want.pkey && !strings.Contains(text, "async_operations_pkey") {
		t.Errorf("%s: does not change the rows by their primary key:\n%s", name, text)
	}
}

// explainCustom answers the plan for these very arguments.
func explainCustom(ctx context.Context, conn *pgx.Conn, s statement) (string, error) {
	return explain(ctx, conn, "EXPLAIN "+s.sql, s.args...)
}

// explainGeneric answers the plan for any arguments, which PostgreSQL may come
// to prefer for a prepared statement.
func explainGeneric(ctx context.Context, conn *pgx.Conn, s statement) (string, error) {
	if len(s.args) == 0 {
		return explainCustom(ctx, conn, s)
	}
	if _, err := conn.Exec(ctx, "SET plan_cache_mode = force_generic_plan"); err != nil {
		return "", err
	}
	if _, err := conn.Exec(ctx, "PREPARE generic AS "+s.sql, pgx.QueryExecModeSimpleProtocol); err != nil {
		return "", err
	}
	nulls := strings.TrimSuffix(strings.Repeat("NULL, ", len(s.args)), ", ")
	text, err := explain(ctx, conn, fmt.Sprintf("EXPLAIN EXECUTE generic (%s)", nulls), pgx.QueryExecModeSimpleProtocol)
	if err != nil {
		return "", err
	}
	_, err = conn.Exec(ctx, "DEALLOCATE generic; RESET plan_cache_mode", pgx.QueryExecModeSimpleProtocol)
	return text, err
}

func explain(ctx context.Context, conn *pgx.Conn, sql string, args ...any) (string, error) {
	rows, err := conn.Query(ctx, sql, args...)
	if err != nil {
		return "", err
	}
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	return strings.Join(lines, "\n"), err
}
