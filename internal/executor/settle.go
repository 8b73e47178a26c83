package executor

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"asyncgate/internal/asyncop"
)

// settler writes what came of attempts, in batches: while one batch commits,
// the next one gathers. Whoever settles waits until it is durable.
type settler struct {
	queue   Queue
	log     *slog.Logger
	pending chan settlement
	closed  chan struct{} // run has ended: nothing is written any more
}

// settlement is one attempt's end on its way into the store. Exactly one of
// finished, retried and released is set.
type settlement struct {
	operation asyncop.Operation
	finished  *asyncop.Finished
	retried   *asyncop.Retried
	released  *asyncop.ClaimRef
	done      chan<- struct{}
}

// maxBatch bounds one statement.
const maxBatch = 100

func newSettler(queue Queue, log *slog.Logger) *settler {
	return &settler{queue: queue, log: log, pending: make(chan settlement, maxBatch), closed: make(chan struct{})}
}

// settle decides what an attempt's end means for its operation, and returns
// once that is durable, its claim is known to be lost, or run has ended.
func (s *settler) settle(claim asyncop.Claim, done Attempted) {
	op := claim.Operation
	settled := make(chan struct{}, 1)
	next := settlement{operation: op, done: settled}
	switch failure := done.Failure; {
	case failure == nil:
		next.finished = &asyncop.Finished{Claim: claim.Ref(), Outcome: asyncop.Succeed(done.Envelope)}
	case failure.Code == asyncop.CodeCancelled:
		next.finished = &asyncop.Finished{Claim: claim.Ref(), Outcome: asyncop.Cancel(failure.Execution)}
	case failure.Code == asyncop.CodeUpstreamUnavailable:
		next.retried = &asyncop.Retried{
			Claim: claim.Ref(), Failure: *failure, Uncounted: true,
			After: max(backoff(len(op.AttemptLog)), done.RetryAfter),
		}
	case op.Idempotent && mayRetry(failure.Code) && op.Attempts < op.MaxAttempts:
		next.retried = &asyncop.Retried{
			Claim: claim.Ref(), Failure: *failure,
			After: max(backoff(op.Attempts), done.RetryAfter),
		}
	default:
		next.finished = &asyncop.Finished{Claim: claim.Ref(), Outcome: asyncop.Fail(*failure, done.Envelope)}
	}
	s.put(next, settled)
}

// put hands one settlement over and waits for its end.
func (s *settler) put(next settlement, settled <-chan struct{}) {
	select {
	case s.pending <- next:
	case <-s.closed:
		return
	}
	select {
	case <-settled:
	case <-s.closed:
	}
}

// release gives back claims of which nothing was sent, and returns like settle.
func (s *settler) release(claims []asyncop.Claim) {
	var all sync.WaitGroup
	for _, claim := range claims {
		settled := make(chan struct{}, 1)
		ref := claim.Ref()
		all.Go(func() { s.put(settlement{operation: claim.Operation, released: &ref, done: settled}, settled) })
	}
	all.Wait()
}

// mayRetry reports whether a failed attempt may be followed by another, if the
// mutation is idempotent.
func mayRetry(code asyncop.Code) bool {
	return code == asyncop.CodeOutcomeUnknown || code == asyncop.CodeTimeout
}

// backoff grows from 1 s by powers of two to 5 min, with jitter: half of it is
// random, so that what failed together does not return together. n counts from
// the first failure, 1.
func backoff(n int) time.Duration {
	const first, most = time.Second, 5 * time.Minute
	full := most
	if shift := max(n-1, 0); shift < 9 {
		full = min(first<<shift, most)
	}
	return full/2 + rand.N(full/2) //nolint:gosec // jitter, not a secret
}

// run writes batches until ctx ends.
func (s *settler) run(ctx context.Context) {
	defer close(s.closed)
	for {
		select {
		case first := <-s.pending:
			s.write(ctx, s.gather(first))
		case <-ctx.Done():
			return
		}
	}
}

// gather takes what is there, without waiting for more.
func (s *settler) gather(first settlement) []settlement {
	batch := []settlement{first}
	for len(batch) < maxBatch {
		select {
		case next := <-s.pending:
			batch = append(batch, next)
		default:
			return batch
		}
	}
	return batch
}

