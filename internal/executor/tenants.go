package executor

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"asyncgate/internal/asyncop"
	"asyncgate/internal/auth"
	"asyncgate/internal/executor/schema"
)

// TenantOptions configure one tenant.
type TenantOptions struct {
	Name      string // "" where there is no tenancy
	Remote    RemoteOptions
	Schema    *SchemaText // the upstream's, from a file; nil: it is asked
	Allowlist Allowlist
	PerTenant int // operations that may run at a time, on all nodes; 0: no bound
}

// Engines holds what tenants share: see NewTenants. One serves a process, so
// that a reload finds the schemas that have not changed.
type Engines struct{ *engines }

// NewEngines makes an empty one.
func NewEngines(surface Surface) Engines { return Engines{newEngines(surface)} }

// Tenants is a directory of tenants. One whose upstream is down answers
// ErrUnavailable and is tried again, while the others serve.
type Tenants struct {
	engines  Engines
	log      *slog.Logger
	entries  map[string]*entry
	wildcard *wildcard // nil: none
}

// entry is one configured tenant, loaded or not.
type entry struct {
	options TenantOptions
	bounds  map[string]int // the allowlist's
	remote  *Remote
	loaded  atomic.Pointer[Tenant]
	// stale: loaded is what was known before a reload, and the upstream is to
	// be asked again.
	stale bool
}

// NewTenants makes the directory. Tenants with a schema from a file are loaded
// here; the others by Run. The tenant named "*" stands for every other name
// that fits the grammar of auth.ValidTenant, and is loaded when first asked for.
// Errors: all schemas from files that cannot be used, joined.
func NewTenants(engines Engines, all []TenantOptions, log *slog.Logger) (*Tenants, error) {
	t := &Tenants{engines: engines, log: log, entries: map[string]*entry{}}
	var errs []error
	for _, options := range all {
		if options.Name == auth.AnyTenant {
			t.wildcard = newWildcard(engines, options, log)
			if options.Schema != nil {
				_, err := engines.of(*options.Schema)
				errs = append(errs, ofTenant(options.Name, err))
			}
			continue
		}
		e, err := newEntry(engines, options)
		t.entries[options.Name] = e
		if errs = append(errs, ofTenant(options.Name, err)); err == nil && options.Schema != nil {
			e.warn(context.Background(), log)
		}
	}
	return t, errors.Join(errs...)
}

func newEntry(engines Engines, options TenantOptions) (*entry, error) {
	options.Remote.Tenant = options.Name
	remote, err := NewRemote(options.Remote)
	if err != nil {
		return nil, err
	}
	e := &entry{options: options, bounds: options.Allowlist.bounds(), remote: remote}
	if options.Schema == nil {
		return e, nil
	}
	shared, err := engines.of(*options.Schema)
	if err != nil {
		return e, err
	}
	e.serve(shared)
	return e, nil
}

func (e *entry) serve(shared *engine) {
	e.loaded.Store(&Tenant{engine: shared, upstream: e.remote, allowlist: e.options.Allowlist, bounds: e.bounds})
}

// warn tells of names on the allowlist that can never be submitted.
func (e *entry) warn(ctx context.Context, log *slog.Logger) {
	for _, gap := range e.loaded.Load().Unserved() {
		log.WarnContext(ctx, "the allowlist names a mutation that the upstream does not have",
			"tenant", e.options.Name, "mutation", gap.Mutation, "did_you_mean", gap.Suggestion)
	}
}

// Inherit lets tenants whose upstream has not been asked yet serve with the
// schema that before knew for them, until they know better. An upstream that
// was left alone is left alone.
func (t *Tenants) Inherit(before *Tenants) {
	for name, e := range t.entries {
		old, ok := before.entries[name]
		if !ok || old.options.Remote.URL != e.options.Remote.URL {
			continue
		}
		e.remote.breaker.adopt(old.remote.breaker)
		if e.loaded.Load() != nil || old.options.Schema != nil {
			continue
		}
		if known := old.loaded.Load(); known != nil {
			e.serve(known.engine)
			e.stale = true
		}
	}
}

