package e2e

import (
	"io"
	"net/http"
	"os"
	"syscall"
	"testing"
)

// A login is such a request: it has no token yet.
func TestRequestsWithoutATokenReachTheUpstreamAndNoOperation(t *testing.T) {
	t.Parallel()
	told := make(chan http.Header, 10)
	upstream := perform(t, map[string]act{"": func(w http.ResponseWriter, r *http.Request, _ int) {
		told <- r.Header
		_, _ = io.WriteString(w, `{"data":{"nothing":true}}`)
	}})
	g := before(t, stores["SQLite"](t), upstream.url)
	n := g.with(t, oneUpstream, "auth: {jwt:", "identity: {headers: {X-User-Id: \"{subject}\"}}\nauth: {anonymous: true, jwt:").serve(t)
	stranger := n.as("")
	if got := stranger.ask(t, `{ nothing }`, ""); got.status != http.StatusOK || string(got.body) != `{"data":{"nothing":true}}` {
		t.Errorf("got %d %s", got.status, got.body)
	}
	if header := <-told; header.Values("X-User-Id") != nil || header.Values("Authorization") != nil {
		t.Errorf("the upstream heard %v", header)
	}
	if got := stranger.trySubmit(t, tagged("work", "never")); got.status != http.StatusOK || got.code() != "UNAUTHENTICATED" {
		t.Errorf("got %d %s", got.status, got.body)
	}
	if got := n.as("forged").ask(t, `{ nothing }`, ""); got.status != http.StatusUnauthorized {
		t.Errorf("got %d %s", got.status, got.body)
	}
	if got := n.as(token(t, "ada", "")).ask(t, `{ nothing }`, ""); got.status != http.StatusOK {
		t.Errorf("got %d %s", got.status, got.body)
	}
	if header := <-told; header.Get("X-User-Id") != "ada" {
		t.Errorf("the upstream heard %v", header)
	}

	if err := os.WriteFile(g.path, []byte(oneUpstream), 0o600); err != nil {
		t.Fatal(err)
	}
	n.Signal(syscall.SIGHUP)
	eventually(t, "a token is needed after the reload", func() bool {
		return stranger.ask(t, `{ nothing }`, "").status == http.StatusUnauthorized
	})
}
