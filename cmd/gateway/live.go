package main

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/google/uuid"

	"asyncgate/internal/auth"
	"asyncgate/internal/executor"
	"asyncgate/internal/server"
)

// live is the generation in force, as the parts of a node that outlive one see
// it: a directory of tenants, a verifier, a waker. Whoever has a tenant keeps
// it, whatever comes after.
type live struct {
	now atomic.Pointer[generation]

	mu      sync.Mutex
	working map[*executor.Pool]struct{} // guarded by mu: those that drain too
}

// work runs a pool, which hears of changes until it has drained.
func (l *live) work(pool *executor.Pool, run func()) {
	l.mu.Lock()
	if l.working == nil {
		l.working = map[*executor.Pool]struct{}{}
	}
	l.working[pool] = struct{}{}
	l.mu.Unlock()
	run()
	l.mu.Lock()
	delete(l.working, pool)
	l.mu.Unlock()
}

func (l *live) set(g *generation) { l.now.Store(g) }

// Tenant answers the executor of a tenant.
func (l *live) Tenant(ctx context.Context, name string) (*executor.Tenant, error) {
	return l.now.Load().tenants.Tenant(ctx, name)
}

// Verify turns a token into a security context.
func (l *live) Verify(ctx context.Context, token string) (auth.SecurityContext, error) {
	return l.now.Load().verifier.Verify(ctx, token)
}

func (l *live) reach(caller auth.SecurityContext) auth.Reach {
	return l.now.Load().verifier.Reach(caller)
}

func (l *live) submissionLimits() executor.Limits {
	cfg := l.now.Load().cfg
	return executor.Limits{Variables: cfg.Limits.Variables, MaxAge: cfg.Authority.MaxAge}
}

// anonymous reports whether requests without a token are served.
func (l *live) anonymous() bool { return l.now.Load().cfg.Anonymous }

// origins are those whose pages may call.
func (l *live) origins() []string { return l.now.Load().cfg.Origins }

func (l *live) wireLimits() server.Limits {
	return server.Limits{Body: l.now.Load().cfg.Limits.Body}
}

// Due wakes the pool.
func (l *live) Due() { l.now.Load().pool.Due() }

// Changed tells every pool that works: what one runs may be cancelled while it
// drains.
func (l *live) Changed(ids ...uuid.UUID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for pool := range l.working {
		pool.Changed(ids...)
	}
}

// Missed wakes the pool.
func (l *live) Missed() { l.now.Load().pool.Missed() }
