package server

import (
	"bufio"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"asyncgate/graph"
)

func TestEventsOfEachKind(t *testing.T) {
	t.Parallel()
	f := start(t)
	lines := strings.FieldsFunc(awkward, isLineBreak)
	complete := "event: complete\ndata:\n\n"
	refusal := "event: next\ndata: " + string(refused.Envelope) + "\n\n" + complete
	cases := map[string]string{
		"subscription three": "event: next\ndata: {\"data\":1}\n\nevent: next\ndata: {\"data\":2}\n\nevent: next\ndata: {\"data\":3}\n\n" + complete,
		"subscription fails": refusal,
		"x refused":          refusal,
		"query who":          "event: next\ndata: {\"data\":\"ada\"}\n\n" + complete,
		"mutation awkward":   "event: next\ndata: " + strings.Join(lines, "\ndata: ") + "\n\n" + complete,
	}
	for query, want := range cases {
		r := f.post(t, `{"query":"`+query+`"}`, "Accept: "+mediaEvents)
		if got := strings.TrimPrefix(r.body, ":\n\n"); r.status != http.StatusOK || got != want {
			t.Errorf("%s: %d %q", query, r.status, got)
		}
		if !strings.HasPrefix(r.header.Get("Content-Type"), mediaEvents) || r.header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %s", query, r.header)
		}
	}
}

func TestASubscriptionStreamsWhereAStreamIsAccepted(t *testing.T) {
	t.Parallel()
	f := start(t)
	const accept = "Accept: application/json, text/event-stream"
	if r := f.post(t, `{"query":"subscription three"}`, accept); !strings.HasPrefix(r.header.Get("Content-Type"), mediaEvents) {
		t.Errorf("a subscription came as %s", r.header.Get("Content-Type"))
	}
	if r := f.post(t, `{"query":"query who"}`, accept); !strings.HasPrefix(r.header.Get("Content-Type"), mediaJSON) {
		t.Errorf("a query came as %s", r.header.Get("Content-Type"))
	}
}

func TestAPanicInAStreamIsItsLastEvent(t *testing.T) {
	t.Parallel()
	f := start(t)
	r := f.post(t, `{"query":"subscription panics"}`, "Accept: "+mediaEvents)
	if strings.Contains(r.body, "secret") || !strings.Contains(r.body, graph.CodeInternal) || !strings.HasSuffix(r.body, "event: complete\ndata:\n\n") {
		t.Errorf("streamed %q", r.body)
	}
}

// openStream starts a subscription and returns its body.
func (f *fixture) openStream(t *testing.T, query, token string) io.ReadCloser {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, f.url, strings.NewReader(`{"query":"`+query+`"}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", mediaEvents)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { answer.Body.Close() })
	return answer.Body
}

func TestAQuietStreamIsKeptAlive(t *testing.T) {
	t.Parallel()
	f := start(t, func(s *Server) { s.timing.keepAlive = 10 * time.Millisecond })
	body := bufio.NewReader(f.openStream(t, "subscription waits", "ada"))
	for range 6 { // three comments and their empty lines
		if line, err := body.ReadString('\n'); err != nil || strings.Trim(line, ":\n") != "" {
			t.Fatalf("read %q, %v", line, err)
		}
	}
}

func TestAStreamEndsWithItsToken(t *testing.T) {
	t.Parallel()
	f := start(t)
	text, err := io.ReadAll(f.openStream(t, "subscription waits", "brief"))
	if err != nil || strings.Contains(string(text), "event") {
		t.Errorf("streamed %q, %v", text, err)
	}
	awaits(t, f.tenant.ended, 1)
}

func TestAStreamEndsWithItsClient(t *testing.T) {
	t.Parallel()
	f := start(t)
	body := f.openStream(t, "subscription waits", "ada")
	awaits(t, f.tenant.begun, 1)
	body.Close()
	awaits(t, f.tenant.ended, 1)
}

func TestAStreamThatIsNotReadIsCutOff(t *testing.T) {
	t.Parallel()
	f := start(t, func(s *Server) { s.timing.write = 100 * time.Millisecond })
	body := f.openStream(t, "subscription large", "ada")
	awaits(t, f.tenant.ended, 1)
	body.Close()
}
