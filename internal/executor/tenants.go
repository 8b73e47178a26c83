package executor

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vektah/gqlparser/v2/ast"

	"asyncgate/internal/executor/schema"
)

// TenantOptions configure one tenant.
type TenantOptions struct {
	Name      string // "" where there is no tenancy
	Remote    RemoteOptions
	Schema    *ast.Schema // the upstream's, from a file; nil: it is asked
	Allowlist Allowlist
}

// Tenants holds the configured tenants. One whose upstream is down answers
// ErrUnavailable and is tried again, while the others serve.
type Tenants struct {
	surface Surface
	log     *slog.Logger
	entries map[string]*entry
}

// entry is one configured tenant, loaded or not.
type entry struct {
	options TenantOptions
	remote  *Remote
	loaded  atomic.Pointer[Tenant]
}

// NewTenants makes the directory. Tenants with a schema from a file are loaded
// here; the others by Run. Errors: all schemas from files that do not merge,
// joined.
func NewTenants(surface Surface, all []TenantOptions, log *slog.Logger) (*Tenants, error) {
	t := &Tenants{surface: surface, log: log, entries: map[string]*entry{}}
	var errs []error
	for _, options := range all {
		remote, err := NewRemote(options.Remote)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", tenantWord(options.Name), err))
			continue
		}
		e := &entry{options: options, remote: remote}
		t.entries[options.Name] = e
		if options.Schema == nil {
			continue
		}
		if err := t.merge(e, options.Schema); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", tenantWord(options.Name), err))
		}
	}
	return t, errors.Join(errs...)
}

// Tenant answers the executor of a tenant. Errors: ErrTenantUnknown,
// ErrUnavailable.
func (t *Tenants) Tenant(_ context.Context, name string) (*Tenant, error) {
	e, ok := t.entries[name]
	if !ok {
		return nil, ErrTenantUnknown
	}
	if tenant := e.loaded.Load(); tenant != nil {
		return tenant, nil
	}
	return nil, fmt.Errorf("%w: the upstream's schema is not known yet", ErrUnavailable)
}

// The time between two tries to learn an upstream's schema, and for each.
const (
	firstRetry    = 500 * time.Millisecond
	lastRetry     = 30 * time.Second
	introspection = 30 * time.Second
)

// Run loads the tenants that are not loaded, as often as it takes, until ctx
// ends. It calls tried once each of them has been tried.
func (t *Tenants) Run(ctx context.Context, tried func()) error {
	var loaders, first sync.WaitGroup
	for _, e := range t.entries {
		if e.loaded.Load() != nil {
			continue
		}
		first.Add(1)
		loaders.Go(func() { t.keepLoading(ctx, e, first.Done) })
	}
	loaders.Go(func() {
		first.Wait()
		tried()
	})
	loaders.Wait()
	<-ctx.Done()
	for _, e := range t.entries {
		e.remote.Close()
	}
	return nil
}

func (t *Tenants) keepLoading(ctx context.Context, e *entry, tried func()) {
	for wait := firstRetry; ; wait = min(2*wait, lastRetry) {
		err := t.load(ctx, e)
		if tried != nil {
			tried()
			tried = nil
		}
		if err == nil {
			t.log.InfoContext(ctx, "tenant loaded", "tenant", e.options.Name)
			return
		}
		if ctx.Err() == nil {
			t.log.WarnContext(ctx, "load tenant, trying again", "tenant", e.options.Name, "error", err)
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return
		}
	}
}

func (t *Tenants) load(ctx context.Context, e *entry) error {
	ctx, cancel := context.WithTimeout(ctx, introspection)
	defer cancel()
	upstream, err := schema.Introspect(ctx, e.remote.Introspect)
	if err != nil {
		return fmt.Errorf("introspect upstream: %w", err)
	}
	return t.merge(e, upstream)
}

func (t *Tenants) merge(e *entry, upstream *ast.Schema) error {
	e.remote.schema = upstream
	tenant, err := NewTenant(t.surface, e.remote, e.options.Allowlist)
	if err != nil {
		return err
	}
	e.loaded.Store(tenant)
	return nil
}

func tenantWord(name string) string {
	if name == "" {
		return "upstream"
	}
	return "tenant " + name
}
