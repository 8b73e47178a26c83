package main

import (
	"context"
	"sync"
	"time"

	"asyncgate/internal/asyncop"
	"asyncgate/internal/auth"
	"asyncgate/internal/config"
	"asyncgate/internal/executor"
)

// generation is all of a node that a configuration makes: a reload replaces it
// whole, or not at all.
type generation struct {
	cfg      *config.Config
	verifier *auth.Verifier
	tenants  *executor.Tenants
	pool     *executor.Pool
}

// newGeneration builds one that does nothing yet.
func (n *node) newGeneration(cfg *config.Config) (*generation, error) {
	verifier, err := auth.NewVerifier(cfg.Policy())
	if err != nil {
		return nil, err
	}
	tenants, err := n.newTenants(cfg)
	if err != nil {
		return nil, err
	}
	worker := executor.Worker{Tenants: tenants, MaxAge: cfg.Authority.MaxAge, Log: n.log}
	return &generation{
		cfg: cfg, verifier: verifier, tenants: tenants,
		pool: executor.NewPool(worker, executor.PoolOptions{
			Node:        nodeName(),
			Concurrency: cfg.Worker.Concurrency, PollInterval: cfg.Worker.PollInterval,
			StaleAfter: cfg.Worker.StaleAfter, DrainTimeout: cfg.Worker.DrainTimeout, Room: tenants.Room, Log: n.log,
		}),
	}, nil
}

// The time that upstreams get to say their schemas before requests are served,
// or a reload takes effect: a slower one is UNAVAILABLE, or has the schema that
// it had, until it has answered. And the time that requests which began under
// a generation may still use what it has.
const (
	firstTry    = 5 * time.Second
	retireAfter = 35 * time.Second
)

// generations runs the first one and, after each reload, the next, until ctx
// ends and all have drained. It calls loaded once the first one's upstreams
// have been asked.
func (n *node) generations(ctx context.Context, loaded func(), reload <-chan func() (*config.Config, error)) error {
	var all sync.WaitGroup
	defer all.Wait()
	current := n.live.now.Load()
	n.ask(ctx, current) //nolint:errcheck // logged: a tenant that cannot be served keeps no other from it
	stop := n.start(ctx, &all, current)
	loaded()
	for {
		select {
		case load := <-reload:
			next, err := n.next(ctx, current, load)
			if err != nil {
				n.log.ErrorContext(ctx, "reload refused, nothing has changed", "error", err)
				continue
			}
			n.live.set(next)
			n.hub.SetPoll(next.cfg.Worker.PollInterval)
			n.reloaded(next.cfg)
			stop()
			current, stop = next, n.start(ctx, &all, next)
			n.log.InfoContext(ctx, "reloaded", "config", next.cfg)
		case <-ctx.Done():
			stop()
			return nil
		}
	}
}

// next builds the generation after current. Errors: whatever is wrong with its
// file, or with a schema.
func (n *node) next(ctx context.Context, current *generation, load func() (*config.Config, error)) (*generation, error) {
	cfg, err := load()
	if err != nil {
		return nil, err
	}
	cfg.Listen, cfg.Store = current.cfg.Listen, current.cfg.Store
	next, err := n.newGeneration(cfg)
	if err != nil {
		return nil, err
	}
	next.tenants.Inherit(current.tenants)
	return next, n.ask(ctx, next)
}

// ask asks upstreams for their schemas, for a bounded time. Errors: a schema
// that cannot be used.
func (n *node) ask(ctx context.Context, g *generation) error {
	ctx, cancel := context.WithTimeout(ctx, firstTry)
	defer cancel()
	return g.tenants.Load(ctx)
}

// start runs a generation. stop makes its pool drain, and keeps what requests
// may still use a while longer.
func (n *node) start(ctx context.Context, all *sync.WaitGroup, g *generation) (stop func()) {
	working, stopWorking := context.WithCancel(ctx)
	serving, stopServing := context.WithCancel(context.WithoutCancel(ctx))
	var work sync.WaitGroup
	work.Go(func() { n.live.work(g.pool, func() { _ = g.pool.Run(working, n.store) }) })
	work.Go(func() { _ = n.sweeper(g.cfg).Run(working) })
	all.Go(func() { _ = g.tenants.Run(serving) })
	all.Go(func() {
		defer stopServing()
		work.Wait()
		select {
		case <-time.After(retireAfter):
		case <-ctx.Done():
		}
	})
	return stopWorking
}

func (n *node) sweeper(cfg *config.Config) *executor.Sweeper {
	return &executor.Sweeper{
		Shelf:       n.store,
		Retention:   asyncop.Retention{Result: cfg.Retention.Result, Operation: cfg.Retention.Operation},
		ExpireEvery: cfg.Worker.PollInterval, Log: n.log,
	}
}
