package server

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"asyncgate/internal/auth"
	"asyncgate/internal/executor"
)

// recordingTenant answers every request and keeps it.
type recordingTenant struct{ params *executor.Params }

func (r recordingTenant) tenant(context.Context, string) (tenant, error) { return r, nil }

func (r recordingTenant) Begin(ctx context.Context, p executor.Params) run {
	*r.params = p
	return &scriptedRun{kind: "query", ended: make(chan string, 1), ctx: ctx, replies: []executor.Reply{envelope(`{"data":1}`)}}
}

// anyone lets everyone in.
type anyone struct{}

func (anyone) Verify(context.Context, string) (auth.SecurityContext, error) {
	return auth.SecurityContext{}, nil
}

// Whatever is sent, the answer is an envelope or an event stream, and objects
// reach the tenant in the client's own bytes.
func FuzzHTTPParams(f *testing.F) {
	f.Add(true, `{"query":"{ a }","variables":{"n":1.10}}`, mediaJSON, mediaJSON)
	f.Add(true, `[{"query":"{ a }"}]`, mediaJSON+"; charset=utf-8", "*/*")
	f.Add(true, `{"query":"{ a }","extensions":null,"query":"\ud800"}`, mediaJSON, mediaEvents)
	f.Add(true, "{\"query\":\"\xff\"}", mediaJSON, mediaGraphQL+";q=0.5, application/json;q=nan")
	f.Add(false, `query={a}&variables={"a":{}}&extensions=%00`, "", "text/html")
	f.Fuzz(func(t *testing.T, post bool, text, contentType, accept string) {
		var got executor.Params
		s := New(Options{Verifier: anyone{}, Limits: func() Limits { return Limits{Body: 1 << 16} }, Logger: slog.New(slog.DiscardHandler)})
		s.tenants = recordingTenant{&got}
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/graphql", strings.NewReader(text))
		r.Header = http.Header{"Authorization": {"Bearer x"}, "Content-Type": {contentType}, "Accept": {accept}}
		if !post {
			r.Method, r.URL.RawQuery = http.MethodGet, text
		}
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, r)

		if w.Header().Get("Content-Type") != mediaEvents+"; charset=utf-8" && !json.Valid(w.Body.Bytes()) {
			t.Errorf("answered %d %q", w.Code, w.Body)
		}
		for _, object := range []json.RawMessage{got.Variables, got.Extensions} {
			if object != nil && (!json.Valid(object) || object[0] != '{' || post && !strings.Contains(text, string(object))) {
				t.Errorf("%q reached the tenant", object)
			}
		}
		if w.Code >= 400 && got.Query != "" {
			t.Errorf("a refused request was begun: %d", w.Code)
		}
	})
}
