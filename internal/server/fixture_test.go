package server

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vektah/gqlparser/v2/ast"

	"asyncgate/internal/asyncop"
	"asyncgate/internal/auth"
	"asyncgate/internal/executor"
)

// patience is how long a test waits for what must come.
const patience = 10 * time.Second

// brisk is the timing of tests: short where a test waits for it to pass, long
// where passing would be a failure.
var brisk = timing{
	body: patience, response: patience, ready: patience, write: patience, grace: patience, init: patience,
	ping: patience, pong: 2 * patience, closing: time.Second, keepAlive: patience,
}

// fixture is a running server whose tenant answers by script.
type fixture struct {
	url    string // of /graphql
	tenant *scriptedTenant
	log    *lockedBuffer
	stop   context.CancelFunc
	ended  <-chan error // the end of Run
}

// start runs a server until the test ends.
func start(t *testing.T, adjust ...func(*Server)) *fixture {
	t.Helper()
	log := &lockedBuffer{}
	s := New(Options{
		Operations: newScriptedOperations(),
		Verifier:   scriptedVerifier{},
		Ready:      func(context.Context) error { return nil },
		Limits:     func() Limits { return Limits{Body: 4 << 10} },
		Logger:     slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	scripted := newScriptedTenant()
	s.tenants = scriptedTenants{scripted}
	s.timing = brisk
	for _, change := range adjust {
		change(s)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		defer close(ended)
		ended <- s.Run(ctx, ln)
	}()
	f := &fixture{url: "http://" + ln.Addr().String() + "/graphql", tenant: scripted, log: log, stop: stop, ended: ended}
	t.Cleanup(func() { f.stopped(t) })
	return f
}

// stopped stops the server and waits for the end of Run.
func (f *fixture) stopped(t *testing.T) {
	t.Helper()
	f.stop()
	select {
	case err := <-f.ended:
		if err != nil {
			t.Errorf("Run: %v", err)
		}
	case <-time.After(3 * patience):
		t.Error("Run did not return")
	}
	http.DefaultClient.CloseIdleConnections()
}

// scriptedVerifier knows a few tokens.
type scriptedVerifier struct{}

func (scriptedVerifier) Verify(_ context.Context, token string) (auth.SecurityContext, error) {
	sc := auth.SecurityContext{Issuer: "https://id.test", Subject: token, Tenant: "acme"}
	switch token {
	case "ada":
		sc.ExpiresAt = time.Now().Add(time.Hour)
	case "brief":
		sc.ExpiresAt = time.Now().Add(time.Second)
	case "homeless":
		return sc, fmt.Errorf("%w: the token names none", auth.ErrTenantUnknown)
	case "patient":
		sc.Tenant = "away"
	case "unlucky":
		sc.Tenant = "broken"
	case "clumsy":
		panic("verifier: secret-cause")
	default:
		return sc, fmt.Errorf("%w: the token is not valid", auth.ErrUnauthenticated)
	}
	return sc, nil
}

type scriptedTenants struct{ acme *scriptedTenant }

func (s scriptedTenants) tenant(_ context.Context, name string) (tenant, error) {
	switch name {
	case "acme", "": // "" for who is anonymous
		return s.acme, nil
	case "away":
		return nil, fmt.Errorf("tenant away: %w", executor.ErrUnavailable)
	default:
		return nil, fmt.Errorf("secret-cause at db.internal")
	}
}

// scriptedTenant answers by the text of the query.
type scriptedTenant struct {
	begun chan string // the queries that wait, each time they begin to
	ended chan string // the queries of all runs, as they are closed

	mu   sync.Mutex
	tick chan struct{} // guarded by mu; closed and replaced at each tick
}

func newScriptedTenant() *scriptedTenant {
	return &scriptedTenant{begun: make(chan string, 4096), ended: make(chan string, 4096), tick: make(chan struct{})}
}

// awkward is an envelope that no encoder would write like this.
const awkward = "{\"errors\" : [],\r\n \"data\":{\"n\":9007199254740993,\"d\":1.10,\r\"s\":\"<&>\\u0000\\u2028\u2028\"}}\n"

// noField is the list of errors of a refused request.
const noField = `[{"message":"no such <field>","extensions":{"code":"GRAPHQL_VALIDATION_FAILED"}}]`

var (
	refused   = executor.Reply{Envelope: json.RawMessage(`{"errors":` + noField + `}`), Errors: json.RawMessage(noField)}
	largeText = `{"data":"` + strings.Repeat("x", 1<<20) + `"}`
)

func (s *scriptedTenant) Begin(ctx context.Context, p executor.Params) run {
	kind, script, _ := strings.Cut(p.Query, " ")
	r := &scriptedRun{kind: ast.Operation(kind), query: p.Query, ended: s.ended, ctx: ctx}
	switch script {
	case "awkward":
		r.replies = []executor.Reply{{Envelope: json.RawMessage(awkward)}}
	case "params":
		r.replies = []executor.Reply{envelope(`{"data":{"operationName":%q,"variables":%s,"extensions":%s}}`,
			p.OperationName, orNull(p.Variables), orNull(p.Extensions))}
	case "who":
		sc, err := auth.FromContext(ctx)
		if err != nil && auth.IsAnonymous(ctx) {
			sc.Subject = "nobody"
		}
		r.replies = []executor.Reply{envelope(`{"data":%q}`, sc.Subject)}
	case "three":
		r.replies = []executor.Reply{envelope(`{"data":1}`), envelope(`{"data":2}`), envelope(`{"data":3}`)}
	case "refused":
		r.kind, r.replies = "", []executor.Reply{refused}
	case "fails":
		r.replies = []executor.Reply{refused}
	case "panics":
		r.more = func() (executor.Reply, bool) { panic("resolver: secret-cause") }
	case "panics at once":
		panic("begin: secret-cause")
	case "waits":
		r.more = s.wait(ctx, p.Query)
	case "ticks":
		r.more = s.ticks(ctx, p.Query)
	case "large":
		r.more = func() (executor.Reply, bool) { return envelope("%s", largeText), ctx.Err() == nil }
	case "floods":
		r.more = func() (executor.Reply, bool) { return envelope(`{"data":%s}`, p.Variables), ctx.Err() == nil }
	}
	return r
}

func envelope(format string, args ...any) executor.Reply {
	return executor.Reply{Envelope: fmt.Appendf(nil, format, args...)}
}

// wait never answers.
func (s *scriptedTenant) wait(ctx context.Context, query string) func() (executor.Reply, bool) {
	return func() (executor.Reply, bool) {
		s.begun <- query
		<-ctx.Done()
		return executor.Reply{}, false
	}
}

// ticks answers at each tick after it has said that it listens.
func (s *scriptedTenant) ticks(ctx context.Context, query string) func() (executor.Reply, bool) {
	return func() (executor.Reply, bool) {
		next := s.nextTick()
		s.begun <- query
		select {
		case <-next:
			return envelope(`{"data":"tick"}`), true
		case <-ctx.Done():
			return executor.Reply{}, false
		}
	}
}

func (s *scriptedTenant) nextTick() chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tick
}

func (s *scriptedTenant) ticked() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.tick)
	s.tick = make(chan struct{})
}

