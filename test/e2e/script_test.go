package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// scriptSchema is of upstreams that do what a test says. work may run once
// only; again may be repeated; hang has little time. The rest is for documents
// that are refused.
const scriptSchema = `
type Query { nothing: Boolean }
type Mutation {
	work(tag: String!): String
	again(tag: String!): String
	hang(tag: String!): String
	typed(int: Int, float: Float, text: String, flag: Boolean, id: ID, color: Color, by: By, shape: Shape, list: [Int!]): String
	required(int: Int!): String
	editorial: String
	urgent: String
	unlisted: String
}
scalar JSON
enum Color { RED GREEN }
input By @oneOf { name: String, id: ID }
input Shape { sides: Int!, color: Color = RED, any: JSON }
`

// oneUpstream is a configuration without tenancy, for an upstream of that
// schema.
const oneUpstream = `
listen: 127.0.0.1:0
store: ${STORE}
auth: {jwt: [{issuer: "https://one.example/", hs256_secret: "${SECRET_ONE}"}]}
authority: {max_age: 1h, tenant_admin_roles: [manager], admin_roles: [operator]}
upstream: {url: "${UPSTREAM}", schema: upstream.graphqls, idle_timeout: 60s}
mutations:
  work: {}
  again: {idempotent: true, max_attempts: 2}
  hang: {timeout: 500ms}
  typed: {}
  required: {}
  editorial: {roles: [editor]}
  urgent: {max_priority: 9}
limits: {result: 4KiB}
worker: {stale_after: 3s, drain_timeout: 15s}
log: {level: debug}
`

// before writes oneUpstream for the upstream at url.
func before(t *testing.T, store, url string) configuration {
	t.Helper()
	g := configure(t, oneUpstream, map[string]string{"STORE": store, "UPSTREAM": url})
	if err := os.WriteFile(filepath.Join(filepath.Dir(g.path), "upstream.graphqls"), []byte(scriptSchema), 0o600); err != nil {
		t.Fatal(err)
	}
	return g
}

// act answers the nth call with a tag, counted from 1.
type act func(w http.ResponseWriter, r *http.Request, n int)

// script is an upstream that does what a test says, by the variable tag.
type script struct {
	url  string
	acts map[string]act

	mu    sync.Mutex
	calls map[string]int      // guarded by mu, by tag
	from  map[string][]string // guarded by mu, by tag: the callers' addresses
}

// perform serves a script on the loopback interface.
func perform(t *testing.T, acts map[string]act) *script {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return performOn(t, listener, acts)
}

func performOn(t *testing.T, listener net.Listener, acts map[string]act) *script {
	t.Helper()
	s := &script{
		url: "http://" + listener.Addr().String() + "/graphql", acts: acts,
		calls: map[string]int{}, from: map[string][]string{},
	}
	server := &http.Server{Handler: s, ReadHeaderTimeout: patience}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = server.Serve(listener) // ends with Close
	}()
	t.Cleanup(func() {
		server.Close()
		<-served
	})
	return s
}

func (s *script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var request struct{ Variables struct{ Tag string } }
	text, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(text, &request)
	}
	play, ok := s.acts[request.Variables.Tag]
	if err != nil || !ok {
		http.Error(w, "this is not in the script", http.StatusTeapot)
		return
	}
	play(w, r, s.called(request.Variables.Tag, r.RemoteAddr))
}

func (s *script) called(tag, from string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls[tag]++
	s.from[tag] = append(s.from[tag], from)
	return s.calls[tag]
}

// count answers how often it was called with a tag.
func (s *script) count(tag string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls[tag]
}

// total answers how often it was called.
func (s *script) total() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, calls := range s.calls {
		n += calls
	}
	return n
}

// callers answers from where it was called with a tag.
func (s *script) callers(tag string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.from[tag]
}

// says answers a body with a status.
func says(status int, text string) act {
	return func(w http.ResponseWriter, _ *http.Request, _ int) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text)
	}
}

// closes closes the connection without an answer.
func closes(w http.ResponseWriter, _ *http.Request, _ int) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err == nil {
		conn.Close()
	}
}

// hangs answers nothing until the caller has gone.
func hangs(_ http.ResponseWriter, r *http.Request, _ int) {
	select {
	case <-r.Context().Done():
	case <-time.After(patience):
	}
}

// after answers when some time has passed.
func after(wait time.Duration, then act) act {
	return func(w http.ResponseWriter, r *http.Request, n int) {
		<-time.After(wait)
		then(w, r, n)
	}
}

// first does one thing the first time and another from then on.
func first(once, then act) act {
	return func(w http.ResponseWriter, r *http.Request, n int) {
		if n == 1 {
			once(w, r, n)
			return
		}
		then(w, r, n)
	}
}

// tagged is an input that calls a field of the script. members are names and
// JSON texts, in turns.
func tagged(field, tag string, members ...string) string {
	document := fmt.Sprintf(`mutation ($tag: String!) { %s(tag: $tag) }`, field)
	return input(document, append([]string{"variables", object("tag", quote(tag))}, members...)...)
}
