package sqlite

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"asyncgate/internal/asyncop"
)

func expectDue(t *testing.T, store *Store, want time.Duration) {
	t.Helper()
	if in, ok, err := store.NextDue(t.Context()); in != want || !ok || err != nil {
		t.Errorf("next due in %s, %v, %v, want %s", in, ok, err, want)
	}
}

func TestAScheduledOperationIsDueAtItsInstant(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := fresh(t, Options{})
		submit(t, store, func(s *asyncop.Submission) { s.NotBefore = new(time.Now().Add(3 * time.Hour)) })
		expectDue(t, store, 3*time.Hour)
		time.Sleep(3*time.Hour - time.Microsecond)
		if claims := claim(t, store); len(claims) != 0 {
			t.Error("claimed too early")
		}
		time.Sleep(time.Microsecond)
		expectDue(t, store, 0)
		claimOne(t, store)
	})
}

func TestARetryIsDueAfterItsBackoff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := fresh(t, Options{})
		submit(t, store)
		retry(t, store, claimOne(t, store), 5*time.Minute)
		expectDue(t, store, 5*time.Minute)
		if claims := claim(t, store); len(claims) != 0 {
			t.Error("claimed during the backoff")
		}
		time.Sleep(5 * time.Minute)
		claimOne(t, store)
	})
}

func TestAnOperationExpiresAtItsDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := fresh(t, Options{})
		op := submit(t, store)
		retry(t, store, claimOne(t, store), 24*time.Hour)
		expectDue(t, store, time.Hour) // the deadline comes before the backoff ends
		time.Sleep(time.Hour)
		expired, err := store.Expire(t.Context(), 10)
		if err != nil || len(expired) != 1 {
			t.Fatalf("%d expired, %v", len(expired), err)
		}
		if op := get(t, store, op.ID); op.Failure.Code != asyncop.CodeStartDeadlineExceeded {
			t.Errorf("failed with %s", op.Failure.Code)
		}
	})
}

func TestOnlyASilentNodeIsRecovered(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := fresh(t, Options{})
		submit(t, store)
		claimOne(t, store)
		for range 10 {
			time.Sleep(59 * time.Second)
			if recovered, err := store.Recover(t.Context(), time.Minute); err != nil || len(recovered) != 0 {
				t.Fatalf("%d recovered of a live node, %v", len(recovered), err)
			}
			beat(t, store)
		}
		time.Sleep(time.Minute)
		if recovered, err := store.Recover(t.Context(), time.Minute); err != nil || len(recovered) != 1 {
			t.Errorf("%d recovered, %v", len(recovered), err)
		}
	})
}

func TestOperationsOfOneInstantAreListedOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := fresh(t, Options{})
		batch := make([]asyncop.Submission, 25)
		for i := range batch {
			batch[i] = submission(func(s *asyncop.Submission) { s.Tenant = []string{"acme", "globex"}[i%2] })
		}
		if _, err := store.Submit(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
		for _, scope := range []asyncop.Scope{everything, asyncop.TenantsScope("globex", "acme", "globex")} {
			if seen := walk(t, store, asyncop.List{Scope: scope, First: 4}); seen != len(batch) {
				t.Errorf("%d listed, want %d", seen, len(batch))
			}
		}
	})
}

// walk reads all pages and counts; each operation is to come after the last.
func walk(t *testing.T, store *Store, list asyncop.List) (seen int) {
	t.Helper()
	var last string
	for {
		page, err := store.List(t.Context(), list)
		if err != nil {
			t.Fatal(err)
		}
		for _, op := range page.Operations {
			if id := op.ID.String(); last != "" && id >= last {
				t.Errorf("%s is listed after %s", id, last)
			}
			last = op.ID.String()
			seen++
		}
		if !page.HasNext {
			return seen
		}
		list.After = new(asyncop.CursorOf(page.Operations[len(page.Operations)-1]))
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := fresh(t, Options{})
		ctx, cancel := context.WithTimeout(t.Context(), 10*checkpointInterval)
		defer cancel()
		if err := store.Run(ctx); err != nil {
			t.Error(err)
		}
	})
}

func TestACheckpointEmptiesTheLogFile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := fresh(t, Options{})
		op := submit(t, store)
		if err := store.checkpoint(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
		if size := fileSize(t, store.path+"-wal"); size != 0 {
			t.Errorf("the log file has %d bytes", size)
		}
		get(t, store, op.ID)
	})
}
