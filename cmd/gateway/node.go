package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"asyncgate/graph"
	"asyncgate/internal/asyncop"
	"asyncgate/internal/asyncop/postgres"
	"asyncgate/internal/asyncop/sqlite"
	"asyncgate/internal/auth"
	"asyncgate/internal/config"
	"asyncgate/internal/executor"
	"asyncgate/internal/server"
)

// node is one gateway process, put together from the leaves up.
type node struct {
	store   store
	hub     *asyncop.Hub
	engines executor.Engines
	live    *live
	server  *server.Server
	log     *slog.Logger
	// reloaded is called with each configuration that took effect.
	reloaded func(*config.Config)
	// stopping is closed when clients read nothing more of subscriptions.
	stopping chan struct{}
}

// store is an asyncop.Store with its life.
type store interface {
	asyncop.Store
	Run(ctx context.Context) error
}

// newNode builds a node that does nothing yet. The caller must call release.
func newNode(ctx context.Context, cfg *config.Config, log *slog.Logger) (n *node, release func(), err error) {
	n = &node{live: &live{}, hub: asyncop.NewHub(cfg.Worker.PollInterval, log), log: log, stopping: make(chan struct{})}
	operations := &executor.Operations{Hub: n.hub, Tenants: n.live, Limits: n.live.submissionLimits, Reach: n.live.reach}
	n.engines = executor.NewEngines(graph.Surface(operations, log))
	first, err := n.newGeneration(cfg)
	if err != nil {
		return nil, nil, err
	}
	n.live.set(first)
	n.store, release, err = openStore(ctx, cfg, asyncop.Wakers{n.hub, n.live}, log)
	if err != nil {
		return nil, nil, err
	}
	operations.Records = n.store
	n.server = server.New(server.Options{
		Tenants: n.live, Operations: operations, Verifier: n.live, Limits: n.live.wireLimits, Logger: log, Ready: n.ready,
		Anonymous: n.live.anonymous, Origins: n.live.origins,
		Stopping: func() { close(n.stopping) },
	})
	return n, release, nil
}

// ready answers why the store cannot be used. It asks for an operation that
// there never is, since that names every column that this program needs.
func (n *node) ready(ctx context.Context) error {
	_, err := n.store.Get(ctx, asyncop.EverythingScope(), uuid.Nil)
	if errors.Is(err, asyncop.ErrNotFound) {
		return nil
	}
	return err
}

// Run serves on ln until ctx ends, and then drains: what serves clients and
// works stops first, then what carries its wakes and writes. It calls ready
// once requests are served. Each value from reload is a configuration to take
// over.
func (n *node) Run(ctx context.Context, ln net.Listener, ready func(), reload <-chan func() (*config.Config, error)) error {
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	behind, behindCtx := errgroup.WithContext(background)
	behind.Go(func() error { return n.store.Run(behindCtx) })

	front, frontCtx := errgroup.WithContext(ctx)
	front.Go(func() error { return n.runHub(background) })
	loaded := make(chan struct{})
	front.Go(func() error { return n.generations(frontCtx, func() { close(loaded) }, reload) })
	front.Go(func() error {
		select {
		case <-loaded:
		case <-frontCtx.Done():
		}
		ready()
		return n.server.Run(frontCtx, ln)
	})
	err := front.Wait()
	stop()
	return errors.Join(err, behind.Wait())
}

// runHub runs the hub until the server begins to stop. Waits end with it, so
// that no long poll holds the stop up.
func (n *node) runHub(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		defer cancel()
		select {
		case <-n.stopping:
		case <-ctx.Done():
		}
	}()
	return n.hub.Run(ctx, n.store)
}

// newTenants makes the directory of tenants. Schemas from files are read, and
// merged, here: a mistake in one is a mistake of the configuration.
func (n *node) newTenants(cfg *config.Config) (*executor.Tenants, error) {
	all, err := tenantOptions(cfg)
	if err != nil {
		return nil, err
	}
	for i := range all {
		all[i].Remote.Breaker = executor.BreakerOptions{
			Failures: cfg.Breaker.Failures, OpenFor: cfg.Breaker.OpenFor, Changed: n.live.Due, Log: n.log,
		}
	}
	return executor.NewTenants(n.engines, all, n.log)
}

// tenantOptions reads what the configuration says of each tenant.
func tenantOptions(cfg *config.Config) ([]executor.TenantOptions, error) {
	reader, err := newTenantReader(cfg)
	if err != nil {
		return nil, err
	}
	upstreams := upstreamsOf(cfg)
	var all []executor.TenantOptions
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(upstreams)) {
		options, err := reader.read(name, upstreams[name])
		all, errs = append(all, options), append(errs, err)
	}
	return all, errors.Join(errs...)
}

// upstreamsOf is the upstream of each tenant; the tenant is "" without tenancy.
func upstreamsOf(cfg *config.Config) map[string]config.Upstream {
	upstreams := map[string]config.Upstream{}
	for name, tenant := range cfg.Tenants {
		upstreams[name] = tenant.Upstream
	}
	if cfg.Upstream != nil {
		upstreams[""] = *cfg.Upstream
	}
	return upstreams
}

// tenantReader makes the options of tenants.
type tenantReader struct {
	cfg      *config.Config
	identity *auth.Headers
	files    schemaFiles
}

func newTenantReader(cfg *config.Config) (*tenantReader, error) {
	identity, err := auth.CompileHeaders(cfg.Headers, cfg.ExtraClaims())
	return &tenantReader{cfg: cfg, identity: identity, files: schemaFiles{}}, err
}

// read makes the options of one tenant. Errors: those of reading its schema
// file; the rest of the options is filled in.
func (r *tenantReader) read(name string, upstream config.Upstream) (executor.TenantOptions, error) {
	fromFile, err := r.files.read(upstream.Schema)
	return executor.TenantOptions{
		Name: name, Schema: fromFile, Allowlist: allowlist(r.cfg.Allowlist(name)), PerTenant: r.cfg.PerTenant(name),
		Remote: executor.RemoteOptions{
			URL: upstream.URL, Timeout: upstream.Timeout, IdleTimeout: upstream.IdleTimeout,
			Headers: upstream.Headers, Identity: r.identity, MaxAnswer: r.cfg.Limits.Result,
		},
	}, err
}

// schemaFiles holds each file's text once, by path: many tenants share one.
type schemaFiles map[string]*executor.SchemaText

func (f schemaFiles) read(path string) (*executor.SchemaText, error) {
	if path == "" {
		return nil, nil //nolint:nilnil // none is configured: the upstream is asked
	}
	if text, ok := f[path]; ok {
		return text, nil
	}
	sdl, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read schema: %w", err)
	}
	f[path] = executor.SDL(filepath.Base(path), sdl)
	return f[path], nil
}

func allowlist(mutations map[string]config.Mutation) executor.Allowlist {
	allowed := executor.Allowlist{}
	for name, m := range mutations {
		allowed[name] = executor.Policy{
			Idempotent: m.Idempotent, MaxAttempts: m.MaxAttempts, Timeout: m.Timeout,
			StartWithin: m.StartWithin, MaxPriority: m.MaxPriority, Roles: m.Roles,
			AbortOnCancel: m.AbortOnCancel, RequireKey: m.RequireIdempotencyKey, Concurrency: m.Concurrency,
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
