package executor

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/sync/singleflight"

	"asyncgate/internal/asyncop"
	"asyncgate/internal/auth"
)

// The bounds of the tenants that a wildcard stands for.
const (
	loadedTenants = 1000             // at a time; the least used gives way
	failedTenants = 10_000           // whose failure is remembered
	failureKept   = 30 * time.Second // before a tenant is tried again
	loadsAtOnce   = 16               // so that strange names do not crowd out the known
)

// failedLoad is why a tenant could not be loaded, and until when that stands.
type failedLoad struct {
	err   error
	until time.Time
}

// wildcard loads tenants when they are first asked for. Names that do not fit
// the grammar are unknown at once: nothing is looked up or sent for them.
type wildcard struct {
	engines Engines
	options TenantOptions
	bounds  map[string]int // the allowlist's
	log     *slog.Logger
	loaded  *lru.Cache[string, *Tenant]
	failed  *lru.Cache[string, failedLoad]
	loading singleflight.Group
	room    chan struct{} // holds one for each load under way

	ctx   context.Context //nolint:containedctx // of loads, which outlive the request that began them
	end   context.CancelFunc
	loads sync.WaitGroup

	mu     sync.Mutex
	closed bool // guarded by mu: no load begins any more
}

func newWildcard(engines Engines, options TenantOptions, log *slog.Logger) *wildcard {
	w := &wildcard{engines: engines, options: options, bounds: options.Allowlist.bounds(), log: log, room: make(chan struct{}, loadsAtOnce)}
	w.ctx, w.end = context.WithCancel(context.Background())
	var err, again error // only for sizes that are not positive
	w.loaded, err = lru.NewWithEvict(loadedTenants, func(_ string, evicted *Tenant) {
		if remote, ok := evicted.upstream.(*Remote); ok {
			remote.Close()
		}
	})
	w.failed, again = lru.New[string, failedLoad](failedTenants)
	if err := errors.Join(err, again); err != nil {
		panic(err)
	}
	return w
}

// tenant answers one, and loads it first where it must. Errors:
// ErrTenantUnknown, ErrUnavailable.
func (w *wildcard) tenant(ctx context.Context, name string) (*Tenant, error) {
	if !auth.ValidTenant(name) {
		return nil, ErrTenantUnknown
	}
	if tenant, ok := w.loaded.Get(name); ok {
		return tenant, nil
	}
	if failed, ok := w.failed.Get(name); ok && time.Now().Before(failed.until) {
		return nil, failed.err
	}
	result := w.loading.DoChan(name, func() (any, error) { return w.load(name) })
	select {
	case loaded := <-result:
		tenant, _ := loaded.Val.(*Tenant)
		return tenant, loaded.Err
	case <-ctx.Done():
		return nil, ErrUnavailable
	}
}

// roomOf answers what may run of a tenant, whether it is loaded or not.
func (w *wildcard) roomOf(name string) asyncop.Room {
	room := asyncop.Room{Running: w.options.PerTenant, Mutations: w.bounds}
	if tenant, ok := w.loaded.Peek(name); ok {
		if remote, ok := tenant.upstream.(*Remote); ok {
			return remote.breaker.bound(room)
		}
	}
	return room
}

// begin notes a load, unless loads are over.
func (w *wildcard) begin() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.closed {
		w.loads.Add(1)
	}
	return !w.closed
}

func (w *wildcard) load(name string) (*Tenant, error) {
	if !w.begin() {
		return nil, ErrUnavailable
	}
	defer w.loads.Done()
	if tenant, ok := w.loaded.Get(name); ok {
		return tenant, nil
	}
	select {
	case w.room <- struct{}{}:
		defer func() { <-w.room }()
	case <-w.ctx.Done():
		return nil, ErrUnavailable
	}
	tenant, err := w.make(name)
	if w.ctx.Err() != nil {
		return nil, ErrUnavailable // cut off: it says nothing about the tenant
	}
	if err != nil {
		w.log.WarnContext(w.ctx, "load tenant", "tenant", name, "error", err)
		err = fmt.Errorf("%w: its upstream's schema could not be learnt", ErrUnavailable)
		w.failed.Add(name, failedLoad{err, time.Now().Add(failureKept)})
		return nil, err
	}
	w.loaded.Add(name, tenant)
	return tenant, nil
}

func (w *wildcard) make(name string) (*Tenant, error) {
	options := w.options.Remote
	options.Tenant = name
	options.URL = strings.ReplaceAll(options.URL, "{tenant}", name)
	remote, err := NewRemote(options)
	if err != nil {
		return nil, err
	}
	tenant := &Tenant{upstream: remote, allowlist: w.options.Allowlist, bounds: w.bounds}
	if w.options.Schema != nil {
		tenant.engine, err = w.engines.of(*w.options.Schema)
	} else {
		tenant.engine, err = w.engines.ask(w.ctx, remote)
	}
	if err != nil {
		remote.Close()
		return nil, err
	}
	return tenant, nil
}

// close ends loads and closes the connections of all.
func (w *wildcard) close() {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	w.end()
	w.loads.Wait()
	w.loaded.Purge()
}
