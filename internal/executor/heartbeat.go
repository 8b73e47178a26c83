package executor

import (
	"context"
	"maps"
	"slices"
	"time"

	"asyncgate/internal/asyncop"
)

// storeTimeout bounds one statement of the pool, so that a store that hangs is
// a store that is away.
const storeTimeout = 10 * time.Second

// heartbeats proves that this node lives, learns of lost claims, and recovers
// the claims of nodes that are silent. It closes registered after its first
// success.
func (p *Pool) heartbeats(ctx context.Context, registered chan<- struct{}) {
	interval := p.options.StaleAfter / 6
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	var last, steadySince time.Time // wall clock: the other one stands still while a machine sleeps
	for {
		err := p.heartbeat(ctx)
		now := time.Now().Round(0)
		switch {
		case err == nil:
			if now.Sub(last) > p.options.StaleAfter/2 {
				steadySince = now
			}
			last = now
		case ctx.Err() != nil:
			return
		default:
			last = time.Time{}
			p.options.Log.WarnContext(ctx, "send heartbeat", "error", err)
		}
		if err == nil && registered != nil {
			close(registered)
			registered = nil
		}
		// Whoever was away itself cannot tell the silent from the cut off.
		if err == nil && now.Sub(steadySince) >= p.options.StaleAfter {
			p.recoverStale(ctx)
		}
		wait := ticker.C
		if registered != nil {
			wait = time.After(min(interval, time.Second)) // nothing runs before the first heartbeat
		}
		select {
		case <-wait:
		case <-ctx.Done():
			return
		}
	}
}

// heartbeat proves that this node lives, and with it all its claims.
func (p *Pool) heartbeat(ctx context.Context) error {
	return p.beat(ctx, p.held())
}

// beat sends a heartbeat and learns what became of some claims.
func (p *Pool) beat(ctx context.Context, held []*running) error {
	refs := make([]asyncop.ClaimRef, len(held))
	for i, r := range held {
		refs[i] = r.claim.Ref()
	}
	bounded, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	pulses, err := p.queue.Heartbeat(bounded, p.options.Node, refs)
	if err != nil {
		return err
	}
	for i, pulse := range pulses {
		switch pulse {
		case asyncop.PulseLost:
			p.lose(ctx, held[i])
		case asyncop.PulseCancel:
			held[i].requested()
		}
	}
	return nil
}

// cancellations asks about running operations that have changed, until ctx
// ends. A heartbeat that comes later tells what this one could not.
func (p *Pool) cancellations(ctx context.Context) {
	for {
		select {
		case <-p.doubts:
		case <-ctx.Done():
			return
		}
		doubted := p.doubted()
		if len(doubted) == 0 {
			continue
		}
		if err := p.beat(ctx, doubted); err != nil && ctx.Err() == nil {
			p.options.Log.WarnContext(ctx, "ask for cancellations", "error", err)
		}
	}
}

// doubted is the attempts whose operations have changed since it was asked.
func (p *Pool) doubted() []*running {
	p.mu.Lock()
	defer p.mu.Unlock()
	var doubted []*running
	for _, r := range p.running {
		if r.doubted && !r.ended {
			doubted = append(doubted, r)
		}
		r.doubted = false
	}
	return doubted
}

// held is the attempts under way.
func (p *Pool) held() []*running {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Collect(maps.Values(p.running))
}

// lose ends the attempt of a lost claim where another may run beside it. One
// that is not idempotent is let end: no second one can start, and cutting it
// off would only destroy an outcome.
func (p *Pool) lose(ctx context.Context, r *running) {
	p.mu.Lock()
	known := r.lost || r.ended // once it is settled its claim is gone too
	r.lost = r.lost || !r.ended
	p.mu.Unlock()
	if known {
		return
	}
	p.options.Log.WarnContext(ctx, "claim lost", "operation", r.claim.Operation)
	if r.claim.Operation.Idempotent {
		r.cancel(asyncop.ErrClaimLost)
	}
}

func (p *Pool) recoverStale(ctx context.Context) {
	bounded, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	recovered, err := p.queue.Recover(bounded, p.options.StaleAfter)
	if err != nil {
		if ctx.Err() == nil {
			p.options.Log.WarnContext(ctx, "recover stale claims", "error", err)
		}
		return
	}
	if len(recovered) > 0 {
		p.options.Log.WarnContext(ctx, "recovered operations of a silent node", "operations", recovered)
	}
}
