package server

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"asyncgate/graph"
)

// maxOperations is how many operations a socket may have at a time.
const maxOperations = 1000

// newUpgrader makes small buffers, since most sockets are idle most of the time.
func (s *Server) newUpgrader() websocket.Upgrader {
	return websocket.Upgrader{
		HandshakeTimeout: s.timing.write,
		ReadBufferSize:   1 << 10,
		WriteBufferSize:  4 << 10,
		WriteBufferPool:  &sync.Pool{},
		Subprotocols:     []string{subprotocol},
		CheckOrigin:      s.allowsSocket,
		Error:            s.refuseUpgrade,
	}
}

func (s *Server) refuseUpgrade(w http.ResponseWriter, r *http.Request, status int, reason error) {
	err := reason
	switch status {
	case http.StatusForbidden:
		err = errOrigin
	case http.StatusMethodNotAllowed:
		err = methodNotAllowed(http.MethodGet)
	case http.StatusBadRequest:
		w.Header().Set("Sec-WebSocket-Version", "13")
		err = badRequest("The websocket handshake is malformed. Version 13 is served.")
	}
	s.refuse(w, r, mediaJSON, err)
}

// upgrade turns a request into a socket and returns: net/http's goroutine and
// buffers are freed, and the socket lives on by itself.
func (s *Server) upgrade(w http.ResponseWriter, r *http.Request) {
	if !s.life.enter() {
		s.refuse(w, r, mediaJSON, errStopping)
		return
	}
	conn, err := s.sockets.Upgrade(w, r, http.Header{"X-Request-Id": {graph.RequestID(r.Context())}})
	if err != nil {
		s.life.leave()
		return // the upgrader has answered
	}
	ctx := context.WithoutCancel(r.Context())
	authorization := r.Header.Get("Authorization")
	go func() {
		defer s.life.leave()
		s.serveSocket(ctx, conn, authorization)
	}()
}

// serveSocket returns when the connection is closed and all operations have
// ended.
func (s *Server) serveSocket(ctx context.Context, conn *websocket.Conn, authorization string) {
	ctx, end := context.WithCancelCause(ctx)
	c := &socket{
		server:     s,
		conn:       conn,
		end:        end,
		outbox:     make(chan frame, 8),
		operations: operations{limit: maxOperations},
	}
	start := time.Now()
	c.serve(ctx, authorization)
	s.logger.LogAttrs(ctx, slog.LevelDebug, "websocket closed",
		slog.String("request_id", graph.RequestID(ctx)),
		slog.String("cause", context.Cause(ctx).Error()),
		slog.Duration("duration", time.Since(start)))
}
