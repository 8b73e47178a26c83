package server_test

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"asyncgate/graph"
	"asyncgate/internal/auth"
	"asyncgate/internal/executor"
	"asyncgate/internal/server"
)

// forwarder is a gateway before an upstream, and how to call either.
type forwarder struct {
	upstream, gateway string // URLs
	token             string
	client            *http.Client
	answer            []byte // room for one, so that clients allocate none
}

// question is what both are asked.
const question = `{"query":"query Q($id: ID!) { thing(id: $id) { id name } }","variables":{"id":"7"}}`

// answerOf is a GraphQL answer of about that many bytes: rows as databases give them.
func answerOf(size int) string {
	const row = `{"id":"9007199254740993","name":"Gr\u00fc\u00dfe aus K\u00f6ln, Übergröße","price":1.10,"tags":["a","b"],"ok":true,"none":null},`
	rows := strings.Repeat(row, max(1, size/len(row)))
	return `{"data":{"thing":[` + strings.TrimSuffix(rows, ",") + `]}}`
}

// forward starts both. The upstream answers text, chunked or with its length.
func forward(tb testing.TB, text string, chunked bool) *forwarder {
	tb.Helper()
	body := []byte(text)
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		if !chunked {
			w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		}
		_, _ = w.Write(body)
	}))
	tb.Cleanup(upstream.Close)
	f := &forwarder{upstream: upstream.URL, client: &http.Client{Transport: &http.Transport{}}, answer: make([]byte, len(body)+1)}
	tb.Cleanup(f.client.CloseIdleConnections)
	f.serve(tb)
	return f
}

// serve starts the gateway, with real tokens.
func (f *forwarder) serve(tb testing.TB) {
	tb.Helper()
	issuer := auth.Issuer{Issuer: "bench", HS256Secret: []byte("a secret of at least thirty-two bytes"), Tenants: []string{"*"}}
	verifier, err := auth.NewVerifier(auth.Policy{Issuers: []auth.Issuer{issuer}})
	if err != nil {
		tb.Fatal(err)
	}
	identity, err := auth.CompileHeaders(map[string]string{"X-User-Id": "{subject}"}, nil)
	if err != nil {
		tb.Fatal(err)
	}
	if f.token, err = auth.Mint(issuer, auth.SecurityContext{Subject: "ada"}, time.Hour, time.Now()); err != nil {
		tb.Fatal(err)
	}
	quiet := slog.New(slog.DiscardHandler)
	tenants, err := executor.NewTenants(executor.NewEngines(graph.Surface(&executor.Operations{}, quiet)), []executor.TenantOptions{{
		Schema: executor.SDL("s.graphqls", []byte(`type Query { thing(id: ID!): [Thing] } type Thing { id: ID name: String }`)),
		Remote: executor.RemoteOptions{URL: f.upstream, Timeout: time.Minute, IdleTimeout: 2 * time.Second, Identity: identity, MaxAnswer: 8 << 20},
	}}, quiet)
	if err != nil {
		tb.Fatal(err)
	}
	s := server.New(server.Options{
		Tenants: tenants, Verifier: verifier, Logger: quiet,
		Limits: func() server.Limits { return server.Limits{Body: 1 << 20} },
	})
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(tb.Context()))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = s.Run(ctx, ln)
		_ = tenants.Run(ctx)
	}()
	tb.Cleanup(func() {
		f.client.CloseIdleConnections()
		stop()
		<-ended
	})
	f.gateway = "http://" + ln.Addr().String() + "/graphql"
}

// call asks once, and answers how long that took.
func (f *forwarder) call(tb testing.TB, url string) time.Duration {
	tb.Helper()
	began := time.Now()
	request, err := http.NewRequestWithContext(tb.Context(), http.MethodPost, url, strings.NewReader(question))
	if err != nil {
		tb.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+f.token)
	response, err := f.client.Do(request)
	if err != nil {
		tb.Fatal(err)
	}
	n, err := io.ReadFull(response.Body, f.answer)
	response.Body.Close()
	if err != io.ErrUnexpectedEOF || n != len(f.answer)-1 { //nolint:errorlint // ReadFull's own
		tb.Fatalf("%s answered %d bytes (%v): %.200s", url, n, err, bytes.TrimRight(f.answer, "\x00"))
	}
	return time.Since(began)
}

// BenchmarkForward asks the upstream and the gateway before it in turns, so
// that both meet the same machine.
func BenchmarkForward(b *testing.B) {
	for _, c := range []struct {
		name    string
		size    int
		chunked bool
	}{{"Small", 100, false}, {"1MB", 1 << 20, false}, {"1MBChunked", 1 << 20, true}} {
		b.Run(c.name, func(b *testing.B) {
			text := answerOf(c.size)
			f := forward(b, text, c.chunked)
			var direct, through []time.Duration
			for range 20 { // connections, caches, buffers
				f.call(b, f.upstream)
				f.call(b, f.gateway)
			}
			for b.Loop() {
				direct, through = append(direct, f.call(b, f.upstream)), append(through, f.call(b, f.gateway))
			}
			d, t := median(direct), median(through)
			b.ReportMetric(float64(d.Microseconds()), "direct-p50-µs")
			b.ReportMetric(float64(t.Microseconds()), "gateway-p50-µs")
			b.ReportMetric(float64((t - d).Microseconds()), "overhead-p50-µs")
			b.ReportMetric(float64(t)/float64(d), "gateway/direct")
			if c.size >= 1<<20 {
				b.ReportMetric(float64(len(text))/d.Seconds()/1e6, "direct-MB/s")
				b.ReportMetric(float64(len(text))/t.Seconds()/1e6, "gateway-MB/s")
				b.ReportMetric(copies(b, f), "copies")
			}
			b.ReportMetric(0, "ns/op") // of both together: says nothing
		})
	}
}

func median[T cmp.Ordered](all []T) T {
	slices.Sort(all)
	return all[len(all)/2]
}

// copies is how often the gateway allocates the size of an answer to pass one
// on: what a call through it allocates in all, beyond a direct one. Both are the
// least of many: a pool may be emptied at any time, and the race detector has it
// lose every fourth thing that is put there.
func copies(tb testing.TB, f *forwarder) float64 {
	tb.Helper()
	const calls = 31
	allocated := func(url string) float64 {
		f.call(tb, url)
		all := make([]uint64, calls)
		for i := range all {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			f.call(tb, url)
			runtime.ReadMemStats(&after)
			all[i] = after.TotalAlloc - before.TotalAlloc
		}
		return float64(slices.Min(all))
	}
	return (allocated(f.gateway) - allocated(f.upstream)) / float64(len(f.answer))
}

// Not parallel: it counts what the process allocates.
func TestAForwardCopiesAnAnswerAtMostTwice(t *testing.T) {
	for name, chunked := range map[string]bool{"WithItsLength": false, "Chunked": true} {
		if got := copies(t, forward(t, answerOf(1<<20), chunked)); got > 2 {
			t.Errorf("%s: %.1f copies", name, got)
		}
	}
}
