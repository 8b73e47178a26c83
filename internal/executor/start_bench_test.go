package executor_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql/handler"
	"github.com/99designs/gqlgen/graphql/handler/extension"
	"github.com/99designs/gqlgen/graphql/handler/transport"

	"asyncgate/internal/executor"
	"asyncgate/internal/executor/schema"
	"asyncgate/internal/executor/schema/schematest"
)

// describing is an upstream that answers introspection of an SDL. It makes
// each answer once: what it takes to is not the gateway's.
func describing(tb testing.TB, sdl string) (url string) {
	tb.Helper()
	upstream, err := schema.FromSDL("large.graphqls", sdl)
	if err != nil {
		tb.Fatal(err)
	}
	server := handler.New(surface().Gateway(upstream)) // it serves the introspection of what it is given
	server.AddTransport(transport.POST{})
	server.Use(extension.Introspection{})
	var mu sync.Mutex
	answers := map[string][]byte{}
	listening := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		mu.Lock()
		answer, ok := answers[string(body)]
		if !ok {
			recorded := httptest.NewRecorder()
			r.Body = io.NopCloser(bytes.NewReader(body))
			server.ServeHTTP(recorded, r)
			answer = recorded.Body.Bytes()
			answers[string(body)] = answer
		}
		mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(answer)
	}))
	tb.Cleanup(listening.Close)
	return listening.URL
}

// started is what starting tenants took.
type started struct {
	took time.Duration
	live uint64 // bytes of heap that they hold
	peak uint64 // bytes of heap at most meanwhile, from start to end
}

// startTenants starts a hundred tenants with one schema of 3,000 types, which
// is text, or asked of url.
func startTenants(tb testing.TB, url string, text *executor.SchemaText) started {
	tb.Helper()
	options := make([]executor.TenantOptions, 100)
	for i := range options {
		options[i] = executor.TenantOptions{Name: fmt.Sprintf("t%d", i), Schema: text, Remote: remote(url)}
	}
	before := heap(true)
	peak := watchHeap()
	began := time.Now()
	tenants, err := executor.NewTenants(executor.NewEngines(surface()), options, quiet)
	if err == nil {
		err = tenants.Load(tb.Context())
	}
	s := started{took: time.Since(began), peak: peak() - before}
	if err != nil {
		tb.Fatal(err)
	}
	for _, o := range options {
		if _, err := tenants.Tenant(tb.Context(), o.Name); err != nil {
			tb.Fatal(err)
		}
	}
	s.live = heap(true) - before
	stop, cancel := context.WithCancel(tb.Context())
	cancel()
	if err := tenants.Run(stop); err != nil {
		tb.Fatal(err)
	}
	return s
}

func heap(collect bool) uint64 {
	if collect {
		runtime.GC()
		runtime.GC() // what has a finalizer or is weakly held takes two
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// watchHeap answers a function that answers the most that the heap held, as
// looked at every few milliseconds.
func watchHeap() (peak func() uint64) {
	stop, most := make(chan struct{}), make(chan uint64)
	go func() {
		highest := heap(false)
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				highest = max(highest, heap(false))
			case <-stop:
				most <- highest
				return
			}
		}
	}()
	return func() uint64 {
		close(stop)
		return <-most
	}
}

// Not parallel: it measures what the process holds.
func TestAHundredTenantsWithOneLargeSchemaHoldItOnce(t *testing.T) {
	sdl := schematest.LargeSDL()
	url := describing(t, sdl)
	for name, text := range map[string]*executor.SchemaText{"SDL": executor.SDL("large.graphqls", []byte(sdl)), "Introspection": nil} {
		if s := startTenants(t, url, text); s.live > 60<<20 {
			t.Errorf("%s: they hold %d MiB", name, s.live>>20)
		}
	}
}

func BenchmarkStartOfAHundredTenants(b *testing.B) {
	sdl := schematest.LargeSDL()
	url := describing(b, sdl)
	for name, text := range map[string]*executor.SchemaText{"SDL": executor.SDL("large.graphqls", []byte(sdl)), "Introspection": nil} {
		b.Run(name, func(b *testing.B) {
			startTenants(b, url, text) // the upstream's answers are made
			var s started
			for b.Loop() {
				s = startTenants(b, url, text)
			}
			b.ReportMetric(s.took.Seconds(), "s")
			b.ReportMetric(float64(s.live)/(1<<20), "live-MiB")
			b.ReportMetric(float64(s.peak)/(1<<20), "peak-MiB")
			b.ReportMetric(0, "ns/op") // it counts collections of garbage too
		})
	}
}
