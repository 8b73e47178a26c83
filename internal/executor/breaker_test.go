package executor

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"asyncgate/internal/asyncop"
)

var (
	down    = &asyncop.Failure{Code: asyncop.CodeUpstreamUnavailable}
	unknown = &asyncop.Failure{Code: asyncop.CodeOutcomeUnknown}
	late    = &asyncop.Failure{Code: asyncop.CodeTimeout}
	refused = &asyncop.Failure{Code: asyncop.CodeUpstreamRejected}
)

// underBreaker runs a rule with a breaker that opens for a minute after three
// failures, and counts what it tells.
func underBreaker(t *testing.T, rule func(t *testing.T, b *breaker, told *atomic.Int32)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var told atomic.Int32
		rule(t, newBreaker("acme", BreakerOptions{Failures: 3, OpenFor: time.Minute, Changed: func() { told.Add(1) }}), &told)
		time.Sleep(time.Hour) // its timers have ended
	})
}

// send sends a request that must go through, with what comes of it.
func send(t *testing.T, b *breaker, failure *asyncop.Failure) {
	t.Helper()
	p, ok := b.begin()
	if !ok {
		t.Fatal("the breaker lets nothing through")
	}
	p.end(t.Context(), failure)
}

func closed(t *testing.T, b *breaker, want bool) {
	t.Helper()
	room := b.bound(asyncop.Room{Running: 7})
	if room.Closed == want {
		t.Errorf("the tenant's room is %+v", room)
	}
	if room.Running != 7 {
		t.Errorf("the tenant's own bound is %d", room.Running)
	}
}

func open(t *testing.T, b *breaker) {
	t.Helper()
	for range 3 {
		send(t, b, down)
	}
	if _, ok := b.begin(); ok {
		t.Fatal("three failures do not open it")
	}
	closed(t, b, false)
}

func TestFailuresInARowOpenABreaker(t *testing.T) {
	underBreaker(t, func(t *testing.T, b *breaker, _ *atomic.Int32) {
		send(t, b, down)
		send(t, b, unknown)
		send(t, b, nil)
		send(t, b, late)
		send(t, b, down)
		send(t, b, refused)
		send(t, b, unknown)
		send(t, b, late)
		closed(t, b, true)
		send(t, b, unknown)
		closed(t, b, false)
	})
}

func TestAnAnswerToTheProbeClosesABreaker(t *testing.T) {
	underBreaker(t, func(t *testing.T, b *breaker, told *atomic.Int32) {
		open(t, b)
		time.Sleep(time.Minute)
		synctest.Wait()
		if told.Load() != 2 {
			t.Errorf("told %d times, want when it opened and when a request may go through", told.Load())
		}
		if room := b.bound(asyncop.Room{}); room.Closed || room.Most != 1 {
			t.Errorf("half open, its room is %+v, want one", room)
		}
		probe, ok := b.begin()
		if !ok {
			t.Fatal("the probe may not go through")
		}
		if _, ok := b.begin(); ok {
			t.Error("a second one goes through beside the probe")
		}
		closed(t, b, false)
		probe.end(t.Context(), refused) // any answer will do
		closed(t, b, true)
		send(t, b, down)
		closed(t, b, true)
	})
}

func TestAFailedProbeOpensABreakerAgain(t *testing.T) {
	underBreaker(t, func(t *testing.T, b *breaker, _ *atomic.Int32) {
		open(t, b)
		time.Sleep(time.Minute)
		send(t, b, late)
		closed(t, b, false)
		time.Sleep(time.Minute - time.Second)
		closed(t, b, false)
		time.Sleep(time.Second)
		send(t, b, nil)
		closed(t, b, true)
	})
}

func TestAProbeThatItsOwnSideCutsOffSaysNothing(t *testing.T) {
	underBreaker(t, func(t *testing.T, b *breaker, _ *atomic.Int32) {
		open(t, b)
		time.Sleep(time.Minute)
		probe, _ := b.begin()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		probe.end(ctx, unknown)
		send(t, b, nil) // the next one is the probe
		closed(t, b, true)
	})
}

// A request that began before the breaker opened may end while another probes.
func TestAnEarlierFailureIsNotTheProbes(t *testing.T) {
	underBreaker(t, func(t *testing.T, b *breaker, _ *atomic.Int32) {
		slow, _ := b.begin()
		open(t, b)
		time.Sleep(time.Minute)
		probe, _ := b.begin()
		slow.end(t.Context(), late)
		probe.end(t.Context(), nil)
		closed(t, b, true)
	})
}

func TestNoFailuresNeverOpenABreaker(t *testing.T) {
	t.Parallel()
	b := newBreaker("acme", BreakerOptions{})
	for range 100 {
		send(t, b, down)
	}
	closed(t, b, true)
}
