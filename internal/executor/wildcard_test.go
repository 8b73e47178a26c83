package executor_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"asyncgate/internal/auth"
	"asyncgate/internal/demo/upstream"
	"asyncgate/internal/executor"
)

// anyTenant makes a directory of the "*" tenant, whose upstreams are at url.
func anyTenant(t *testing.T, url string, schema *executor.SchemaText) *executor.Tenants {
	t.Helper()
	tenants, err := executor.NewTenants(executor.NewEngines(surface()), []executor.TenantOptions{{
		Name: "*", Schema: schema, Allowlist: allowed,
		Remote: executor.RemoteOptions{URL: url, Timeout: time.Second, IdleTimeout: time.Hour},
	}}, quiet)
	if err != nil {
		t.Fatal(err)
	}
	return tenants
}

// find answers a tenant that can be loaded.
func find(t *testing.T, tenants *executor.Tenants, name string) *executor.Tenant {
	t.Helper()
	tenant, err := tenants.Tenant(t.Context(), name)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return tenant
}

// notingResolver is a resolver that finds nothing and notes what it is asked:
// questions, as they go to a name server.
func notingResolver(questions *atomic.Int32) *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		questions.Add(1)
		return nil, errors.New("there is no name server here")
	}}
}

// Not parallel: the program's resolver is replaced meanwhile.
func TestANameThatBreaksTheGrammarIsNeitherLookedUpNorAskedFor(t *testing.T) {
	var questions atomic.Int32
	usual := net.DefaultResolver
	net.DefaultResolver = notingResolver(&questions)
	defer func() { net.DefaultResolver = usual }()
	var connections atomic.Int32
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ConnState = func(net.Conn, http.ConnState) { connections.Add(1) }
	server.Start()
	defer server.Close()
	inHost, inPath := anyTenant(t, "http://{tenant}.api.example/graphql", nil), anyTenant(t, server.URL+"/{tenant}/graphql", nil)
	runTenants(t, inHost)
	runTenants(t, inPath)
	for _, name := range []string{
		"", "*", ".", "..", "../admin", "a.b", "a/b", "a%2fb", "a?b", "a#b", "a@b", "a:80", "[::1]", "127.0.0.1", "A", "Acme", "ä", "а",
		"-a", "a-", "-", "a_b", "a b", " a", "a\n", "a\x00", "{tenant}", strings.Repeat("a", 64), strings.Repeat("a", 1<<20),
	} {
		for _, tenants := range []*executor.Tenants{inHost, inPath} {
			if _, err := tenants.Tenant(t.Context(), name); !errors.Is(err, executor.ErrTenantUnknown) {
				t.Errorf("%.20q: got %v, want ErrTenantUnknown", name, err)
			}
		}
	}
	if questions.Load() != 0 || connections.Load() != 0 {
		t.Errorf("%d look-ups, %d connections", questions.Load(), connections.Load())
	}
	if _, err := inHost.Tenant(t.Context(), "acme"); !errors.Is(err, executor.ErrUnavailable) || questions.Load() == 0 {
		t.Errorf("a name that fits is looked up: %v after %d look-ups", err, questions.Load())
	}
}

func TestTheNameStandsInTheURLItIsSentTo(t *testing.T) {
	t.Parallel()
	paths := make(chan string, 2)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		paths <- r.URL.Path
		_, _ = io.WriteString(w, `{"data":{"thing":null}}`)
	}))
	defer server.Close()
	tenants := anyTenant(t, server.URL+"/of/{tenant}/graphql", sdl(shop))
	runTenants(t, tenants)
	for _, name := range []string{"acme", "globex-2"} {
		if got := runAs(auth.NewContext(t.Context(), ada), find(t, tenants, name), `{ thing { id } }`); got != `{"data":{"thing":null}}` {
			t.Errorf("got %s", got)
		}
		if got := <-paths; got != "/of/"+name+"/graphql" {
			t.Errorf("%s went to %s", name, got)
		}
	}
}

