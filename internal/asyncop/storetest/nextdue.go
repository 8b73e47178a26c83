package storetest

import (
	"testing"
	"time"

	"asyncgate/internal/asyncop"
)

var nextDueRules = map[string]rule{
	"NothingQueuedIsNothingDue":  nothingQueued,
	"WhatIsDueDoesNotCount":      dueDoesNotCount,
	"TheEarliestScheduleIsNext":  earliestSchedule,
	"AnExpiryCanBeNext":          expiryIsNext,
	"ABackoffIsNext":             backoffIsNext,
	"ARunningOneDoesNotCountDue": runningIsNotDue,
}

func (f fixture) nextDue(t *testing.T) (time.Duration, bool) {
	t.Helper()
	in, ok, err := f.store.NextDue(t.Context())
	if err != nil {
		t.Fatalf("next due: %v", err)
	}
	return in, ok
}

// nextWithin fails unless the next row is due within (least, most].
func (f fixture) nextWithin(t *testing.T, least, most time.Duration) {
	t.Helper()
	if in, ok := f.nextDue(t); !ok || in <= least || in > most {
		t.Errorf("next in %s (%v), want within (%s, %s]", in, ok, least, most)
	}
}

func nothingQueued(t *testing.T, f fixture) {
	if in, ok := f.nextDue(t); ok {
		t.Errorf("something is due in %s", in)
	}
}

func dueDoesNotCount(t *testing.T, f fixture) {
	f.submit(t, notYet)
	f.submit(t)
	f.nextWithin(t, 50*time.Minute, time.Hour+time.Second)
}

func earliestSchedule(t *testing.T, f fixture) {
	f.submit(t, priority(9), func(s *asyncop.Submission) { s.NotBefore = at(3 * time.Hour) })
	f.submit(t, priority(1), notYet)
	f.nextWithin(t, 50*time.Minute, time.Hour+time.Second)
}

func expiryIsNext(t *testing.T, f fixture) {
	f.submit(t, notYet, func(s *asyncop.Submission) { s.StartBefore = at(30 * time.Minute) })
	f.nextWithin(t, 20*time.Minute, 30*time.Minute+time.Second)
}

func backoffIsNext(t *testing.T, f fixture) {
	f.retry(t, f.submitAndClaim(t), unknown, after(10*time.Minute))
	f.nextWithin(t, 5*time.Minute, 10*time.Minute)
}

func runningIsNotDue(t *testing.T, f fixture) {
	f.submitAndClaim(t)
	nothingQueued(t, f)
}
