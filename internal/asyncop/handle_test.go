package asyncop_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"asyncgate/internal/asyncop"
)

func TestMakingAHandleCostsNoRead(t *testing.T) {
	underHub(t, func(t *testing.T, d desk) {
		d.handle(uuid.New())
		if gets, _ := d.counted(); gets != 0 {
			t.Errorf("%d reads", gets)
		}
	})
}

func TestAZeroWaitIsOneRead(t *testing.T) {
	underHub(t, func(t *testing.T, d desk) {
		(<-d.await(t.Context(), d.put(), 0)).expect(t, asyncop.Queued, 0)
		if gets, _ := d.counted(); gets != 1 {
			t.Errorf("%d reads", gets)
		}
	})
}

func TestAWakeEndsAWaitAtOnce(t *testing.T) {
	underHub(t, func(t *testing.T, d desk) {
		id := d.put()
		answer := d.await(t.Context(), id, time.Minute)
		time.Sleep(poll / 2)
		d.become(id, asyncop.Succeeded)
		d.hub.Changed(id)
		(<-answer).expect(t, asyncop.Succeeded, poll/2)
	})
}

// changing is a reader whose first answer is out of date before it arrives.
type changing struct {
	desk
	first bool
}

func (c *changing) Get(ctx context.Context, scope asyncop.Scope, id uuid.UUID) (asyncop.Operation, error) {
	op, err := c.desk.Get(ctx, scope, id)
	if !c.first {
		c.first = true
		c.become(id, asyncop.Succeeded)
		c.hub.Changed(id)
	}
	return op, err
}

func TestAChangeDuringTheFirstReadIsNotMissed(t *testing.T) {
	underHub(t, func(t *testing.T, d desk) {
		began := time.Now()
		op, err := d.hub.Handle(&changing{desk: d}, everything, d.put()).Await(t.Context(), time.Minute)
		awaited{op, err, time.Since(began)}.expect(t, asyncop.Succeeded, 0)
	})
}

func TestALostWakeCostsAtMostThePollInterval(t *testing.T) {
	underHub(t, func(t *testing.T, d desk) {
		id := d.put()
		answer := d.await(t.Context(), id, time.Minute)
		d.become(id, asyncop.Succeeded)
		(<-answer).expect(t, asyncop.Succeeded, poll)
	})
}

func TestWakesDoNotPushTheDeadlineOrThePollBack(t *testing.T) {
	underHub(t, func(t *testing.T, d desk) {
		waits, changes := d.put(), d.put()
		stays := d.await(t.Context(), waits, 10*time.Second)
		changed := d.await(t.Context(), changes, 10*time.Second)
		d.become(changes, asyncop.Failed) // and no wake tells
		for range 30 {
			time.Sleep(poll / 3)
			d.hub.Changed(uuid.New(), waits)
			d.hub.Missed()
		}
		(<-stays).expect(t, asyncop.Queued, 10*time.Second)
		if a := <-changed; a.took > poll {
			t.Errorf("seen after %s", a.took)
		}
	})
}

func TestTheDeadlineBringsALastRead(t *testing.T) {
	underHub(t, func(t *testing.T, d desk) {
		id := d.put()
		answer := d.await(t.Context(), id, poll/2) // before any poll
		d.become(id, asyncop.Cancelled)
		(<-answer).expect(t, asyncop.Cancelled, poll/2)
	})
}

func TestAReadThatHangsHoldsNoWaitUp(t *testing.T) {
	underHub(t, func(t *testing.T, d desk) {
		id := d.put()
		answer := d.await(t.Context(), id, 10*time.Second)
		time.Sleep(9 * time.Second)
		d.hang()
		d.hub.Changed(id)
		(<-answer).expect(t, asyncop.Queued, 15*time.Second) // the wait and one bounded read
	})
}

