package executor

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"time"

	"asyncgate/internal/asyncop"
)

// BreakerOptions say when an upstream that fails is left alone.
type BreakerOptions struct {
	Failures int           // in a row; 0 never opens it
	OpenFor  time.Duration // until one request is let through
	// Changed is called when it opens or closes, and when a request may go
	// through again; nil: nobody asks.
	Changed func()
	Log     *slog.Logger
}

// breaker counts what fails at one upstream in a row. Open, it lets nothing
// through; after a while it lets one request through, which closes it or opens
// it again.
type breaker struct {
	options BreakerOptions
	tenant  string

	mu        sync.Mutex
	failures  int       // guarded by mu, in a row
	openUntil time.Time // guarded by mu; zero while it is closed
	probing   bool      // guarded by mu: the one request is under way
}

func newBreaker(tenant string, options BreakerOptions) *breaker {
	options.Log = cmp.Or(options.Log, slog.New(slog.DiscardHandler))
	return &breaker{options: options, tenant: tenant}
}

// passage is the right to send one request, which must end. The zero value is
// none.
type passage struct {
	breaker *breaker
	probe   bool
}

// begin lets a request through; ok is false where none may be sent now.
func (b *breaker) begin() (p passage, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.openUntil.IsZero() {
		return passage{breaker: b}, true
	}
	if b.probing || time.Now().Before(b.openUntil) {
		return passage{}, false
	}
	b.probing = true
	return passage{breaker: b, probe: true}, true
}

// end counts what came of the request. One that its own side cut off says
// nothing of the upstream.
func (p passage) end(ctx context.Context, failure *asyncop.Failure) {
	switch {
	case !ofUpstream(failure):
		p.succeed(ctx)
	case ctx.Err() == nil:
		p.fail(ctx)
	case p.probe:
		p.breaker.mu.Lock()
		p.breaker.probing = false
		p.breaker.mu.Unlock()
		p.breaker.changed() // another may try
	}
}

// ofUpstream reports whether a failure is one that the breaker counts: any
// other is an answer.
func ofUpstream(failure *asyncop.Failure) bool {
	if failure == nil {
		return false
	}
	switch failure.Code {
	case asyncop.CodeUpstreamUnavailable, asyncop.CodeOutcomeUnknown, asyncop.CodeTimeout:
		return true
	default:
		return false
	}
}

func (p passage) succeed(ctx context.Context) {
	b := p.breaker
	b.mu.Lock()
	if b.failures = 0; p.probe {
		b.openUntil, b.probing = time.Time{}, false
	}
	b.mu.Unlock()
	if p.probe {
		b.options.Log.InfoContext(ctx, "upstream answers again, breaker closed", "tenant", b.tenant)
		b.changed()
	}
}

func (p passage) fail(ctx context.Context) {
	b := p.breaker
	b.mu.Lock()
	b.failures++
	opens := p.probe || (b.openUntil.IsZero() && b.options.Failures > 0 && b.failures >= b.options.Failures)
	if opens {
		b.openUntil = time.Now().Add(b.options.OpenFor)
	}
	if p.probe {
		b.probing = false
	}
	b.mu.Unlock()
	if !opens {
		return
	}
	if !p.probe {
		b.options.Log.WarnContext(ctx, "upstream fails, breaker opened", "tenant", b.tenant, "for", b.options.OpenFor.String())
	}
	b.changed()
	time.AfterFunc(b.options.OpenFor, b.changed)
}

func (b *breaker) changed() {
	if b.options.Changed != nil {
		b.options.Changed()
	}
}

// bound is room within what the breaker lets through.
func (b *breaker) bound(room asyncop.Room) asyncop.Room {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.openUntil.IsZero() {
		return room
	}
	room.Closed = b.probing || time.Now().Before(b.openUntil)
	room.Most = 1
	return room
}

// adopt takes over what another one knows of the same upstream.
func (b *breaker) adopt(other *breaker) {
	other.mu.Lock()
	defer other.mu.Unlock()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.failures, b.openUntil = other.failures, other.openUntil
}
