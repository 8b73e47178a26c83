package e2e

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
)

func TestAReloadTakesAChangedSchemaAndNoRequestFails(t *testing.T) {
	t.Parallel()
	upstream := newChanging(t)
	g := before(t, stores["SQLite"](t), upstream.url)
	n := g.serve(t)
	ada := n.as(token(t, "ada", ""))
	const query = `{ nothing }`
	stop, failed := make(chan struct{}), make(chan string, 1)
	var asked atomic.Int32
	go func() {
		defer close(failed)
		for {
			select {
			case <-stop:
				return
			default:
			}
			got, err := ada.send(t.Context(), body(query, ""))
			if err != nil || string(got.body) != `{"data":{"nothing":true}}` {
				failed <- string(got.body)
				return
			}
			asked.Add(1)
		}
	}()
	if got := ada.ask(t, `{ brandNew }`, ""); got.code() != "GRAPHQL_VALIDATION_FAILED" {
		t.Errorf("before: %s", got.body)
	}
	file := filepath.Join(filepath.Dir(g.path), "upstream.graphqls")
	write := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		n.Signal(syscall.SIGHUP)
	}
	write(file, strings.Replace(scriptSchema, "nothing: Boolean", "nothing: Boolean brandNew: Boolean", 1))
	eventually(t, "the new field works", func() bool {
		return string(ada.ask(t, `{ brandNew }`, "").body) == `{"data":{"nothing":true}}` // the upstream answers always alike
	})

	write(file, strings.Replace(scriptSchema, "nothing: Boolean", "asyncOperation: Boolean", 1))
	eventually(t, "a schema that conflicts is refused", func() bool { return strings.Contains(n.Log(), "asyncOperation: Boolean") })
	write(g.path, strings.Replace(oneUpstream, "mutations:", "mutation:", 1))
	eventually(t, "a mistake in the file is refused", func() bool { return strings.Contains(n.Log(), "mutation: is no key known here") })
	if got := ada.ask(t, `{ brandNew }`, ""); got.code() != "" {
		t.Errorf("after a reload that was refused: %s", got.body)
	}

	write(file, scriptSchema)
	write(g.path, strings.Replace(oneUpstream, "  work: {}", "  work: {roles: [boss]}", 1))
	eventually(t, "the allowlist is the new one", func() bool {
		return ada.trySubmit(t, tagged("work", "never")).code() == "MUTATION_NOT_ALLOWED"
	})
	close(stop)
	if text, bad := <-failed; bad {
		t.Errorf("a request failed: %s", text)
	}
	if asked.Load() == 0 {
		t.Error("no request was made meanwhile")
	}
}

// newChanging serves an upstream that answers every request alike.
func newChanging(t *testing.T) *script {
	t.Helper()
	return perform(t, map[string]act{"": func(w http.ResponseWriter, _ *http.Request, _ int) {
		_, _ = io.WriteString(w, `{"data":{"nothing":true}}`)
	}})
}
