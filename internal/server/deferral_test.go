package server

import (
	"net/http"
	"strings"
	"testing"

	"asyncgate/graph"
)

const prefersAsync = "Prefer: respond-async"

func TestAnAllowedMutationIsAnsweredWithAHandle(t *testing.T) {
	t.Parallel()
	f := start(t)
	r := f.post(t, `{"query":"mutation allowed runs","operationName":"A","variables":{"n": 1.10}}`, prefersAsync, `Idempotency-Key: "a b"`)
	r.mustBe(t, http.StatusAccepted, map[string]string{
		"Location": "/operations/" + runningID, "Preference-Applied": "respond-async", "Retry-After": "2",
		"Content-Type": "application/json; charset=utf-8", "Cache-Control": "no-store",
	})
	for _, want := range []string{
		`{"id":"` + runningID + `","state":"RUNNING",`, `"operationName":"A","document":"mutation allowed runs","variables":{"n": 1.10}`,
		`"idempotencyKey":"a b"`,
	} {
		if !strings.Contains(r.body, want) {
			t.Errorf("%s is not in %s", want, r.body)
		}
	}
	// A done one is a handle too, for who does not wait.
	f.post(t, `{"query":"mutation allowed done"}`, prefersAsync).mustBe(t, http.StatusAccepted, map[string]string{"Retry-After": ""})
}

func TestWhoWaitsHasTheOrdinaryResponse(t *testing.T) {
	t.Parallel()
	f := start(t)
	for accept, mediaType := range map[string]string{
		"application/json": "application/json; charset=utf-8", "application/graphql-response+json": "application/graphql-response+json; charset=utf-8",
	} {
		r := f.post(t, `{"query":"mutation allowed soon"}`, "Prefer: respond-async, wait=5", "Accept: "+accept)
		r.mustBe(t, http.StatusOK, map[string]string{
			"Content-Type": mediaType, "Preference-Applied": "respond-async, wait=5", "Location": "/operations/" + succeededID, "Retry-After": "",
		})
		if r.body != awkward {
			t.Errorf("got %q", r.body)
		}
	}
	late := f.post(t, `{"query":"mutation allowed runs"}`, "Prefer: respond-async, wait=1")
	late.mustBe(t, http.StatusAccepted, map[string]string{"Preference-Applied": "respond-async, wait=1", "Retry-After": "2"})
	failed := f.post(t, `{"query":"mutation allowed fails"}`, "Prefer: respond-async, wait=5")
	failed.mustBe(t, http.StatusOK, nil)
	if failed.body != `{"errors":[{"extensions":{"code":"TIMEOUT"}}]}` {
		t.Errorf("got %s", failed.body)
	}
	f.post(t, `{"query":"mutation allowed purged"}`, "Prefer: respond-async, wait=5").mustRefuse(t, http.StatusGone, codeNotFound)
}

func TestWhatCannotBeSubmittedIsExecutedAsEver(t *testing.T) {
	t.Parallel()
	f := start(t)
	for name, request := range map[string][]string{
		"AQuery":                   {`{"query":"query awkward"}`, `Idempotency-Key: "malformed`},
		"OffTheAllowlist":          {`{"query":"mutation awkward"}`},
		"OffItWithAFreeKey":        {`{"query":"mutation awkward"}`, "Idempotency-Key: free"},
		"OffItWithAnothersKey":     {`{"query":"mutation awkward"}`, "Idempotency-Key: reused"},
		"OffItWithAMalformedKey":   {`{"query":"mutation awkward"}`, `Idempotency-Key: "malformed`},
		"WithoutThePreference":     {`{"query":"mutation awkward"}`, "Prefer: wait=5", "Idempotency-Key: known"},
		"WithAMalformedPreference": {`{"query":"mutation awkward"}`, "Prefer: respond-async=yes", `Idempotency-Key: "malformed`},
	} {
		r := f.post(t, request[0], append([]string{prefersAsync}, request[1:]...)...)
		r.mustBe(t, http.StatusOK, map[string]string{"Preference-Applied": "", "Location": ""})
		if r.body != awkward {
			t.Errorf("%s: got %q", name, r.body)
		}
	}
	events := f.post(t, `{"query":"mutation awkward"}`, prefersAsync, "Accept: text/event-stream")
	if events.status != http.StatusOK || !strings.Contains(events.body, "event: complete") {
		t.Errorf("as events: %d %s", events.status, events.body)
	}
	f.post(t, `{"query":"x refused"}`, prefersAsync, "Accept: application/graphql-response+json").
		mustRefuse(t, http.StatusBadRequest, "GRAPHQL_VALIDATION_FAILED")
}

// Executing it now would do the work of its first sending twice, and a refusal
// would say that it was not done.
func TestAKeyIsLookedUpThoughTheMutationIsNoLongerAllowed(t *testing.T) {
	t.Parallel()
	f := start(t)
	for _, query := range []string{"mutation panics", "x refused"} {
		r := f.post(t, `{"query":"`+query+`"}`, prefersAsync, "Idempotency-Key: known")
		r.mustBe(t, http.StatusAccepted, map[string]string{"Location": "/operations/" + succeededID})
	}
	f.post(t, `{"query":"x refused"}`, prefersAsync, "Idempotency-Key: free", "Accept: application/graphql-response+json").
		mustRefuse(t, http.StatusBadRequest, "GRAPHQL_VALIDATION_FAILED")
	f.post(t, `{"query":"mutation panics"}`, prefersAsync, "Idempotency-Key: away").
		mustRefuse(t, http.StatusServiceUnavailable, codeUnavailable)
}

func TestWhatIsNotSubmittedSaysWhy(t *testing.T) {
	t.Parallel()
	f := start(t)
	for code, c := range map[string]struct {
		script, key string
		status      int
	}{
		graph.CodeBadUserInput:      {"runs", `"malformed`, http.StatusBadRequest},
		codeKeyReused:               {"runs", `reused`, http.StatusUnprocessableEntity},
		"GRAPHQL_VALIDATION_FAILED": {"refused", "a", http.StatusBadRequest},
		codeQuotaExceeded:           {"quota", "a", http.StatusTooManyRequests},
		codeUnavailable:             {"away", "a", http.StatusServiceUnavailable},
	} {
		r := f.post(t, `{"query":"mutation allowed `+c.script+`"}`, prefersAsync, "Idempotency-Key: "+c.key)
		r.mustRefuse(t, c.status, code)
		r.mustBe(t, c.status, map[string]string{"Preference-Applied": "", "Location": ""})
	}
}