func TestAVeryLongWaitLasts(t *testing.T) {
	underHub(t, func(t *testing.T, d desk) {
		id := d.put()
		answer := d.await(t.Context(), id, math.MaxInt64)
		time.Sleep(time.Hour)
		d.become(id, asyncop.Succeeded)
		d.hub.Changed(id)
		(<-answer).expect(t, asyncop.Succeeded, time.Hour)
	})
}

func TestAStoreThatIsAwayDoesNotEndAWait(t *testing.T) {
	underHub(t, func(t *testing.T, d desk) {
		id := d.put()
		answer := d.await(t.Context(), id, time.Minute)
		d.fail(errAway)
		d.become(id, asyncop.Succeeded)
		d.hub.Changed(id)
		time.Sleep(10*poll + poll/2)
		d.fail(nil)
		(<-answer).expect(t, asyncop.Succeeded, 11*poll)
	})
}

func TestAStoreThatIsAwayFailsTheFirstRead(t *testing.T) {
	underHub(t, func(t *testing.T, d desk) {
		d.fail(errAway)
		if a := <-d.await(t.Context(), d.put(), time.Minute); !errors.Is(a.err, errAway) {
			t.Errorf("got %v", a.err)
		}
	})
}

func TestAnOperationThatIsNotThereIsNotFound(t *testing.T) {
	underHub(t, func(t *testing.T, d desk) {
		for _, wait := range []time.Duration{0, time.Minute} {
			if a := <-d.await(t.Context(), uuid.New(), wait); !errors.Is(a.err, asyncop.ErrNotFound) || a.took != 0 {
				t.Errorf("got %v after %s", a.err, a.took)
			}
		}
		_, err := d.hub.Handle(d, asyncop.Scope{}, d.put()).Await(t.Context(), time.Minute)
		if !errors.Is(err, asyncop.ErrNotFound) {
			t.Errorf("a stranger's operation: %v", err)
		}
		if _, err := watch(t.Context(), d, uuid.New()); !errors.Is(err, asyncop.ErrNotFound) {
			t.Errorf("updates of none: %v", err)
		}
	})
}

func TestAnOperationDeletedDuringAWaitIsNotFound(t *testing.T) {
	underHub(t, func(t *testing.T, d desk) {
		id := d.put()
		answer := d.await(t.Context(), id, time.Minute)
		d.remove(id)
		if a := <-answer; !errors.Is(a.err, asyncop.ErrNotFound) || a.took != poll {
			t.Errorf("got %v after %s", a.err, a.took)
		}
	})
}

func TestTheEndOfItsContextEndsAWaitWithTheCause(t *testing.T) {
	underHub(t, func(t *testing.T, d desk) {
		hungUp := errors.New("the client hung up")
		ctx, cancel := context.WithCancelCause(t.Context())
		answer := d.await(ctx, d.put(), time.Minute)
		cancel(hungUp)
		if a := <-answer; !errors.Is(a.err, hungUp) {
			t.Errorf("got %v", a.err)
		}
	})
}

func TestAWaitEndsWithTheHub(t *testing.T) {
	underHub(t, func(t *testing.T, d desk) {
		answer := d.await(t.Context(), d.put(), time.Hour)
		d.stop()
		(<-answer).expect(t, asyncop.Queued, 0)
	})
}

func watch(ctx context.Context, d desk, id uuid.UUID) (<-chan asyncop.State, error) {
	return asyncop.Updates(ctx, d.handle(id), func(op asyncop.Operation) asyncop.State { return op.State })
}

func mustWatch(t *testing.T, d desk, id uuid.UUID) <-chan asyncop.State {
	t.Helper()
	updates, err := watch(t.Context(), d, id)
	if err != nil {
		t.Fatal(err)
	}
	return updates
}

// rest reads updates to their end.
func rest(updates <-chan asyncop.State) []asyncop.State {
	var states []asyncop.State
	for state := range updates {
		states = append(states, state)
	}
	return states
}

