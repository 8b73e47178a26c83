package server

import (
	"context"
	"log/slog"
	"net/http"

	"asyncgate/graph"
)

// healthz says that the process serves, and nothing about what it depends on.
func (s *Server) healthz(w http.ResponseWriter, r *http.Request) {
	s.health(w, r, func(context.Context) error { return nil })
}

// readyz says whether requests should be sent here: the store can be used, and
// the server is not stopping. No tenant's upstream makes a difference, since
// the others are served.
func (s *Server) readyz(w http.ResponseWriter, r *http.Request) { s.health(w, r, s.ready) }

func (s *Server) health(w http.ResponseWriter, r *http.Request, check func(context.Context) error) {
	w.Header().Set("Cache-Control", "no-store")
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		s.refuse(w, r, mediaJSON, methodNotAllowed("GET, HEAD"))
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), s.timing.ready)
	defer cancel()
	if err := check(ctx); err != nil {
		s.logger.LogAttrs(ctx, slog.LevelWarn, "not ready",
			slog.String("request_id", graph.RequestID(ctx)), slog.Any("error", err))
		s.refuse(w, r, mediaJSON, errNotReady)
		return
	}
	s.write(w, http.StatusOK, "text/plain", []byte("ok\n"))
}

var errNotReady = &refusal{
	status: http.StatusServiceUnavailable, code: codeUnavailable,
	message: "The gateway's store cannot be used. Its log has the cause.",
}
