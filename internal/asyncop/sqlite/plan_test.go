package sqlite

import (
	"strings"
	"testing"
)

// Without statistics a plan does not depend on what is in the file: an empty
// one shows how a large one is read.
func TestEveryStatementReadsAnIndexInItsOrder(t *testing.T) {
	t.Parallel()
	store := fresh(t, Options{})
	for _, statement := range append(append([]string{}, writes...), reads...) {
		plan := explain(t, store, statement)
		for _, bad := range []string{"SCAN async_operations", "TEMP B-TREE", "AUTOMATIC"} {
			if strings.Contains(plan, bad) {
				t.Errorf("%s in the plan of\n%s\n%s", bad, statement, plan)
			}
		}
	}
}

func TestStatementsUseTheIndexMadeForThem(t *testing.T) {
	t.Parallel()
	store := fresh(t, Options{})
	for index, statements := range map[string][]string{
		"async_operations_backlog (tenant=? AND issuer=? AND subject=? AND lane=?":            {candidatesSQL},
		"async_operations_backlog (tenant=? AND (issuer,subject,lane)>(?,?,?))":               {nextBacklogSQL},
		"async_operations_backlog (tenant>?)":                                                 {nextTenantSQL},
		"async_operations_scheduled":                                                          {nextDueSQL, nextScheduledSQL, comeDueSQL},
		"async_operations_busy (tenant=?)":                                                    {runningSQL, runningMutationSQL},
		"async_operations_expiry (start_before<?)":                                            {expireSQL},
		"async_operations_expiry":                                                             {nextDueSQL},
		"async_operations_running (node=?)":                                                   {recoverSQL, forgetSQL},
		"async_operations_finished (finished_at<?)":                                           {deleteSQL},
		"async_operations_result (finished_at<?)":                                             {purgeSQL},
		"async_operations_newest ((created_at,id)<(?,?))":                                     {listEverythingSQL},
		"async_operations_tenant (tenant=? AND (created_at,id)<(?,?))":                        {listTenantSQL},
		"async_operations_submitter (tenant=? AND issuer=? AND subject=? AND (created_at,id)": {listSubmitterSQL},
		"async_operations_key (tenant=? AND issuer=? AND subject=? AND idempotency_key=?)":    {keyedSQL},
		"sqlite_autoindex_async_operations_1 (id=?)": {
			getSQL, revisionsSQL, claimSQL, pulseSQL, finishSQL, retrySQL, releaseSQL, recoverSQL, cancelSQL,
		},
	} {
		for _, statement := range statements {
			if plan := explain(t, store, statement); !strings.Contains(plan, "INDEX "+index) {
				t.Errorf("the plan does not use %s:\n%s\n%s", index, statement, plan)
			}
		}
	}
}

// explain answers the plan of a statement, a line a step.
func explain(t *testing.T, store *Store, statement string) string {
	t.Helper()
	anything := values{}
	for _, word := range strings.FieldsFunc(statement, func(r rune) bool { return !strings.ContainsRune(parameterRunes, r) }) {
		if name, ok := strings.CutPrefix(word, "@"); ok {
			anything[name] = 1
		}
	}
	rows, err := store.writer.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+statement, anything.arguments()...)
	if err != nil {
		t.Fatalf("explain %s: %v", statement, err)
	}
	defer rows.Close()
	var plan strings.Builder
	for rows.Next() {
		var id, parent, unused int
		var detail string
		if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
			t.Fatal(err)
		}
		plan.WriteString(detail + "\n")
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return plan.String()
}

const parameterRunes = "@abcdefghijklmnopqrstuvwxyz_"
