package storetest

import (
	"errors"
	"testing"
	"time"

	"asyncgate/internal/asyncop"
)

var sweepRules = map[string]rule{
	"AResultIsPurgedOnce":         resultIsPurgedOnce,
	"AnOperationIsDeleted":        operationIsDeleted,
	"UnfinishedOnesAreNeverSwept": unfinishedNeverSwept,
	"YoungOnesAreKept":            youngOnesAreKept,
	"SweepKeepsToItsLimit":        sweepKeepsLimit,
	"WhatHadNoResultIsNotPurged":  noResultIsNotPurged,
}

var (
	purgeNow  = asyncop.Retention{Result: time.Microsecond, Operation: time.Hour}
	deleteNow = asyncop.Retention{Result: time.Hour, Operation: time.Microsecond}
)

func (f fixture) sweep(t *testing.T, retention asyncop.Retention, limit int) asyncop.Swept {
	t.Helper()
	swept, err := f.store.Sweep(t.Context(), retention, limit)
	if err != nil {
		t.Fatalf("sweep: %v", err)
	}
	return swept
}

// sweepUntil sweeps until want is done in all, since what has just ended may
// be younger than a microsecond.
func (f fixture) sweepUntil(t *testing.T, retention asyncop.Retention, want asyncop.Swept) {
	t.Helper()
	var total asyncop.Swept
	eventually(t, "swept", func() bool {
		swept := f.sweep(t, retention, 100)
		total.Purged += swept.Purged
		total.Deleted += swept.Deleted
		return total == want
	})
}

func (f fixture) done(t *testing.T) asyncop.Operation {
	t.Helper()
	claim := f.submitAndClaim(t)
	f.finish(t, claim, asyncop.Succeed(envelope))
	return f.get(t, claim.Operation.ID)
}

func resultIsPurgedOnce(t *testing.T, f fixture) {
	before := f.done(t)
	f.sweepUntil(t, purgeNow, asyncop.Swept{Purged: 1})
	op := f.get(t, before.ID)
	if op.Result != nil || !op.Purged || op.Revision <= before.Revision {
		t.Errorf("result %s, purged %v, revision %d after %d", op.Result, op.Purged, op.Revision, before.Revision)
	}
	before.Result, before.Purged, before.Revision = nil, true, op.Revision
	expect(t, "all else", op, before)
	expect(t, "again", f.sweep(t, purgeNow, 100), asyncop.Swept{})
}

func operationIsDeleted(t *testing.T, f fixture) {
	op := f.done(t)
	f.sweepUntil(t, deleteNow, asyncop.Swept{Deleted: 1})
	if _, err := f.store.Get(t.Context(), everything, op.ID); !errors.Is(err, asyncop.ErrNotFound) {
		t.Errorf("got %v, want ErrNotFound", err)
	}
}

func unfinishedNeverSwept(t *testing.T, f fixture) {
	running := f.submitAndClaim(t)
	retried := f.submitAndClaim(t)
	f.retry(t, retried, unknown, after(time.Hour))
	queued := f.submit(t)
	done := f.cancelled(t)
	f.sweepUntil(t, asyncop.Retention{Result: time.Microsecond, Operation: time.Microsecond}, asyncop.Swept{Deleted: 1})
	for _, id := range []asyncop.Operation{running.Operation, retried.Operation, queued} {
		f.get(t, id.ID)
	}
	if _, err := f.store.Get(t.Context(), everything, done.ID); !errors.Is(err, asyncop.ErrNotFound) {
		t.Errorf("got %v, want ErrNotFound", err)
	}
}

// cancelled ends an operation that had no result, without claiming others.
func (f fixture) cancelled(t *testing.T) asyncop.Operation {
	t.Helper()
	op := f.submit(t)
	return f.cancel(t, op.ID).Operation
}

func youngOnesAreKept(t *testing.T, f fixture) {
	op := f.done(t)
	expect(t, "swept", f.sweep(t, asyncop.Retention{Result: time.Hour, Operation: 2 * time.Hour}, 100), asyncop.Swept{})
	expect(t, "untouched", f.get(t, op.ID), op)
}

func sweepKeepsLimit(t *testing.T, f fixture) {
	for range 3 {
		f.done(t)
	}
	for _, retention := range []asyncop.Retention{purgeNow, deleteNow} {
		total := 0
		eventually(t, "all swept", func() bool {
			swept := f.sweep(t, retention, 2)
			if swept.Purged > 2 || swept.Deleted > 2 {
				t.Fatalf("swept %+v with a limit of 2", swept)
			}
			total += swept.Purged + swept.Deleted
			return total == 3
		})
	}
}

func noResultIsNotPurged(t *testing.T, f fixture) {
	cancelled := f.cancelled(t)
	f.done(t)
	f.sweepUntil(t, purgeNow, asyncop.Swept{Purged: 1})
	expect(t, "untouched", f.get(t, cancelled.ID), cancelled)
}