// scriptedRun answers its replies, then more, where there is more.
type scriptedRun struct {
	kind    ast.Operation
	query   string
	ended   chan<- string
	ctx     context.Context
	replies []executor.Reply
	more    func() (executor.Reply, bool)
}

func (r *scriptedRun) Kind() ast.Operation { return r.kind }
func (r *scriptedRun) Close()              { r.ended <- r.query }
func (r *scriptedRun) Submittable() bool   { return strings.HasPrefix(r.query, "mutation allowed") }

func (r *scriptedRun) Ended(op asyncop.Operation) (executor.Reply, bool) {
	if op.Result == nil && op.Failure != nil {
		return envelope(`{"errors":[{"extensions":{"code":%q}}]}`, op.Failure.Code), true
	}
	return executor.Reply{Envelope: op.Result}, op.Result != nil
}

func (r *scriptedRun) Next() (executor.Reply, bool) {
	switch {
	case r.ctx.Err() != nil:
		return executor.Reply{}, false
	case len(r.replies) > 0:
		reply := r.replies[0]
		r.replies = r.replies[1:]
		return reply, true
	case r.more != nil:
		return r.more()
	default:
		return executor.Reply{}, false
	}
}

// awaits receives n values, each within patience.
func awaits[T any](t *testing.T, c <-chan T, n int) {
	t.Helper()
	deadline := time.After(patience)
	for range n {
		select {
		case <-c:
		case <-deadline:
			t.Fatal("did not come in time")
		}
	}
}

// lockedBuffer is a log that tests read while it is written.
type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer // guarded by mu
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}
