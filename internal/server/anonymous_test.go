package server

import (
	"net/http"
	"strings"
	"testing"

	"asyncgate/graph"
)

func anonymously(s *Server) { s.anonymous = func() bool { return true } }

const nobody = `{"data":"nobody"}`

func TestNoTokenIsAnonymousWhereThatIsAllowed(t *testing.T) {
	t.Parallel()
	f := start(t, anonymously)
	if r := f.post(t, `{"query":"query who"}`, "Authorization: "); r.status != http.StatusOK || r.body != nobody {
		t.Errorf("HTTP: %d %s", r.status, r.body)
	}
	if r := f.post(t, `{"query":"query who"}`, "Authorization: ", "Accept: "+mediaEvents); !strings.Contains(r.body, "data: "+nobody) {
		t.Errorf("SSE: %d %s", r.status, r.body)
	}
	for _, init := range []string{`{"type":"connection_init"}`, `{"type":"connection_init","payload":{}}`} {
		c := f.dial(t, nil)
		c.say(init)
		c.hear(`{"type":"connection_ack"}`)
		c.say(`{"type":"subscribe","id":"1","payload":{"query":"query who"}}`)
		c.hear(`{"id":"1","type":"next","payload":`+nobody+`}`, `{"id":"1","type":"complete"}`)
	}
}

func TestATokenIsStillHeardWhereNoneIsNeeded(t *testing.T) {
	t.Parallel()
	f := start(t, anonymously)
	if r := f.post(t, `{"query":"query who"}`); r.body != `{"data":"ada"}` {
		t.Errorf("got %s", r.body)
	}
	for _, header := range []string{"Bearer forged", "Bearer", "Bearer ", "Basic YWRhOmFkYQ==", "forged"} {
		r := f.post(t, `{"query":"query who"}`, "Authorization: "+header)
		if r.status != http.StatusUnauthorized || !strings.Contains(r.body, graph.CodeUnauthenticated) {
			t.Errorf("%q over HTTP: %d %s", header, r.status, r.body)
		}
		c := f.dial(t, nil)
		c.say(`{"type":"connection_init","payload":{"Authorization":"` + header + `"}}`)
		c.closed(closeForbidden, "Forbidden")
	}
}

func TestNoTokenIsRefusedWhereAnonymousIsNotAllowed(t *testing.T) {
	t.Parallel()
	f := start(t, func(s *Server) { s.anonymous = func() bool { return false } })
	if r := f.post(t, `{"query":"query who"}`, "Authorization: "); r.status != http.StatusUnauthorized || r.header.Get("WWW-Authenticate") != "Bearer" {
		t.Errorf("got %d %s", r.status, r.body)
	}
	c := f.dial(t, nil)
	c.say(`{"type":"connection_init"}`)
	c.closed(closeForbidden, "Forbidden")
}