// Tenant answers the executor of a tenant. Errors: ErrTenantUnknown,
// ErrUnavailable.
func (t *Tenants) Tenant(ctx context.Context, name string) (*Tenant, error) {
	e, ok := t.entries[name]
	switch {
	case !ok && t.wildcard != nil:
		return t.wildcard.tenant(ctx, name)
	case !ok:
		return nil, ErrTenantUnknown
	}
	if tenant := e.loaded.Load(); tenant != nil {
		return tenant, nil
	}
	return nil, fmt.Errorf("%w: the upstream's schema is not known yet", ErrUnavailable)
}

// Room answers what may run of a tenant: a pool asks before it claims. It loads
// nothing; of a tenant that is not known it bounds nothing, since its operations
// fail at once.
func (t *Tenants) Room(name string) asyncop.Room {
	if e, ok := t.entries[name]; ok {
		return e.remote.breaker.bound(asyncop.Room{Running: e.options.PerTenant, Mutations: e.bounds})
	}
	if t.wildcard != nil {
		return t.wildcard.roomOf(name)
	}
	return asyncop.Room{}
}

// The time between two tries to learn an upstream's schema.
const (
	firstRetry = 500 * time.Millisecond
	lastRetry  = 30 * time.Second
)

// Load asks every upstream whose schema is not known, once, and answers what is
// wrong with the schemas that it got. An upstream that does not answer is no
// error: Run tries it again.
func (t *Tenants) Load(ctx context.Context) error {
	var asking sync.WaitGroup
	errs := make(chan error, len(t.entries))
	for _, e := range t.entries {
		if e.unasked() {
			asking.Go(func() { errs <- t.load(ctx, e) })
		}
	}
	asking.Wait()
	close(errs)
	var unusable []error
	for err := range errs {
		if errors.Is(err, schema.ErrInvalid) || errors.Is(err, schema.ErrConflict) {
			unusable = append(unusable, err)
		}
	}
	return errors.Join(unusable...)
}

func (e *entry) unasked() bool { return e.loaded.Load() == nil || e.stale }

// Run loads the tenants that are not loaded, as often as it takes, until ctx
// ends. Then it closes idle connections.
func (t *Tenants) Run(ctx context.Context) error {
	var loaders sync.WaitGroup
	for _, e := range t.entries {
		if e.unasked() {
			loaders.Go(func() { t.keepLoading(ctx, e) })
		}
	}
	<-ctx.Done()
	loaders.Wait()
	if t.wildcard != nil {
		t.wildcard.close()
	}
	for _, e := range t.entries {
		e.remote.Close()
	}
	return nil
}

func (t *Tenants) keepLoading(ctx context.Context, e *entry) {
	for wait := firstRetry; ; wait = min(2*wait, lastRetry) {
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return
		}
		if t.load(ctx, e) == nil {
			return
		}
	}
}

// load asks one upstream, and logs what came of it.
func (t *Tenants) load(ctx context.Context, e *entry) error {
	shared, err := t.engines.ask(ctx, e.remote)
	switch {
	case err == nil:
		e.serve(shared)
		e.stale = false
		e.warn(ctx, t.log)
		t.log.InfoContext(ctx, "tenant loaded", "tenant", e.options.Name)
	case ctx.Err() == nil:
		t.log.WarnContext(ctx, "load tenant", "tenant", e.options.Name, "error", err)
	}
	return ofTenant(e.options.Name, err)
}

// ofTenant names the tenant of an error; nil stays nil.
func ofTenant(name string, err error) error {
	switch {
	case err == nil:
		return nil
	case name == "":
		return fmt.Errorf("upstream: %w", err)
	default:
		return fmt.Errorf("tenant %s: %w", name, err)
	}
}
