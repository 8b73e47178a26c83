package storetest

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"asyncgate/internal/asyncop"
)

// wakes is a Waker that remembers.
type wakes struct {
	mu        sync.Mutex
	due       int
	changed   []uuid.UUID
	onChanged func(ids []uuid.UUID)
}

func newWakes() *wakes { return &wakes{} }

func (w *wakes) Due() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.due++
}

func (w *wakes) Changed(ids ...uuid.UUID) {
	w.mu.Lock()
	w.changed = append(w.changed, ids...)
	told := w.onChanged
	w.mu.Unlock()
	if told != nil {
		told(slices.Clone(ids))
	}
}

func (w *wakes) Missed() {}

func (w *wakes) forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.due, w.changed = 0, nil
}

func (w *wakes) wasDue() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.due > 0
}

func (w *wakes) hasChanged(id uuid.UUID) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Contains(w.changed, id)
}

// wakeAfter is what step, which starts from a RUNNING claim, must tell.
func wakeAfter(due bool, step func(t *testing.T, f fixture, claim asyncop.Claim), edits ...func(*asyncop.Submission)) rule {
	return func(t *testing.T, f fixture) {
		claim := f.submitAndClaim(t, edits...)
		f.wakes.forget()
		step(t, f, claim)
		eventually(t, "told Changed", func() bool { return f.wakes.hasChanged(claim.Operation.ID) })
		if due {
			eventually(t, "told Due", f.wakes.wasDue)
		}
	}
}

var wakeRules = map[string]rule{
	"SubmitTellsDue": func(t *testing.T, f fixture) {
		f.submit(t)
		eventually(t, "told Due", f.wakes.wasDue)
	},
	"ClaimTellsChanged": func(t *testing.T, f fixture) {
		op := f.submit(t)
		f.wakes.forget()
		f.claimOne(t)
		eventually(t, "told Changed", func() bool { return f.wakes.hasChanged(op.ID) })
	},
	"ExpireTellsChanged": func(t *testing.T, f fixture) {
		op := f.submit(t, overdue)
		f.wakes.forget()
		f.expire(t, 10)
		eventually(t, "told Changed", func() bool { return f.wakes.hasChanged(op.ID) })
	},
	"CancellingAQueuedOneTellsChanged": func(t *testing.T, f fixture) {
		op := f.submit(t)
		f.wakes.forget()
		f.cancel(t, op.ID)
		eventually(t, "told Changed", func() bool { return f.wakes.hasChanged(op.ID) })
	},
	"FinishTellsChanged": wakeAfter(false, func(t *testing.T, f fixture, claim asyncop.Claim) {
		f.finish(t, claim, asyncop.Succeed(envelope))
	}),
	"RetryTellsDueAndChanged": wakeAfter(true, func(t *testing.T, f fixture, claim asyncop.Claim) {
		f.retry(t, claim, unknown)
	}),
	"ReleaseTellsDueAndChanged": wakeAfter(true, func(t *testing.T, f fixture, claim asyncop.Claim) {
		f.release(t, claim)
	}),
	"RecoverTellsDueAndChanged": wakeAfter(true, func(t *testing.T, f fixture, claim asyncop.Claim) {
		f.recover(t, claim.Operation.ID)
	}, idempotent),
	"CancellingARunningOneTellsChanged": wakeAfter(false, func(t *testing.T, f fixture, claim asyncop.Claim) {
		f.cancel(t, claim.Operation.ID)
	}),
	"WakesComeAfterTheCommit": wakesAfterCommit,
}

// wakesAfterCommit reads the row at the moment of the wake.
func wakesAfterCommit(t *testing.T, f fixture) {
	claim := f.submitAndClaim(t)
	seen := make(chan asyncop.State, 1)
	f.wakes.mu.Lock()
	f.wakes.onChanged = func([]uuid.UUID) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), patience)
		defer cancel()
		op, err := f.store.Get(ctx, everything, claim.Operation.ID)
		if err != nil {
			t.Errorf("get while being woken: %v", err)
		}
		select {
		case seen <- op.State:
		default:
		}
	}
	f.wakes.mu.Unlock()

	f.finish(t, claim, asyncop.Succeed(envelope))
	select {
	case state := <-seen:
		if state != asyncop.Succeeded {
			t.Errorf("the row was %s when its change was told, want SUCCEEDED", state)
		}
	case <-time.After(patience):
		t.Error("never told")
	}
}
