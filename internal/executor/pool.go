package executor

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"

	"asyncgate/internal/asyncop"
)

// Queue is the part of asyncop.Store that a pool needs.
type Queue interface {
	Claim(ctx context.Context, intake asyncop.Intake) (asyncop.Claimed, error)
	Heartbeat(ctx context.Context, node string, claims []asyncop.ClaimRef) ([]asyncop.Pulse, error)
	Finish(ctx context.Context, batch []asyncop.Finished) ([]asyncop.Settled, error)
	Retry(ctx context.Context, batch []asyncop.Retried) ([]asyncop.Settled, error)
	Release(ctx context.Context, claims []asyncop.ClaimRef) ([]asyncop.Settled, error)
	Recover(ctx context.Context, staleAfter time.Duration) ([]uuid.UUID, error)
}

// Attempter makes the attempt that a claim is for. The end of cancellation says
// that its cancellation was requested.
type Attempter interface {
	Attempt(ctx, cancellation context.Context, claim asyncop.Claim) Attempted
}

// PoolOptions configure a pool.
type PoolOptions struct {
	Node         string                           // this process, unlike any other's name
	Concurrency  int                              // attempts at a time
	PollInterval time.Duration                    // between claims that nobody asked for, while wakes may be lost
	StaleAfter   time.Duration                    // silence after which a node's claims are recovered
	DrainTimeout time.Duration                    // that running attempts get when the pool stops
	Room         func(tenant string) asyncop.Room // what may run of a tenant; nil: no bounds
	Log          *slog.Logger
}

// Pool claims due operations and makes their attempts. It is a Waker for the
// store: a submission, here or on another node, is claimed at once.
type Pool struct {
	options PoolOptions
	worker  Attempter
	due     chan struct{} // holds one: claim
	doubts  chan struct{} // holds one: a running operation has changed
	queue   Queue         // set by Run
	settle  *settler      // set by Run

	mu      sync.Mutex
	running map[uuid.UUID]*running // guarded by mu, by claim token
	latest  map[uuid.UUID]*running // guarded by mu, by operation
}

// running is an attempt under way.
type running struct {
	claim  asyncop.Claim
	cancel context.CancelCauseFunc
	// requested tells the attempt that its cancellation was requested.
	requested context.CancelFunc
	doubted   bool // guarded by Pool.mu: it changed, perhaps by a cancellation
	lost      bool // guarded by Pool.mu
	ended     bool // guarded by Pool.mu: the settler has, or gets, what came of it
}

// NewPool makes a pool. Nothing is claimed before Run.
func NewPool(worker Attempter, options PoolOptions) *Pool {
	return &Pool{
		options: options, worker: worker,
		due:     make(chan struct{}, 1),
		doubts:  make(chan struct{}, 1),
		running: map[uuid.UUID]*running{},
		latest:  map[uuid.UUID]*running{},
	}
}

// Due makes the pool claim.
func (p *Pool) Due() { signal(p.due) }

// Changed makes the pool ask what became of the operations that it runs:
// someone may want to cancel them.
func (p *Pool) Changed(ids ...uuid.UUID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, id := range ids {
		if r := p.latest[id]; r != nil && !r.ended {
			r.doubted = true
			signal(p.doubts)
		}
	}
}

// Missed makes the pool claim: a submission may have been missed.
func (p *Pool) Missed() { signal(p.due) }

// signal wakes without blocking: one pending wake is as good as many.
func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Run claims in batches no larger than the free slots until ctx ends. Then it
// gives running attempts the drain timeout, cuts off what is left, and returns
// once every attempt has been settled.
func (p *Pool) Run(ctx context.Context, queue Queue) error {
	p.queue, p.settle = queue, newSettler(queue, p.options.Log)
	// Attempts, heartbeats and settling outlive ctx: they end in that order.
	working, abandon := context.WithCancelCause(context.WithoutCancel(ctx))
	beating, stopBeating := context.WithCancel(context.WithoutCancel(ctx))
	var attempts, background sync.WaitGroup
	registered := make(chan struct{})
	background.Go(func() { p.heartbeats(beating, registered) })
	background.Go(func() { p.cancellations(beating) })
	background.Go(func() { p.settle.run(beating) })
	background.Go(func() { p.drain(ctx, beating, abandon, stopBeating) })

	select {
	case <-registered:
		p.claimUntil(ctx, working, &attempts)
	case <-ctx.Done():
	}
	attempts.Wait()
	abandon(nil)
	stopBeating()
	background.Wait()
	return nil
}

// settleGrace is what the outcomes of attempts that were cut off get to reach
// the store.
const settleGrace = 5 * time.Second

// errDraining is why an attempt was cut off by a stop.
var errDraining = errors.New("the gateway is stopping")

