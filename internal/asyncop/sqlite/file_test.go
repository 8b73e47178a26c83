package sqlite

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"asyncgate/internal/asyncop"
)

func TestReopeningFindsEverything(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	store, err := Open(t.Context(), path, Options{Migrate: true})
	if err != nil {
		t.Fatal(err)
	}
	submit(t, store)
	done := claimOne(t, store)
	finish(t, store, done, asyncop.Succeed(json.RawMessage(`{"data":{"pay":1.10}}`)))
	want := []asyncop.Operation{submit(t, store), get(t, store, done.Operation.ID)}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}

	store = open(t, path, Options{})
	page, err := store.List(t.Context(), asyncop.List{Scope: everything, First: 10})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, page.Operations); diff != "" {
		t.Error(diff)
	}
}

// A copy of the files of a store that is open is what a crash leaves behind.
func TestACrashLosesNothingThatWasAnswered(t *testing.T) {
	t.Parallel()
	from, to := t.TempDir(), t.TempDir()
	store := open(t, filepath.Join(from, "store.db"), Options{Migrate: true})
	op := submit(t, store)
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	crashed := open(t, filepath.Join(to, "store.db"), Options{})
	if diff := cmp.Diff(op, get(t, crashed, op.ID)); diff != "" {
		t.Error(diff)
	}
}

func TestOpenRecoversWhatWasRunning(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	store, err := Open(t.Context(), path, Options{Migrate: true})
	if err != nil {
		t.Fatal(err)
	}
	again := submit(t, store, func(s *asyncop.Submission) { s.Idempotent = true })
	lost := submit(t, store)
	asked := submit(t, store)
	if claims := claim(t, store); len(claims) != 3 {
		t.Fatalf("%d claims, want 3", len(claims))
	}
	if _, err := store.Cancel(t.Context(), everything, asked.ID); err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}

	store = open(t, path, Options{})
	for id, want := range map[string]asyncop.State{
		again.ID.String(): asyncop.Queued, lost.ID.String(): asyncop.Failed, asked.ID.String(): asyncop.Cancelled,
	} {
		op, err := scanOperation(store.reader.queryRow(t.Context(), getSQL, scopeless(id)))
		if err != nil {
			t.Fatal(err)
		}
		if op.State != want || op.Execution != asyncop.UnknownExecution {
			t.Errorf("%s, %s after the restart, want %s, UNKNOWN", op.State, op.Execution, want)
		}
	}
	if claimed, err := store.Claim(t.Context(), asyncop.Intake{Node: node, Limit: 1, Look: true}); err != nil || len(claimed.Claims) != 0 {
		t.Errorf("a node of the last process claimed %d, %v", len(claimed.Claims), err)
	}
}

func TestASecondOpenerIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "store.db")
	store, err := Open(t.Context(), path, Options{Migrate: true})
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link.db")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{path, link} {
		if _, err := Open(t.Context(), path, Options{Migrate: true}); !errors.Is(err, ErrLocked) {
			t.Errorf("open %s: got %v, want ErrLocked", path, err)
		}
	}
	if err := Migrate(t.Context(), path); !errors.Is(err, ErrLocked) {
		t.Errorf("migrate: got %v, want ErrLocked", err)
	}
	submit(t, store) // the refused ones did no harm
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	open(t, path, Options{})
}

func TestOnlyTheOwnerMayReadTheFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	submit(t, open(t, filepath.Join(dir, "store.db"), Options{Migrate: true}))
	for _, name := range []string{"store.db", "store.db-wal", "store.db-shm", "store.db.lock"} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if mode := info.Mode().Perm(); mode != 0o600 {
			t.Errorf("%s has mode %o, want 600", name, mode)
		}
	}
}

func TestNoCharacterOfAPathMeansAnything(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a b?mode=memory&x#y%41'é.db")
	submit(t, open(t, path, Options{Migrate: true}))
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
}

func TestAnOldSchemaIsRefused(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	_, err := Open(t.Context(), path, Options{})
	if !errors.Is(err, asyncop.ErrSchemaOld) || !strings.Contains(err.Error(), "gateway migrate") {
		t.Fatalf("got %v, want ErrSchemaOld and what to do", err)
	}
	for range 2 { // twice is as good as once
		if err := Migrate(t.Context(), path); err != nil {
			t.Fatal(err)
		}
	}
	submit(t, open(t, path, Options{}))
}

func TestANewerSchemaIsRefused(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	store, err := Open(t.Context(), path, Options{Migrate: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.writer.Exec("INSERT INTO async_schema_version (version_id, is_applied) VALUES (99999, 1)"); err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), path, Options{Migrate: true}); !errors.Is(err, asyncop.ErrSchemaOld) {
		t.Errorf("got %v, want ErrSchemaOld", err)
	}
}

func TestAFileThatIsNoDatabaseIsRefused(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	text := []byte(strings.Repeat("this is no database\n", 100))
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), path, Options{Migrate: true}); err == nil {
		t.Error("opened")
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, text) {
		t.Errorf("the file was changed: %v", err)
	}
}