func TestTheLeastUsedOfTooManyTenantsIsUnloadedWhole(t *testing.T) {
	t.Parallel()
	closed := make(chan struct{}, 10)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"data":{"thing":null}}`)
	}))
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateClosed {
			closed <- struct{}{}
		}
	}
	server.Start()
	defer server.Close()
	tenants := anyTenant(t, server.URL+"/{tenant}", sdl(shop))
	runTenants(t, tenants)
	name := func(i int) string { return fmt.Sprintf("t%d", i) }
	kept, least := find(t, tenants, name(0)), find(t, tenants, name(1))
	if got := runAs(auth.NewContext(t.Context(), ada), least, `{ thing { id } }`); got != `{"data":{"thing":null}}` {
		t.Fatalf("got %s", got)
	}
	for i := 2; i < 1000; i++ {
		find(t, tenants, name(i))
	}
	if find(t, tenants, name(0)) != kept {
		t.Error("a tenant was unloaded though there was room")
	}
	find(t, tenants, name(1000))
	select {
	case <-closed:
	case <-time.After(5 * time.Second):
		t.Error("the connection of a tenant that was unloaded is still open")
	}
	if find(t, tenants, name(0)) != kept {
		t.Error("not the least used tenant was unloaded")
	}
	find(t, tenants, name(1001)) // the cache itself keeps the last that it gave up
	unloaded := weak.Make(least)
	least = nil //nolint:ineffassign,wastedassign // the last that holds it
	await(t, func() bool {
		runtime.GC()
		return unloaded.Value() == nil
	})
	find(t, tenants, name(1)) // it is loaded again when it is asked for again
}

// counting is the sample upstream at any path. It counts requests, and holds
// the first until release is closed.
func counting(t *testing.T, release <-chan struct{}) (url string, requests *atomic.Int32) {
	t.Helper()
	requests = &atomic.Int32{}
	real := upstream.New()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		<-release
		r.URL.Path = "/graphql"
		real.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL + "/{tenant}", requests
}

// introspectionRequests is how many one introspection takes.
const introspectionRequests = 6

func TestManyFirstUsesLoadATenantOnce(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	url, requests := counting(t, release)
	tenants := anyTenant(t, url, nil)
	runTenants(t, tenants)
	var users sync.WaitGroup
	found := make([]*executor.Tenant, 50)
	for i := range found {
		users.Go(func() { found[i], _ = tenants.Tenant(t.Context(), "acme") })
	}
	impatient, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := tenants.Tenant(impatient, "acme"); !errors.Is(err, executor.ErrUnavailable) {
		t.Errorf("who does not wait: got %v", err)
	}
	close(release)
	users.Wait()
	for _, tenant := range found {
		if tenant == nil || tenant != found[0] {
			t.Fatal("not all found the same tenant")
		}
	}
	if n := requests.Load(); n != introspectionRequests {
		t.Errorf("the upstream was asked %d times", n)
	}
}

func TestTenantsWithOneSchemaShareItThoughTheyWereAskedApart(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	close(release)
	url, requests := counting(t, release)
	tenants := anyTenant(t, url, nil)
	runTenants(t, tenants)
	if !executor.SharesEngine(find(t, tenants, "acme"), find(t, tenants, "globex")) {
		t.Error("two tenants with one schema do not share it")
	}
	if n := requests.Load(); n != 2*introspectionRequests {
		t.Errorf("the upstreams were asked %d times", n)
	}
}

func TestAFailedLoadIsRememberedForHalfAMinute(t *testing.T) {
	t.Parallel()
	var connections atomic.Int32
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	go func() { // outside of the bubble
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			connections.Add(1)
			conn.Close()
		}
	}()
	synctest.Test(t, func(t *testing.T) {
		tenants := anyTenant(t, "http://"+ln.Addr().String()+"/{tenant}", nil)
		runTenants(t, tenants)
		expect := func(name string, want int32) {
			t.Helper()
			_, err := tenants.Tenant(t.Context(), name)
			if got := connections.Load(); got != want || !errors.Is(err, executor.ErrUnavailable) {
				t.Errorf("%s: %v after %d connections, want %d", name, err, got, want)
			}
		}
		expect("acme", 1)
		expect("acme", 1)
		expect("globex", 2) // each tenant's failure is its own
		time.Sleep(29 * time.Second)
		expect("acme", 2)
		time.Sleep(2 * time.Second)
		expect("acme", 3)
	})
}

// A tenant asked for while the directory ends must not be loaded behind its back.
func TestNoTenantIsLoadedOnceTheDirectoryHasEnded(t *testing.T) {
	t.Parallel()
	tenants := anyTenant(t, "http://127.0.0.1:1/{tenant}", sdl(shop))
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := tenants.Run(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := tenants.Tenant(t.Context(), "acme"); !errors.Is(err, executor.ErrUnavailable) {
		t.Errorf("got %v, want ErrUnavailable", err)
	}
}