// drain bounds a stop, counted from the end of ctx: attempts are cut off after
// the drain timeout, and a store that is away then is given up after the grace.
func (p *Pool) drain(ctx, beating context.Context, abandon context.CancelCauseFunc, giveUp func()) {
	<-ctx.Done()
	select {
	case <-time.After(p.options.DrainTimeout):
		abandon(errDraining)
	case <-beating.Done():
		return
	}
	select {
	case <-time.After(settleGrace):
		giveUp()
	case <-beating.Done():
	}
}

// claimUntil claims until ctx ends: when woken, when a slot is free again, when
// a row comes due, and each poll interval.
func (p *Pool) claimUntil(ctx, working context.Context, attempts *sync.WaitGroup) {
	slots := make(chan struct{}, p.options.Concurrency) // holds one for each attempt
	freed := make(chan struct{}, 1)                     // holds one: an attempt has ended
	look := true
	for ctx.Err() == nil {
		free := cap(slots) - len(slots)
		claimed := p.claim(ctx, working, free, look)
		for _, claim := range claimed.Claims {
			slots <- struct{}{}
			attempts.Go(func() {
				p.attempt(working, claim)
				<-slots
				signal(freed)
			})
		}
		if look = false; free > 0 && len(claimed.Claims) == free {
			continue // there may be more
		}
		look = p.rest(ctx, claimed, freed)
	}
}

// rest waits until there may be something to claim, and reports whether nobody
// said so: then the store must look for itself.
func (p *Pool) rest(ctx context.Context, last asyncop.Claimed, freed <-chan struct{}) (look bool) {
	poll := time.NewTimer(p.pollInterval(last))
	defer poll.Stop()
	var ripe <-chan time.Time
	if last.Next >= 0 {
		timer := time.NewTimer(last.Next)
		defer timer.Stop()
		ripe = timer.C
	}
	if !last.Left {
		freed = nil // a slot more is of no use
	}
	select {
	case <-p.due:
	case <-freed:
	case <-ripe:
	case <-poll.C:
		return true
	case <-ctx.Done():
	}
	return false
}

// restInterval is the poll interval while wakes are proven to arrive, and
// nothing waits for room, which another node makes without a wake.
const restInterval = 15 * time.Second

// Listener is a queue that knows whether the wakes of other nodes arrive. One
// that does not tell is polled.
type Listener interface{ Listening() bool }

func (p *Pool) pollInterval(last asyncop.Claimed) time.Duration {
	if listener, ok := p.queue.(Listener); ok && !last.Left && listener.Listening() {
		return max(restInterval, p.options.PollInterval)
	}
	return p.options.PollInterval
}

// claim answers what it could claim. A store that is away is asked again at
// the next wake.
func (p *Pool) claim(ctx, working context.Context, limit int, look bool) asyncop.Claimed {
	if limit == 0 { // nobody looks whether there is more
		return asyncop.Claimed{Left: true, Next: -1}
	}
	// Not ctx itself: what a claim took whose answer is cut off runs nowhere
	// until the store gives it back.
	bounded, cancel := context.WithTimeout(working, storeTimeout)
	defer cancel()
	claimed, err := p.queue.Claim(bounded, asyncop.Intake{Node: p.options.Node, Limit: limit, Look: look, Room: p.options.Room})
	if err != nil {
		p.options.Log.WarnContext(ctx, "claim operations", "error", err)
		return asyncop.Claimed{Next: p.options.PollInterval}
	}
	if ctx.Err() == nil {
		return claimed
	}
	p.settle.release(claimed.Claims) // stopping: as though they had never been claimed
	return asyncop.Claimed{Next: -1}
}

// attempt makes one attempt and sees it settled.
func (p *Pool) attempt(working context.Context, claim asyncop.Claim) {
	ctx, cancel := context.WithCancelCause(working)
	defer cancel(nil)
	cancellation, requested := context.WithCancel(context.WithoutCancel(ctx))
	defer requested()
	r := &running{claim: claim, cancel: cancel, requested: requested}
	p.mu.Lock()
	p.running[claim.Token], p.latest[claim.Operation.ID] = r, r
	p.mu.Unlock()
	done := p.worker.Attempt(ctx, cancellation, claim)
	if !p.end(r) {
		p.settle.settle(claim, done)
	} else {
		p.options.Log.WarnContext(ctx, "outcome of a lost claim dropped", "operation", claim.Operation, "outcome", outcomeWord(done))
	}
	p.mu.Lock()
	delete(p.running, claim.Token)
	if p.latest[claim.Operation.ID] == r {
		delete(p.latest, claim.Operation.ID)
	}
	p.mu.Unlock()
}

// end notes that an attempt has ended, and reports whether its claim was lost
// before.
func (p *Pool) end(r *running) (lost bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	r.ended = true
	return r.lost
}

func outcomeWord(done Attempted) string {
	if done.Failure == nil {
		return string(asyncop.Succeeded)
	}
	return string(done.Failure.Code)
}
