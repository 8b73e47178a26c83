package server

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
)

const page = "https://app.test"

// withOrigins lets these origins in.
func withOrigins(origins ...string) func(*Server) {
	return func(s *Server) { s.origins = func() []string { return origins } }
}

func TestAPageOfAnAllowedOriginMayCall(t *testing.T) {
	t.Parallel()
	f := start(t, withOrigins(page))
	asked := f.call(t, http.MethodOptions, "/graphql", "", "Authorization: ", "Origin: "+page,
		"Access-Control-Request-Method: POST", "Access-Control-Request-Headers: authorization,content-type,idempotency-key,prefer,traceparent")
	for name, want := range map[string]string{
		"Access-Control-Allow-Origin": page, "Access-Control-Allow-Methods": "POST", "Access-Control-Allow-Credentials": "",
		"Access-Control-Allow-Headers": "authorization,content-type,idempotency-key,prefer,traceparent", "Access-Control-Max-Age": "600",
	} {
		if got := asked.header.Get(name); got != want {
			t.Errorf("asked first: %s is %q, want %q", name, got, want)
		}
	}
	if asked.status != http.StatusNoContent || asked.body != "" {
		t.Errorf("asked first: %d %s", asked.status, asked.body)
	}
	sent := f.post(t, `{"query":"mutation awkward"}`, "Origin: "+page, "Sec-Fetch-Site: cross-site")
	if sent.status != http.StatusOK || sent.header.Get("Access-Control-Allow-Origin") != page || sent.header.Get("Vary") != "Origin" {
		t.Errorf("sent: %d %v", sent.status, sent.header)
	}
	for name := range strings.SplitSeq("Location,Preference-Applied,Retry-After,WWW-Authenticate,ETag,X-Request-Id", ",") {
		if !strings.Contains(strings.ToLower(sent.header.Get("Access-Control-Expose-Headers")), strings.ToLower(name)) {
			t.Errorf("a page cannot read %s", name)
		}
	}
	if refused := f.post(t, `{}`, "Origin: "+page); refused.header.Get("Access-Control-Allow-Origin") != page {
		t.Error("a page cannot read why it was refused")
	}
}

func TestAPageOfAnotherOriginMayNot(t *testing.T) {
	t.Parallel()
	f := start(t, withOrigins(page))
	for _, origin := range []string{"https://evil.test", "https://app.test:8443", "http://app.test", "https://app.test.evil.test", "null"} {
		asked := f.call(t, http.MethodOptions, "/graphql", "", "Origin: "+origin, "Access-Control-Request-Method: POST")
		if got := asked.header.Get("Access-Control-Allow-Origin"); got != "" {
			t.Errorf("%s: Access-Control-Allow-Origin is %q", origin, got)
		}
		for _, site := range []string{"cross-site", "same-site"} {
			r := f.post(t, `{"query":"mutation panics"}`, "Origin: "+origin, "Sec-Fetch-Site: "+site)
			r.mustRefuse(t, http.StatusForbidden, codeForbidden)
		}
	}
	f.post(t, `{"query":"mutation panics"}`, "Sec-Fetch-Site: cross-site").mustRefuse(t, http.StatusForbidden, codeForbidden)
}

func TestWhatIsNoForeignPageNeedsNoOrigin(t *testing.T) {
	t.Parallel()
	f := start(t)
	own := strings.TrimSuffix(f.url, "/graphql")
	for name, header := range map[string][]string{
		"NoBrowser":        nil,
		"NoBrowserAtAll":   {"Origin: https://evil.test"},
		"AnOwnPage":        {"Origin: " + own, "Sec-Fetch-Site: same-origin"},
		"TheAddressBar":    {"Sec-Fetch-Site: none"},
		"BehindAnotherTLS": {"Origin: https://gateway.test", "Sec-Fetch-Site: same-origin"},
	} {
		if r := f.post(t, `{"query":"mutation awkward"}`, header...); r.status != http.StatusOK {
			t.Errorf("%s: %d %s", name, r.status, r.body)
		}
	}
	// Such a page can send this, and cannot read the answer.
	r := f.call(t, http.MethodGet, "/graphql?query=query+awkward", "", "Sec-Fetch-Site: cross-site")
	if r.status != http.StatusOK || r.header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("a link: %d %v", r.status, r.header)
	}
}

func TestAStarIsEveryOrigin(t *testing.T) {
	t.Parallel()
	f := start(t, withOrigins(anyOrigin))
	for _, origin := range []string{"https://evil.test", "null"} {
		r := f.post(t, `{"query":"query awkward"}`, "Origin: "+origin, "Sec-Fetch-Site: cross-site")
		if r.status != http.StatusOK || r.header.Get("Access-Control-Allow-Origin") != origin {
			t.Errorf("%s: %d %v", origin, r.status, r.header)
		}
		f.dial(t, nil, "Origin: "+origin)
	}
}

func TestOriginsAreThoseOfTheMoment(t *testing.T) {
	t.Parallel()
	var origins atomic.Pointer[[]string]
	origins.Store(&[]string{})
	f := start(t, func(s *Server) { s.origins = func() []string { return *origins.Load() } })
	foreign := []string{"Origin: " + page, "Sec-Fetch-Site: cross-site"}
	f.post(t, `{"query":"query awkward"}`, foreign...).mustRefuse(t, http.StatusForbidden, codeForbidden)
	origins.Store(&[]string{page})
	if r := f.post(t, `{"query":"query awkward"}`, foreign...); r.status != http.StatusOK {
		t.Errorf("once it is allowed: %d", r.status)
	}
	f.dial(t, nil, "Origin: "+page)
	origins.Store(&[]string{})
	f.post(t, `{"query":"query awkward"}`, foreign...).mustRefuse(t, http.StatusForbidden, codeForbidden)
}
