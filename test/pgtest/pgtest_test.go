package pgtest_test

import (
	"context"
	"os"
	"testing"

	"github.com/jackc/pgx/v5"

	"asyncgate/test/pgtest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

func exec(t *testing.T, url, sql string) error {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	_, err = conn.Exec(t.Context(), sql)
	return err
}

func TestEachURLIsAnEmptyDatabase(t *testing.T) {
	t.Parallel()
	for range 2 {
		if err := exec(t, pgtest.URL(t), "CREATE TABLE one (id int)"); err != nil {
			t.Error(err)
		}
	}
}

func TestARestartKeepsDataAndPort(t *testing.T) {
	t.Parallel()
	cluster := pgtest.New(t)
	url := cluster.NewDatabase(t)
	if err := exec(t, url, "CREATE TABLE one (id int)"); err != nil {
		t.Fatal(err)
	}
	if err := cluster.Stop(); err != nil {
		t.Fatal(err)
	}
	if err := exec(t, url, "SELECT 1"); err == nil {
		t.Error("a stopped cluster answered")
	}
	if err := cluster.Start(); err != nil {
		t.Fatal(err)
	}
	if err := cluster.Restart(); err != nil {
		t.Fatal(err)
	}
	if err := exec(t, url, "SELECT id FROM one"); err != nil {
		t.Error(err)
	}
}
