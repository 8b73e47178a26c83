package postgres_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"asyncgate/internal/asyncop"
	"asyncgate/internal/asyncop/postgres"
	"asyncgate/test/pgtest"
)

func TestNodesMayMigrateAtOnce(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			store, err := postgres.Open(t.Context(), url, postgres.Options{Migrate: true})
			if err != nil {
				t.Errorf("open: %v", err)
				return
			}
			store.Close()
		})
	}
	wg.Wait()
	if err := postgres.Migrate(t.Context(), url); err != nil {
		t.Errorf("migrate again: %v", err)
	}
}

func TestAnotherVersionsSchemaIsRefused(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	_, err := postgres.Open(t.Context(), url, postgres.Options{})
	if !errors.Is(err, asyncop.ErrSchemaOld) || !strings.Contains(err.Error(), "gateway migrate") {
		t.Errorf("an empty database: %v, want ErrSchemaOld naming gateway migrate", err)
	}
	if err := postgres.Migrate(t.Context(), url); err != nil {
		t.Fatal(err)
	}
	store, err := postgres.Open(t.Context(), url, postgres.Options{})
	if err != nil {
		t.Fatalf("a migrated database: %v", err)
	}
	store.Close()

	execute(t, url, "INSERT INTO async_schema_version (version_id, is_applied) VALUES (99999, true)")
	for _, migrate := range []bool{false, true} {
		if _, err := postgres.Open(t.Context(), url, postgres.Options{Migrate: migrate}); !errors.Is(err, asyncop.ErrSchemaOld) {
			t.Errorf("a newer schema, migrate %v: %v, want ErrSchemaOld", migrate, err)
		}
	}
}

func TestErrorsKeepThePassword(t *testing.T) {
	t.Parallel()
	for _, url := range []string{
		"postgres://ada:hunter2@127.0.0.1:1/db?sslmode=disable",
		"postgres://ada:hunter2@127.0.0.1:port/db",
		"postgres://ada:hunter2@127.0.0.1/db?sslmode=hunter2",
	} {
		_, err := postgres.Open(t.Context(), url, postgres.Options{Migrate: true})
		if err == nil || strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), url) {
			t.Errorf("open: %v", err)
		}
	}
	if _, err := postgres.Open(t.Context(), "postgres://%", postgres.Options{}); !errors.Is(err, postgres.ErrBadURL) {
		t.Errorf("got %v, want ErrBadURL", err)
	}
}

// TestTheSchemaRefusesImpossibleRows breaks one invariant at a time.
func TestTheSchemaRefusesImpossibleRows(t *testing.T) {
	t.Parallel()
	const (
		running = "state = 'RUNNING', attempts = 1, started_at = now(), claim_token = gen_random_uuid(), node = 'n'"
		ended   = "state = 'SUCCEEDED', result = '{}', finished_at = now()"
	)
	faults := map[string]string{
		"an unknown state":           "state = 'LOST'",
		"a claim while queued":       "claim_token = gen_random_uuid()",
		"running without a claim":    "state = 'RUNNING', attempts = 1, started_at = now(), node = 'n'",
		"running without a node":     "state = 'RUNNING', attempts = 1, started_at = now(), claim_token = gen_random_uuid()",
		"running, never started":     "state = 'RUNNING', attempts = 1, claim_token = gen_random_uuid(), node = 'n'",
		"finished while queued":      "finished_at = now()",
		"ended without an end":       "state = 'SUCCEEDED'",
		"ended before it began":      "state = 'SUCCEEDED', finished_at = created_at - interval '1 s'",
		"a success with a failure":   ended + ", failure_code = 'TIMEOUT', failure_message = ''",
		"a failure without a reason": "state = 'FAILED', finished_at = now()",
		"cancelled for a failure":    "state = 'CANCELLED', finished_at = now(), failure_code = 'TIMEOUT', failure_message = ''",
		"half a failure":             "failure_code = 'TIMEOUT'",
		"a result while queued":      "result = '{}'",
		"purged with a result":       ended + ", purged = true",
		"more attempts than allowed": "attempts = max_attempts + 1",
		"fewer attempts than none":   "attempts = -1",
		"no attempt allowed":         "max_attempts = 0",
		"an unknown execution":       "execution = 3",
		"a priority out of range":    "priority = 10",
		"no list of mutations":       "mutations = NULL",
	}
	url := pgtest.URL(t)
	store := open(t, url, nil)
	if _, err := store.Submit(t.Context(), []asyncop.Submission{submission()}); err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	for fault, set := range faults {
		_, err := conn.Exec(t.Context(), "UPDATE async_operations SET "+set)
		var pgErr *pgconn.PgError
		if !errors.As(err, &pgErr) || !strings.HasPrefix(pgErr.Code, "235") {
			t.Errorf("%s: %v, want an integrity violation", fault, err)
		}
	}
	for _, set := range []string{running, ended + ", claim_token = NULL, node = NULL"} {
		if _, err := conn.Exec(t.Context(), "UPDATE async_operations SET "+set); err != nil {
			t.Errorf("a possible row: %v", err)
		}
	}
}
