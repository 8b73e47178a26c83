package server

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"runtime/debug"
	"time"

	"asyncgate/graph"
	"asyncgate/internal/executor"
)

// observe gives each request an id, logs its end, and turns a panic into an
// answer. It lets no request in once the server stops.
func (s *Server) observe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := rand.Text()
		r = r.WithContext(graph.WithRequestID(r.Context(), id))
		w.Header().Set("X-Request-Id", id)
		w.Header().Set("X-Content-Type-Options", "nosniff")
		if !s.life.enter() {
			s.refuse(w, r, mediaJSON, errStopping)
			return
		}
		defer s.life.leave()
		s.limitBody(w, r)
		answer := &response{ResponseWriter: w}
		defer s.logRequest(r, answer, time.Now())
		defer s.recoverRequest(r, answer)
		next.ServeHTTP(answer, r)
	})
}

// limitBody gives the body of any request its time, read by us or not: net/http
// reads on after the answer, and a client that never sends what it announced
// would keep its connection for ever, token or not.
func (s *Server) limitBody(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength != 0 {
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(s.timing.body))
	}
}

var errStopping = &refusal{
	status: http.StatusServiceUnavailable, code: codeUnavailable,
	message: "The gateway is stopping. Send the request again.",
}

// logRequest leaves out the query string: a document and its variables may
// stand there.
func (s *Server) logRequest(r *http.Request, answer *response, start time.Time) {
	s.logger.LogAttrs(r.Context(), slog.LevelDebug, "request",
		slog.String("request_id", graph.RequestID(r.Context())),
		slog.String("method", r.Method),
		slog.String("path", r.URL.Path),
		slog.Int("status", answer.status),
		slog.Duration("duration", time.Since(start)))
}

// recoverRequest answers for a handler that panicked. Where the answer had
// begun it cuts the connection, so that no half is taken for the whole.
func (s *Server) recoverRequest(r *http.Request, answer *response) {
	cause := recover()
	if cause == nil {
		return
	}
	if err, ok := cause.(error); ok && errors.Is(err, http.ErrAbortHandler) {
		panic(cause)
	}
	reply := s.panicReply(r.Context(), cause)
	if answer.status != 0 {
		panic(http.ErrAbortHandler)
	}
	s.write(answer, http.StatusInternalServerError, mediaJSON, reply.Envelope)
}

// panicReply logs a panic and answers what its client is told.
func (s *Server) panicReply(ctx context.Context, cause any) executor.Reply {
	s.logger.LogAttrs(ctx, slog.LevelError, "panic",
		slog.String("request_id", graph.RequestID(ctx)),
		slog.String("cause", fmt.Sprint(cause)),
		slog.String("stack", string(debug.Stack())))
	return errorReply(graph.CodeInternal, graph.InternalMessage(ctx))
}

// response remembers the status, 0 before there is one.
type response struct {
	http.ResponseWriter
	status int
}

// WriteHeader passes the status on.
func (w *response) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

// Hijack hands the connection to a websocket.
func (w *response) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(w.ResponseWriter).Hijack()
	if err == nil {
		w.status = http.StatusSwitchingProtocols
	}
	return conn, rw, err
}

// Unwrap lets http.ResponseController through.
func (w *response) Unwrap() http.ResponseWriter { return w.ResponseWriter }
