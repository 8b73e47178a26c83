package chaos

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
)

// load submits to all nodes until it is told to end. What it sends and hears
// goes into its ledger.
type load struct {
	ledger  *ledger
	watcher *watcher

	client  *client
	cancels bool // some of what is submitted is cancelled
	done    chan struct{}
	group   errgroup.Group
	end     func() error // stops submitting, and waits until all has been answered
}

// submitters is how many submit at a time, and pace how long each rests after
// every submission.
const (
	submitters = 4
	pace       = 40 * time.Millisecond
)

// load makes a load that submits nothing by itself yet.
func (c *cluster) load(t *testing.T) *load {
	t.Helper()
	l := &load{ledger: newLedger(), client: c.client(t), done: make(chan struct{})}
	l.watcher = l.client.watch(t, 1)
	l.end = sync.OnceValue(func() error {
		close(l.done)
		return l.group.Wait()
	})
	t.Cleanup(func() { _ = l.end() }) // whoever judges has asked
	return l
}

// start starts to submit.
func (l *load) start(ctx context.Context, random *rand.Rand) {
	for n := range submitters {
		own := rand.New(rand.NewPCG(random.Uint64(), random.Uint64()))
		l.group.Go(func() error { return l.submitUntilDone(ctx, n, own) })
	}
}

func (l *load) submitUntilDone(ctx context.Context, submitter int, random *rand.Rand) error {
	for n := 0; ; n++ {
		select {
		case <-l.done:
			return nil
		case <-time.After(pace):
		}
		s := invent(fmt.Sprintf("%d-%d", submitter, n), random)
		if random.IntN(10) == 0 {
			l.group.Go(func() error { _, err := l.submit(ctx, 1, s); return err }) // a duplicate, at the same time
		}
		id, err := l.submit(ctx, n, s)
		if err != nil {
			return err
		}
		if random.IntN(4) == 0 {
			l.watcher.watch(id)
		}
		if l.cancels && random.IntN(8) == 0 {
			after := between(random, 0, 2*time.Second)
			l.group.Go(func() error { return l.cancel(ctx, s.key, id, after) })
		}
	}
}

// invent makes a submission up.
func invent(key string, random *rand.Rand) submission {
	s := submission{key: key, field: "again", does: answers, ms: random.IntN(150)}
	switch random.IntN(20) {
	case 0:
		s.does = closes
	case 1, 2:
		s.does = fails
	}
	if s.does != closes && random.IntN(3) == 0 {
		s.field = "once"
	}
	if random.IntN(10) == 0 {
		s.ms = 1000 + random.IntN(1000)
	}
	return s
}

// submit submits until it is taken, and answers the handle.
func (l *load) submit(ctx context.Context, i int, s submission) (id string, err error) {
	l.ledger.submitting(s)
	if id, err = l.client.submit(ctx, i, s); err != nil {
		return "", fmt.Errorf("submit %s: %w", s.key, err)
	}
	l.ledger.answered(s.key, id)
	return id, nil
}

func (l *load) cancel(ctx context.Context, key, id string, after time.Duration) error {
	<-time.After(after)
	l.ledger.cancelling(key)
	c, err := l.client.cancel(ctx, 0, id)
	if err != nil {
		return fmt.Errorf("cancel %s: %w", id, err)
	}
	l.ledger.cancelled(key, c)
	return nil
}
