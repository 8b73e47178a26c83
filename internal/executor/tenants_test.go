package executor_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"asyncgate/internal/demo/upstream"
	"asyncgate/internal/executor"
	"asyncgate/internal/executor/schema"
)

func sdl(text string) *executor.SchemaText { return executor.SDL("upstream.graphqls", []byte(text)) }

func remote(url string) executor.RemoteOptions {
	return executor.RemoteOptions{URL: url, Timeout: time.Second, IdleTimeout: time.Second}
}

// flaky is an upstream that is down until it is told otherwise. It notes when
// it was asked while down.
type flaky struct {
	up atomic.Bool

	mu    sync.Mutex
	asked []time.Time // guarded by mu
	tried chan struct{}
}

func (f *flaky) serve(t *testing.T) (url string) {
	t.Helper()
	f.tried = make(chan struct{}, 100)
	real := upstream.New()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if f.up.Load() {
			real.ServeHTTP(w, r)
			return
		}
		f.mu.Lock()
		f.asked = append(f.asked, time.Now())
		f.mu.Unlock()
		w.WriteHeader(http.StatusServiceUnavailable)
		f.tried <- struct{}{}
	}))
	t.Cleanup(server.Close)
	return server.URL + "/graphql"
}

// runTenants runs the directory for the length of the test, and returns once
// each tenant has been tried.
func runTenants(t *testing.T, tenants *executor.Tenants) {
	t.Helper()
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan struct{})
	if err := tenants.Load(ctx); err != nil {
		t.Error(err)
	}
	go func() {
		defer close(ended)
		if err := tenants.Run(ctx); err != nil {
			t.Error(err)
		}
	}()
	t.Cleanup(func() {
		stop()
		<-ended
	})
}

func TestATenantWhoseUpstreamIsDownLoadsLaterWhileAnotherServes(t *testing.T) {
	t.Parallel()
	var down, up flaky
	up.up.Store(true)
	tenants, err := executor.NewTenants(executor.NewEngines(surface()), []executor.TenantOptions{
		{Name: "down", Remote: remote(down.serve(t))}, {Name: "up", Remote: remote(up.serve(t))},
	}, quiet)
	if err != nil {
		t.Fatal(err)
	}
	runTenants(t, tenants)
	if _, err := tenants.Tenant(t.Context(), "up"); err != nil {
		t.Errorf("the other tenant: %v", err)
	}
	<-down.tried
	<-down.tried // once more by itself
	if _, err := tenants.Tenant(t.Context(), "down"); !errors.Is(err, executor.ErrUnavailable) {
		t.Errorf("got %v, want ErrUnavailable", err)
	}
	down.up.Store(true)
	await(t, func() bool {
		_, err := tenants.Tenant(t.Context(), "down")
		return err == nil
	})
	down.mu.Lock()
	defer down.mu.Unlock()
	if gap := down.asked[1].Sub(down.asked[0]); gap < 400*time.Millisecond {
		t.Errorf("asked again after %s", gap)
	}
}

// await polls until done.
func await(t *testing.T, done func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(20 * time.Second)
	for !done() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatal("it did not happen in 20 s")
		}
	}
}

func TestAnUnknownTenantIsToldApart(t *testing.T) {
	t.Parallel()
	tenants, err := executor.NewTenants(executor.NewEngines(surface()), []executor.TenantOptions{
		{Name: "acme", Schema: sdl(shop), Remote: remote("http://127.0.0.1:1/")},
	}, quiet)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"globex", "", "ACME", "*"} {
		if _, err := tenants.Tenant(t.Context(), name); !errors.Is(err, executor.ErrTenantUnknown) {
			t.Errorf("%q: %v, want ErrTenantUnknown", name, err)
		}
	}
	if _, err := tenants.Tenant(t.Context(), "acme"); err != nil {
		t.Errorf("a tenant with a schema from a file waits for nothing: %v", err)
	}
}

func TestConflictingSchemasAreRefusedWithBothDefinitions(t *testing.T) {
	t.Parallel()
	taken := sdl(`type Query { asyncOperation(key: Int): String } type AsyncOperation { number: Int }`)
	_, err := executor.NewTenants(executor.NewEngines(surface()), []executor.TenantOptions{
		{Name: "acme", Schema: taken, Remote: remote("http://127.0.0.1:1/")},
		{Name: "fine", Schema: sdl(shop), Remote: remote("http://127.0.0.1:1/")},
		{Name: "globex", Schema: taken, Remote: remote("http://127.0.0.1:1/")},
	}, quiet)
	if !errors.Is(err, schema.ErrConflict) {
		t.Fatalf("got %v, want ErrConflict", err)
	}
	for _, told := range []string{"tenant acme", "tenant globex", "number: Int", "cancellationRequested", "asyncOperation(key: Int)"} {
		if !strings.Contains(err.Error(), told) {
			t.Errorf("the error does not hold %q: %v", told, err)
		}
	}
	if strings.Contains(err.Error(), "tenant fine") {
		t.Errorf("the error names a tenant that is fine: %v", err)
	}
}
