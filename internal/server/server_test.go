package server

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func TestStoppingEndsSocketsAndStreams(t *testing.T) {
	t.Parallel()
	f := start(t)
	idle, busy, silent := f.greeted(t), f.greeted(t), f.dial(t, nil)
	busy.say(subscribe("1", "subscription waits"), subscribe("2", "subscription waits"))
	stream := f.openStream(t, "subscription waits", "ada")
	awaits(t, f.tenant.begun, 3)
	f.stop()
	for _, socket := range []client{idle, busy, silent} {
		socket.closed(1012, "Service restart")
	}
	if text, err := io.ReadAll(stream); err != nil || strings.Contains(string(text), "complete") {
		t.Errorf("the stream ended with %q, %v", text, err)
	}
	f.stopped(t)
	awaits(t, f.tenant.ended, 3)
}

func TestStoppingIsNotHeldUpByAClientThatDoesNotClose(t *testing.T) {
	t.Parallel()
	f := start(t, func(s *Server) { s.timing.closing = 50 * time.Millisecond })
	f.greeted(t) // and never reads again
	f.stopped(t)
}

func TestARequestInFlightIsLetFinish(t *testing.T) {
	t.Parallel()
	f := start(t)
	answer := make(chan reply, 1)
	go func() { answer <- f.post(t, `{"query":"query ticks"}`) }()
	awaits(t, f.tenant.begun, 1)
	f.stop()
	f.refusesConnections(t)
	f.tenant.ticked()
	if r := <-answer; r.status != http.StatusOK || r.body != `{"data":"tick"}` {
		t.Errorf("answered %d %s", r.status, r.body)
	}
}

func TestAStreamedQueryInFlightIsLetFinish(t *testing.T) {
	t.Parallel()
	f := start(t)
	stream := f.openStream(t, "query ticks", "ada")
	awaits(t, f.tenant.begun, 1)
	f.stop()
	f.refusesConnections(t)
	f.tenant.ticked()
	awaits(t, f.tenant.begun, 1)
	f.tenant.ticked()
	text := make([]byte, 1<<10)
	for heard := ""; !strings.Contains(heard, "tick"); {
		n, err := stream.Read(text)
		if err != nil {
			t.Fatalf("heard %q, %v", heard, err)
		}
		heard += string(text[:n])
	}
	stream.Close()
}

func TestARequestOutlivingTheGraceIsCutOff(t *testing.T) {
	t.Parallel()
	f := start(t, func(s *Server) { s.timing.grace = 50 * time.Millisecond })
	failed := make(chan error, 1)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, f.url, strings.NewReader(`{"query":"mutation waits"}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer ada")
	r.Header.Set("Content-Type", "application/json")
	go func() {
		answer, err := http.DefaultTransport.RoundTrip(r)
		if err == nil {
			answer.Body.Close()
		}
		failed <- err
	}()
	awaits(t, f.tenant.begun, 1)
	f.stopped(t)
	awaits(t, f.tenant.ended, 1)
	if err := <-failed; err == nil {
		t.Error("a request that was cut off got an answer")
	}
}

// refusesConnections waits until no one listens any more.
func (f *fixture) refusesConnections(t *testing.T) {
	t.Helper()
	address := strings.TrimSuffix(strings.TrimPrefix(f.url, "http://"), "/graphql")
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			return
		}
		conn.Close()
	}
	t.Fatal("the server still listens")
}

func TestNoRequestIsTakenWhileStopping(t *testing.T) {
	t.Parallel()
	s := New(Options{Logger: slog.New(slog.DiscardHandler)})
	s.life.stop()
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/healthz", nil))
	reply{w.Code, w.Header(), w.Body.String()}.mustRefuse(t, http.StatusServiceUnavailable, codeUnavailable)
	if w.Header().Get("Retry-After") != retryAfterSeconds {
		t.Errorf("Retry-After is %q", w.Header().Get("Retry-After"))
	}
}

func TestRunTellsThatItsListenerFailed(t *testing.T) {
	t.Parallel()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ln.Close()
	s := New(Options{Logger: slog.New(slog.DiscardHandler)})
	if err := s.Run(context.Background(), ln); err == nil || !strings.HasPrefix(err.Error(), "serve 127.0.0.1:") {
		t.Errorf("Run: %v", err)
	}
}
