package server

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/rs/cors"
)

// anyOrigin among the origins lets pages of every origin in.
const anyOrigin = "*"

// preflightAge is for how many seconds a browser need not ask again. What it
// sends is checked all the same, so a reload that takes an origin away counts.
const preflightAge = 600

// forPages lets pages of the allowed origins call next from their browsers,
// and refuses what the pages of others make browsers send. Credentials of the
// browser's own are never asked for: who calls stands in a header.
func (s *Server) forPages(next http.HandlerFunc) http.Handler {
	policy := cors.New(cors.Options{
		AllowOriginFunc: s.allowsOrigin,
		AllowedMethods:  []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodDelete},
		AllowedHeaders:  []string{"*"}, // tracing and GraphQL clients have their own, and none is a danger
		ExposedHeaders: []string{
			"Location", "Preference-Applied", "Retry-After", "WWW-Authenticate", "ETag", "X-Request-Id",
		},
		MaxAge: preflightAge,
	})
	return policy.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.isForged(r) {
			w.Header().Set("Cache-Control", "no-store")
			s.refuse(w, r, mediaJSON, errOrigin)
			return
		}
		next(w, r)
	}))
}

var errOrigin = &refusal{
	status: http.StatusForbidden, code: codeForbidden,
	message: "Pages of this origin are not served. Its operator can add it to cors.origins.",
}

// allowsOrigin reports whether pages of an origin may call.
func (s *Server) allowsOrigin(origin string) bool {
	if s.origins == nil {
		return false
	}
	allowed := s.origins()
	return slices.Contains(allowed, origin) || slices.Contains(allowed, anyOrigin)
}

// isForged reports whether a browser says that another site's page made it
// send a request which may change something. Pages of such sites could send
// without being asked first if they avoid what needs a preflight.
func (s *Server) isForged(r *http.Request) bool {
	if r.Method == http.MethodGet || r.Method == http.MethodHead || r.Method == http.MethodOptions {
		return false // these change nothing
	}
	site := r.Header.Get("Sec-Fetch-Site")
	return (site == "cross-site" || site == "same-site") && !s.allowsOrigin(r.Header.Get("Origin"))
}

// allowsSocket reports whether a websocket may be opened: by what is no
// browser, by a page of this host, or by one of an allowed origin. Browsers
// ask nobody before they open one.
func (s *Server) allowsSocket(r *http.Request) bool {
	origin := r.Header.Get("Origin")
	if origin == "" || s.allowsOrigin(origin) {
		return true
	}
	page, err := url.Parse(origin)
	return err == nil && strings.EqualFold(page.Host, r.Host)
}
