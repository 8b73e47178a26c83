package asyncop_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"asyncgate/internal/asyncop"
)

func TestMissedLooksEveryoneUpInOneBatch(t *testing.T) {
	underHub(t, func(t *testing.T, d desk) {
		const waiters = 5000
		ids := make([]uuid.UUID, waiters)
		answers := make(chan asyncop.State, waiters)
		for i := range ids {
			ids[i] = d.put()
			go func() {
				op, err := d.handle(ids[i]).Await(t.Context(), time.Hour)
				if err != nil {
					t.Error(err)
				}
				answers <- op.State
			}()
		}
		synctest.Wait()
		if n := d.hub.Waiting(); n != waiters {
			t.Fatalf("%d wait", n)
		}
		for _, id := range ids[1:] {
			d.become(id, asyncop.Succeeded)
		}
		d.hub.Missed()
		synctest.Wait()
		gets, batches := d.counted()
		if len(batches) != 1 || batches[0] != waiters {
			t.Errorf("look-ups of %v, want one of %d", batches, waiters)
		}
		if gets != 2*waiters-1 { // each at first, and those that changed
			t.Errorf("%d reads", gets)
		}
		d.become(ids[0], asyncop.Succeeded)
		d.hub.Changed(ids[0])
		for range waiters {
			if state := <-answers; state != asyncop.Succeeded {
				t.Errorf("one is %s", state)
			}
		}
	})
}

func TestAnIdleHubAsksNothing(t *testing.T) {
	underHub(t, func(t *testing.T, d desk) {
		d.hub.Missed()
		time.Sleep(time.Hour)
		if _, batches := d.counted(); len(batches) != 0 {
			t.Errorf("%d look-ups for nobody", len(batches))
		}
	})
}

func TestAWakeThatNobodySentCostsFifteenSecondsAtMost(t *testing.T) {
	underHub(t, func(t *testing.T, d desk) {
		d.prove()
		id := d.put()
		answer := d.await(t.Context(), id, time.Hour)
		time.Sleep(20*time.Second + poll/2)
		if _, batches := d.counted(); len(batches) != 1 {
			t.Errorf("%d look-ups in 20 s though wakes arrive", len(batches))
		}
		d.become(id, asyncop.Succeeded)
		if got := <-answer; got.op.State != asyncop.Succeeded || got.took > 35*time.Second+poll {
			t.Errorf("%s after %s", got.op.State, got.took)
		}
	})
}

func TestForeignWakesAreIgnored(t *testing.T) {
	underHub(t, func(t *testing.T, d desk) {
		answer := d.await(t.Context(), d.put(), poll/2)
		d.hub.Changed()
		d.hub.Changed(uuid.Nil, uuid.New())
		d.hub.Due()
		(<-answer).expect(t, asyncop.Queued, poll/2)
		if gets, _ := d.counted(); gets != 2 { // the first and the last
			t.Errorf("%d reads", gets)
		}
	})
}

func TestALookUpThatHangsIsGivenUp(t *testing.T) {
	underHub(t, func(t *testing.T, d desk) {
		id := d.put()
		answer := d.await(t.Context(), id, time.Hour)
		d.hang()
		time.Sleep(time.Minute)
		d.mu.Lock()
		d.hangs = false
		d.mu.Unlock()
		d.become(id, asyncop.Succeeded)
		if a := <-answer; a.op.State != asyncop.Succeeded || a.took > time.Minute+5*time.Second+poll {
			t.Errorf("%s after %s", a.op.State, a.took)
		}
	})
}