// write makes a batch durable, however long the store is away: the outcome of
// a mutation that ran is worth more than a worker's slot. It gives up only
// when ctx ends.
func (s *settler) write(ctx context.Context, batch []settlement) {
	var finished []asyncop.Finished
	var retried []asyncop.Retried
	var released []asyncop.ClaimRef
	var finishing, retrying, releasing []settlement
	for _, item := range batch {
		switch {
		case item.finished != nil:
			finished, finishing = append(finished, *item.finished), append(finishing, item)
		case item.retried != nil:
			retried, retrying = append(retried, *item.retried), append(retrying, item)
		default:
			released, releasing = append(released, *item.released), append(releasing, item)
		}
	}
	s.persist(ctx, finishing, func(ctx context.Context) ([]asyncop.Settled, error) { return s.finish(ctx, finished) })
	s.persist(ctx, retrying, func(ctx context.Context) ([]asyncop.Settled, error) { return s.queue.Retry(ctx, retried) })
	s.persist(ctx, releasing, func(ctx context.Context) ([]asyncop.Settled, error) { return s.queue.Release(ctx, released) })
}

// finish ends operations. An envelope that the store refuses to keep is left
// out: its operation would else be RUNNING for as long as this node lives.
func (s *settler) finish(ctx context.Context, batch []asyncop.Finished) ([]asyncop.Settled, error) {
	fates, err := s.queue.Finish(ctx, batch)
	if err != nil {
		return nil, err
	}
	var bare []asyncop.Finished
	var places []int
	for i, fate := range fates {
		if fate.Err != nil && !errors.Is(fate.Err, asyncop.ErrClaimLost) && batch[i].Outcome.Result() != nil {
			s.log.WarnContext(ctx, "result not kept", "id", batch[i].Claim.ID, "error", fate.Err)
			bare = append(bare, asyncop.Finished{Claim: batch[i].Claim, Outcome: withoutResult(batch[i].Outcome)})
			places = append(places, i)
		}
	}
	if len(bare) == 0 {
		return fates, nil
	}
	again, err := s.queue.Finish(ctx, bare)
	for n, fate := range again {
		fates[places[n]] = fate
	}
	return fates, err
}

// withoutResult is what can be said of an outcome whose envelope is not kept.
func withoutResult(outcome asyncop.Outcome) asyncop.Outcome {
	if failure := outcome.Failure(); failure != nil {
		return asyncop.Fail(*failure, nil)
	}
	return asyncop.Fail(asyncop.Failure{
		Code: asyncop.CodeResultTooLarge, Execution: asyncop.Executed,
		Message: "The mutation was executed, but its result could not be stored.",
	}, nil)
}

// persist repeats one statement until it has an answer. Repeating is safe: a
// claim that was settled by an earlier try whose answer was lost reads as lost.
func (s *settler) persist(ctx context.Context, items []settlement, try func(context.Context) ([]asyncop.Settled, error)) {
	if len(items) == 0 {
		return
	}
	defer func() {
		for _, item := range items {
			item.done <- struct{}{}
		}
	}()
	for wait := 50 * time.Millisecond; ; wait = min(2*wait, 2*time.Second) {
		bounded, cancel := context.WithTimeout(ctx, storeTimeout)
		fates, err := try(bounded)
		cancel()
		if err == nil {
			s.report(ctx, items, fates)
			return
		}
		s.log.WarnContext(ctx, "write outcomes, trying again", "error", err, "operations", len(items))
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			s.log.ErrorContext(ctx, "outcomes not written; their operations will be recovered", "operations", len(items))
			return
		}
	}
}

func (s *settler) report(ctx context.Context, items []settlement, fates []asyncop.Settled) {
	for i, fate := range fates {
		attributes := items[i].attributes()
		switch {
		case fate.Err != nil:
			s.log.LogAttrs(ctx, slog.LevelWarn, "outcome not written", append(attributes, slog.Any("error", fate.Err))...)
		default:
			s.log.LogAttrs(ctx, items[i].level(), "attempt settled", append(attributes, slog.String("now", string(fate.State)))...)
		}
	}
}

// failure is why the attempt failed, nil for a success or a release.
func (t settlement) failure() *asyncop.Failure {
	switch {
	case t.finished != nil:
		return t.finished.Outcome.Failure()
	case t.retried != nil:
		return &t.retried.Failure
	default:
		return nil
	}
}

// level is a warning where the operator, and not the submitter, may have
// something to mend.
func (t settlement) level() slog.Level {
	failure := t.failure()
	if failure != nil && failure.Code != asyncop.CodeExecutionFailed && failure.Code != asyncop.CodeCancelled {
		return slog.LevelWarn
	}
	return slog.LevelInfo
}

// attributes say which attempt it was, and how it went.
func (t settlement) attributes() []slog.Attr {
	attributes := []slog.Attr{slog.Any("operation", t.operation), slog.String("tenant", t.operation.Tenant)}
	if failure := t.failure(); failure != nil {
		attributes = append(attributes, slog.String("code", string(failure.Code)), slog.String("execution", failure.Execution.String()))
	}
	if t.retried != nil {
		attributes = append(attributes, slog.Duration("again_in", t.retried.After))
	}
	return attributes
}
