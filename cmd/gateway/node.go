package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/google/uuid"
	"github.com/vektah/gqlparser/v2/ast"
	"golang.org/x/sync/errgroup"

	"asyncgate/graph"
	"asyncgate/internal/asyncop"
	"asyncgate/internal/asyncop/postgres"
	"asyncgate/internal/asyncop/sqlite"
	"asyncgate/internal/auth"
	"asyncgate/internal/config"
	"asyncgate/internal/executor"
	"asyncgate/internal/executor/schema"
	"asyncgate/internal/server"
)

// node is one gateway process, put together from the leaves up.
type node struct {
	store   store
	hub     *asyncop.Hub
	pool    *executor.Pool
	sweeper *executor.Sweeper
	tenants *executor.Tenants
	server  *server.Server
}

// store is an asyncop.Store with its life.
type store interface {
	asyncop.Store
	Run(ctx context.Context) error
}

// newNode builds a node that does nothing yet. The caller must call release.
func newNode(ctx context.Context, cfg *config.Config, log *slog.Logger) (n *node, release func(), err error) {
	verifier, err := auth.NewVerifier(cfg.Policy())
	if err != nil {
		return nil, nil, err
	}
	operations := &executor.Operations{
		Limits: executor.Limits{Variables: cfg.Limits.Variables, MaxAge: cfg.Authority.MaxAge},
		Reach:  verifier.Reach,
	}
	tenants, err := newTenants(cfg, operations, log)
	if err != nil {
		return nil, nil, err
	}
	hub := asyncop.NewHub(cfg.Worker.PollInterval, log)
	pool := executor.NewPool(executor.Worker{Tenants: tenants, MaxAge: cfg.Authority.MaxAge, Log: log}, executor.PoolOptions{
		Node:        nodeName(),
		Concurrency: cfg.Worker.Concurrency, PollInterval: cfg.Worker.PollInterval,
		StaleAfter: cfg.Worker.StaleAfter, DrainTimeout: cfg.Worker.DrainTimeout, Log: log,
	})
	opened, release, err := openStore(ctx, cfg, asyncop.Wakers{hub, pool}, log)
	if err != nil {
		return nil, nil, err
	}
	operations.Records, operations.Hub, operations.Tenants = opened, hub, tenants
	return &node{
		store: opened, hub: hub, pool: pool, tenants: tenants,
		sweeper: &executor.Sweeper{
			Shelf:       opened,
			Retention:   asyncop.Retention{Result: cfg.Retention.Result, Operation: cfg.Retention.Operation},
			ExpireEvery: cfg.Worker.PollInterval, Log: log,
		},
		server: server.New(server.Options{
			Tenants: tenants, Verifier: verifier, Limits: server.Limits{Body: cfg.Limits.Body}, Logger: log,
		}),
	}, release, nil
}

// firstTry is how long the listener waits for upstreams to be asked for their
// schemas. One that is slower is UNAVAILABLE until it has answered.
const firstTry = 5 * time.Second

// Run serves on ln until ctx ends, and then drains: what serves clients and
// works stops first, then what carries its wakes and writes. It calls ready
// once requests are served.
func (n *node) Run(ctx context.Context, ln net.Listener, ready func()) error {
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	behind, behindCtx := errgroup.WithContext(background)
	tried := make(chan struct{})
	behind.Go(func() error { return n.store.Run(behindCtx) })
	behind.Go(func() error { return n.tenants.Run(behindCtx, func() { close(tried) }) })

	front, frontCtx := errgroup.WithContext(ctx)
	front.Go(func() error { return n.hub.Run(frontCtx, n.store) }) // waits end with it, so that no long poll holds the stop up
	front.Go(func() error { return n.sweeper.Run(frontCtx) })
	front.Go(func() error { return n.pool.Run(frontCtx, n.store) })
	front.Go(func() error {
		select {
		case <-tried:
		case <-time.After(firstTry):
		case <-frontCtx.Done():
		}
		ready()
		return n.server.Run(frontCtx, ln)
	})
	err := front.Wait()
	stop()
	return errors.Join(err, behind.Wait())
}

// newTenants makes the directory of tenants. Schemas from files are read, and
// merged, here: a mistake in one is a mistake of the configuration.
func newTenants(cfg *config.Config, operations *executor.Operations, log *slog.Logger) (*executor.Tenants, error) {
	identity, err := auth.CompileHeaders(cfg.Headers, cfg.ExtraClaims())
	if err != nil {
		return nil, err
	}
	upstreams := map[string]config.Upstream{}
	for name, tenant := range cfg.Tenants {
		upstreams[name] = tenant.Upstream
	}
	if cfg.Upstream != nil {
		upstreams[""] = *cfg.Upstream
	}
	var all []executor.TenantOptions
	var errs []error
	for name, upstream := range upstreams {
		fromFile, err := readSchema(upstream.Schema)
		errs = append(errs, err)
		all = append(all, executor.TenantOptions{
			Name: name, Schema: fromFile, Allowlist: allowlist(cfg.Allowlist(name)),
			Remote: executor.RemoteOptions{
				URL: upstream.URL, Timeout: upstream.Timeout, IdleTimeout: upstream.IdleTimeout,
				Headers: upstream.Headers, Identity: identity, MaxAnswer: cfg.Limits.Result,
			},
		})
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return executor.NewTenants(graph.Surface(operations, log), all, log)
}

func readSchema(path string) (*ast.Schema, error) {
	if path == "" {
		return nil, nil //nolint:nilnil // none is configured: the upstream is asked
	}
	sdl, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read schema: %w", err)
	}
	return schema.FromSDL(filepath.Base(path), string(sdl))
}

func allowlist(mutations map[string]config.Mutation) executor.Allowlist {
	allowed := executor.Allowlist{}
	for name, m := range mutations {
		allowed[name] = executor.Policy{
			Idempotent: m.Idempotent, MaxAttempts: m.MaxAttempts, Timeout: m.Timeout,
			StartWithin: m.StartWithin, MaxPriority: m.MaxPriority, Roles: m.Roles,
		}
	}
	return allowed
}

func openStore(ctx context.Context, cfg *config.Config, waker asyncop.Waker, log *slog.Logger) (store, func(), error) {
	if cfg.Store.Postgres != "" {
		opened, err := postgres.Open(ctx, cfg.Store.Postgres, postgres.Options{Waker: waker, Migrate: cfg.StoreMigrate, Logger: log})
		if err != nil {
			return nil, nil, err
		}
		return opened, opened.Close, nil
	}
	opened, err := sqlite.Open(ctx, cfg.Store.SQLite, sqlite.Options{Waker: waker, Migrate: cfg.StoreMigrate, Logger: log})
	if err != nil {
		return nil, nil, err
	}
	return opened, func() {
		if err := opened.Close(); err != nil {
			log.ErrorContext(ctx, "close store", "error", err)
		}
	}, nil
}

// nodeName tells this process from every other, and tells people where it is.
func nodeName() string {
	host, err := os.Hostname()
	if err != nil || host == "" {
		host = "gateway"
	}
	return host + "-" + uuid.NewString()[:8]
}