func TestUpdatesTellTheStateNowAndTheTerminalOneLastAndOnce(t *testing.T) {
	underHub(t, func(t *testing.T, d desk) {
		id := d.put()
		updates := mustWatch(t, d, id)
		go func() {
			for _, state := range []asyncop.State{asyncop.Running, asyncop.Queued, asyncop.Running, asyncop.Succeeded} {
				time.Sleep(time.Minute)
				d.become(id, state)
				d.hub.Changed(id)
				d.hub.Changed(id) // repeated wakes tell nothing twice
				d.hub.Missed()
			}
		}()
		want := []asyncop.State{asyncop.Queued, asyncop.Running, asyncop.Queued, asyncop.Running, asyncop.Succeeded}
		if got := rest(updates); !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	})
}

func TestUpdatesOfADoneOperationAreOne(t *testing.T) {
	underHub(t, func(t *testing.T, d desk) {
		id := d.put()
		d.become(id, asyncop.Failed)
		if got := rest(mustWatch(t, d, id)); !slices.Equal(got, []asyncop.State{asyncop.Failed}) {
			t.Errorf("got %v", got)
		}
	})
}

func TestASlowReceiverSkipsUpdatesAndBlocksNoOther(t *testing.T) {
	underHub(t, func(t *testing.T, d desk) {
		id := d.put()
		slow, quick := mustWatch(t, d, id), mustWatch(t, d, id)
		<-quick
		for _, state := range []asyncop.State{asyncop.Running, asyncop.Queued, asyncop.Running, asyncop.Succeeded} {
			d.become(id, state)
			d.hub.Changed(id)
			if got := <-quick; got != state {
				t.Errorf("got %s, want %s", got, state)
			}
		}
		if got := rest(slow); !slices.Equal(got, []asyncop.State{asyncop.Queued, asyncop.Succeeded}) {
			t.Errorf("the slow receiver got %v", got)
		}
		rest(quick)
	})
}

func TestUpdatesEndWithTheirContextReceiverOrNot(t *testing.T) {
	underHub(t, func(t *testing.T, d desk) {
		ctx, cancel := context.WithCancel(t.Context())
		received, err := watch(ctx, d, d.put())
		if err != nil {
			t.Fatal(err)
		}
		<-received
		unread, err := watch(ctx, d, d.put())
		if err != nil {
			t.Fatal(err)
		}
		cancel()
		synctest.Wait()
		if got := append(rest(received), rest(unread)...); len(got) != 0 {
			t.Errorf("got %v", got)
		}
	})
}

func TestUpdatesOfADeletedOperationEnd(t *testing.T) {
	underHub(t, func(t *testing.T, d desk) {
		id := d.put()
		updates := mustWatch(t, d, id)
		<-updates
		d.remove(id)
		if got := rest(updates); len(got) != 0 {
			t.Errorf("got %v", got)
		}
	})
}

func TestUpdatesOutliveAnOutageOfTheStore(t *testing.T) {
	underHub(t, func(t *testing.T, d desk) {
		id := d.put()
		updates := mustWatch(t, d, id)
		<-updates
		d.fail(errAway)
		d.become(id, asyncop.Succeeded)
		d.hub.Changed(id)
		time.Sleep(time.Minute)
		d.fail(nil)
		if got := rest(updates); !slices.Equal(got, []asyncop.State{asyncop.Succeeded}) {
			t.Errorf("got %v", got)
		}
	})
}

func TestUpdatesEndWithTheHub(t *testing.T) {
	underHub(t, func(t *testing.T, d desk) {
		read, unread := mustWatch(t, d, d.put()), mustWatch(t, d, d.put())
		<-read
		d.stop()
		late := mustWatch(t, d, d.put())
		if got := append(append(rest(read), rest(unread)...), rest(late)...); len(got) != 0 {
			t.Errorf("got %v", got)
		}
	})
}
