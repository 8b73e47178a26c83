package server

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"asyncgate/graph"
)

func (f *fixture) get(t *testing.T, path string, header ...string) reply {
	t.Helper()
	return f.call(t, http.MethodGet, path, "", header...)
}

// mustBe checks the status and the headers, "" for one that must not be there.
func (r reply) mustBe(t *testing.T, status int, header map[string]string) {
	t.Helper()
	if r.status != status {
		t.Errorf("answered %d %s, want %d", r.status, r.body, status)
	}
	for name, want := range header {
		if got := r.header.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

func TestAnOperationIsRead(t *testing.T) {
	t.Parallel()
	f := start(t)
	r := f.get(t, "/operations/"+succeededID)
	r.mustBe(t, http.StatusOK, map[string]string{
		"Content-Type": "application/json; charset=utf-8", "Cache-Control": "no-store", "Retry-After": "",
		"ETag": `W/"SUCCEEDED.3"`, "Preference-Applied": "",
	})
	if !strings.HasPrefix(r.body, `{"id":"`+succeededID+`","state":"SUCCEEDED","done":true,"mutations":["run"],"operationName":null,`) ||
		!strings.Contains(r.body, `"result":`+awkward+`,"error":null`) || !strings.Contains(r.body, `"finishedAt":"2030-01-31T12:00:00.000000Z"}`) {
		t.Errorf("got %s", r.body)
	}
	for _, id := range []string{queuedID, runningID} {
		r := f.get(t, "/operations/"+id)
		r.mustBe(t, http.StatusOK, map[string]string{"Retry-After": "2"})
		if !strings.Contains(r.body, `"pollAfterMs":15`) {
			t.Errorf("got %s", r.body)
		}
	}
}

func TestAHeadIsAGetWithoutItsBody(t *testing.T) {
	t.Parallel()
	f := start(t)
	for _, path := range []string{"/operations/" + succeededID, "/operations/" + succeededID + "/result", "/operations/" + nobodysID} {
		got, head := f.get(t, path), f.call(t, http.MethodHead, path, "")
		if head.status != got.status || head.body != "" || head.header.Get("ETag") != got.header.Get("ETag") ||
			head.header.Get("Content-Length") != got.header.Get("Content-Length") {
			t.Errorf("%s: %d %v %s", path, head.status, head.header, head.body)
		}
	}
}

func TestAReadWaitsAsLongAsPreferred(t *testing.T) {
	t.Parallel()
	f := start(t)
	f.get(t, "/operations/"+soonID, "Prefer: wait=2").mustBe(t, http.StatusOK, map[string]string{
		"Preference-Applied": "wait=2", "ETag": `W/"SUCCEEDED.3"`, "Retry-After": "",
	})
	f.get(t, "/operations/"+soonID+"/result", "Prefer: respond-async, wait=999").mustBe(t, http.StatusOK, map[string]string{
		"Preference-Applied": "wait=60",
	})
	for _, prefer := range []string{"wait=0", "wait=-1", "respond-async", "wait=soon"} {
		applied := map[string]string{"wait=0": "wait=0"}[prefer]
		f.get(t, "/operations/"+soonID, "Prefer: "+prefer).mustBe(t, http.StatusOK, map[string]string{
			"Preference-Applied": applied, "ETag": `W/"RUNNING.2"`, "Retry-After": "2",
		})
	}
	f.get(t, "/operations/"+nobodysID, "Prefer: wait=2").mustBe(t, http.StatusNotFound, map[string]string{"Preference-Applied": ""})
}

func TestWhatAClientHasIsNotSentAgain(t *testing.T) {
	t.Parallel()
	f := start(t)
	for _, given := range []string{`W/"RUNNING.2"`, `"RUNNING.2"`, `"x", W/"RUNNING.2"`, `*`} {
		r := f.get(t, "/operations/"+runningID, "If-None-Match: "+given)
		r.mustBe(t, http.StatusNotModified, map[string]string{"ETag": `W/"RUNNING.2"`, "Retry-After": "2", "Cache-Control": "no-store"})
		if r.body != "" {
			t.Errorf("got %s", r.body)
		}
	}
	f.get(t, "/operations/"+runningID, `If-None-Match: W/"QUEUED.1"`).mustBe(t, http.StatusOK, nil)
	f.get(t, "/operations/"+succeededID+"/result", `If-None-Match: W/"SUCCEEDED.3"`).mustBe(t, http.StatusNotModified, nil)
	f.get(t, "/operations/"+runningID+"/result", `If-None-Match: W/"RUNNING.2"`).mustBe(t, http.StatusAccepted, map[string]string{"ETag": ""})
}

func TestAResultIsTheStoredEnvelope(t *testing.T) {
	t.Parallel()
	f := start(t)
	r := f.get(t, "/operations/"+succeededID+"/result")
	r.mustBe(t, http.StatusOK, map[string]string{
		"Content-Type": "application/graphql-response+json; charset=utf-8", "Cache-Control": "no-store", "ETag": `W/"SUCCEEDED.3"`,
	})
	if r.body != awkward {
		t.Errorf("got %q", r.body)
	}
	unfinished := f.get(t, "/operations/"+runningID+"/result")
	unfinished.mustBe(t, http.StatusAccepted, map[string]string{"Retry-After": "2", "Content-Type": "application/json; charset=utf-8"})
	if !strings.HasPrefix(unfinished.body, `{"id":"`+runningID+`","state":"RUNNING",`) {
		t.Errorf("got %s", unfinished.body)
	}
	f.get(t, "/operations/"+purgedID+"/result").mustRefuse(t, http.StatusGone, codeNotFound)
	f.get(t, "/operations/"+failedID+"/result").mustRefuse(t, http.StatusNotFound, codeNotFound)
}

func TestACancellationTellsItsOutcome(t *testing.T) {
	t.Parallel()
	f := start(t)
	now := f.call(t, http.MethodDelete, "/operations/"+queuedID, "")
	now.mustBe(t, http.StatusOK, map[string]string{"Retry-After": "", "Cache-Control": "no-store"})
	if !strings.HasPrefix(now.body, `{"outcome":"CANCELLED","operation":{"id":"`+queuedID+`","state":"CANCELLED",`) {
		t.Errorf("got %s", now.body)
	}
	requested := f.call(t, http.MethodDelete, "/operations/"+runningID, "")
	requested.mustBe(t, http.StatusAccepted, map[string]string{"Retry-After": "2"})
	if !strings.HasPrefix(requested.body, `{"outcome":"CANCEL_REQUESTED","operation":{"id":"`+runningID+`","state":"RUNNING",`) {
		t.Errorf("got %s", requested.body)
	}
	done := f.call(t, http.MethodDelete, "/operations/"+succeededID, "")
	done.mustRefuse(t, http.StatusConflict, "ALREADY_DONE")
	if !strings.Contains(done.body, `"operation":{"id":"`+succeededID+`","state":"SUCCEEDED",`) {
		t.Errorf("got %s", done.body)
	}
}

func TestAnAbsentOperationAndAStrangersReadTheSame(t *testing.T) {
	t.Parallel()
	f := start(t)
	for _, suffix := range []string{"", "/result"} {
		for _, method := range []string{http.MethodGet, http.MethodDelete} {
			if suffix != "" && method == http.MethodDelete {
				continue
			}
			want := f.call(t, method, "/operations/"+nobodysID+suffix, "")
			want.mustRefuse(t, http.StatusNotFound, codeNotFound)
			for name, got := range map[string]reply{
				"AStrangers":  f.call(t, method, "/operations/"+succeededID+suffix, "", "Authorization: Bearer brief"),
				"Malformed":   f.call(t, method, "/operations/1"+suffix, ""),
				"InBraces":    f.call(t, method, "/operations/%7B"+nobodysID+"%7D"+suffix, ""),
				"WithAnSlash": f.call(t, method, "/operations/1%2F2"+suffix, ""),
			} {
				if got.status != want.status || got.body != want.body {
					t.Errorf("%s %s: %d %s\nwant %s", method, name, got.status, got.body, want.body)
				}
			}
		}
	}
}

func TestResourcesRefuseWhomGraphQLRefuses(t *testing.T) {
	t.Parallel()
	f := start(t, func(s *Server) { s.anonymous = func() bool { return true } })
	for _, path := range []string{"/operations/" + succeededID, "/operations/" + succeededID + "/result", "/operations/1"} {
		nobody := f.get(t, path, "Authorization: ")
		nobody.mustRefuse(t, http.StatusUnauthorized, graph.CodeUnauthenticated)
		nobody.mustBe(t, http.StatusUnauthorized, map[string]string{"WWW-Authenticate": "Bearer"})
		stranger := f.get(t, path, "Authorization: Bearer nonsense")
		stranger.mustRefuse(t, http.StatusUnauthorized, graph.CodeUnauthenticated)
		stranger.mustBe(t, http.StatusUnauthorized, map[string]string{"WWW-Authenticate": `Bearer error="invalid_token"`})
		f.get(t, path, "Authorization: Bearer homeless").mustRefuse(t, http.StatusForbidden, codeTenantUnknown)
	}
	for _, method := range []string{http.MethodGet, http.MethodDelete} {
		away := f.call(t, method, "/operations/"+awayID, "")
		away.mustRefuse(t, http.StatusServiceUnavailable, codeUnavailable)
		away.mustBe(t, http.StatusServiceUnavailable, map[string]string{"Retry-After": retryAfterSeconds})
	}
	if !strings.Contains(f.log.String(), "secret-cause") {
		t.Error("the log does not have the cause")
	}
}

func TestResourcesHaveTheirMethods(t *testing.T) {
	t.Parallel()
	f := start(t)
	for path, allow := range map[string]string{
		"/operations/" + queuedID:             operationMethods,
		"/operations/" + queuedID + "/result": resultMethods,
		"/graphql":                            graphqlMethods,
	} {
		for _, method := range []string{http.MethodPut, http.MethodPatch} {
			r := f.call(t, method, path, "")
			r.mustRefuse(t, http.StatusMethodNotAllowed, graph.CodeBadUserInput)
			r.mustBe(t, http.StatusMethodNotAllowed, map[string]string{"Allow": allow})
		}
		f.call(t, http.MethodOptions, path, "").mustBe(t, http.StatusNoContent, map[string]string{"Allow": allow})
	}
	f.call(t, http.MethodDelete, "/operations/"+queuedID+"/result", "").mustRefuse(t, http.StatusMethodNotAllowed, graph.CodeBadUserInput)
	f.get(t, "/operations/").mustRefuse(t, http.StatusNotFound, codeNotFound)
	f.get(t, "/operations/"+queuedID+"/more").mustRefuse(t, http.StatusNotFound, codeNotFound)
}

func TestAPageOfAnotherOriginCancelsNothing(t *testing.T) {
	t.Parallel()
	f := start(t, withOrigins(page))
	foreign := []string{"Sec-Fetch-Site: cross-site", "Origin: https://evil.test"}
	f.call(t, http.MethodDelete, "/operations/"+queuedID, "", foreign...).mustRefuse(t, http.StatusForbidden, codeForbidden)
	asked := f.call(t, http.MethodOptions, "/operations/"+queuedID, "", "Origin: "+page, "Access-Control-Request-Method: DELETE")
	if got := asked.header.Get("Access-Control-Allow-Methods"); got != http.MethodDelete {
		t.Errorf("allowed methods are %q", got)
	}
}

func TestReadyTellsWhetherTheStoreCanBeUsed(t *testing.T) {
	t.Parallel()
	var away atomic.Bool
	f := start(t, func(s *Server) {
		s.ready = func(context.Context) error {
			if away.Load() {
				return errors.New("secret-cause")
			}
			return nil
		}
	})
	if r := f.get(t, "/readyz", "Authorization: "); r.status != http.StatusOK || r.body != "ok\n" {
		t.Errorf("answered %d %s", r.status, r.body)
	}
	f.call(t, http.MethodPost, "/readyz", "").mustRefuse(t, http.StatusMethodNotAllowed, graph.CodeBadUserInput)
	away.Store(true)
	r := f.get(t, "/readyz")
	r.mustRefuse(t, http.StatusServiceUnavailable, codeUnavailable)
	if !strings.Contains(f.log.String(), "secret-cause") {
		t.Error("the log does not have the cause")
	}
	if r := f.get(t, "/healthz"); r.status != http.StatusOK {
		t.Errorf("the process is said to be dead: %d", r.status)
	}
}
