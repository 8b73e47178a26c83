package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/gorilla/websocket"

	"asyncgate/graph"
	"asyncgate/internal/auth"
	"asyncgate/internal/executor"
)

// Tenants finds the tenant of a caller. Errors: executor.ErrTenantUnknown,
// executor.ErrUnavailable.
type Tenants interface {
	Tenant(ctx context.Context, name string) (*executor.Tenant, error)
}

// Verifier turns a token into a security context. Errors:
// auth.ErrUnauthenticated, auth.ErrTenantUnknown; their text is for the caller.
type Verifier interface {
	Verify(ctx context.Context, token string) (auth.SecurityContext, error)
}

// Limits bounds what a client may send. 0 is no limit.
type Limits struct {
	Body int64 // bytes of a request's body, and of a websocket message
}

// Options is what a server is built from. All but Anonymous, Origins and
// Stopping is needed.
type Options struct {
	Tenants    Tenants
	Operations Operations
	Verifier   Verifier
	Limits     func() Limits // those of the moment
	Logger     *slog.Logger
	// Ready answers why the store cannot be used, nil where it can.
	Ready func(ctx context.Context) error
	// Anonymous, if any, reports whether requests without a token are served at
	// the moment, by the tenant "".
	Anonymous func() bool
	// Origins, if any, answers the origins of the moment whose pages may call
	// from a browser: as browsers send them, or "*".
	Origins func() []string
	// Stopping, if any, is called when Run begins to stop: from then on clients
	// read nothing more of a subscription, so that what ends it here is not
	// taken for its end.
	Stopping func()
}

// Server speaks to clients. Its methods are safe for concurrent use, but Run
// is for once.
type Server struct {
	tenants    tenants
	operations Operations
	encoder    *graph.Encoder
	verifier   Verifier
	limits     func() Limits
	logger     *slog.Logger
	ready      func(ctx context.Context) error
	anonymous  func() bool     // nil: never
	origins    func() []string // nil: none
	timing     timing
	sockets    websocket.Upgrader
	life       *life
	began      func() // to stop
}

// New builds a server that does nothing before its handler is used or it runs.
func New(o Options) *Server {
	s := &Server{
		tenants:    executorTenants{o.Tenants},
		operations: o.Operations,
		encoder:    graph.NewEncoder(),
		verifier:   o.Verifier,
		limits:     o.Limits,
		logger:     o.Logger,
		ready:      o.Ready,
		anonymous:  o.Anonymous,
		origins:    o.Origins,
		timing:     defaultTiming,
		life:       newLife(),
		began:      o.Stopping,
	}
	s.sockets = s.newUpgrader()
	return s
}

// Handler serves every path. Without Run nothing ever stops its websockets.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/graphql", s.forPages(s.graphql))
	mux.Handle(operationsPath+"{id}", s.forPages(s.operation))
	mux.Handle(operationsPath+"{id}/result", s.forPages(s.result))
	mux.HandleFunc("/healthz", s.healthz)
	mux.HandleFunc("/readyz", s.readyz)
	mux.HandleFunc("/", s.notFound)
	return s.observe(mux)
}

// Run serves until ctx ends, and then stops: it takes no new request, closes
// websockets with 1012, ends subscriptions over SSE and gives other requests a
// grace of 20 s, after which they are cut off. It returns when all that it
// started has ended, with nil unless the listener failed.
func (s *Server) Run(ctx context.Context, ln net.Listener) error {
	base, cutOff := context.WithCancel(context.WithoutCancel(ctx))
	defer cutOff()
	hs := s.newHTTPServer(base)
	served := make(chan error, 1)
	go func() { served <- hs.Serve(ln) }()

	var err error
	select {
	case err = <-served:
	case <-ctx.Done():
	}
	s.life.stop()
	if s.began != nil {
		s.began()
	}
	grace, cancel := context.WithTimeout(base, s.timing.grace)
	defer cancel()
	if hs.Shutdown(grace) != nil {
		cutOff()
		hs.Close()
	}
	s.life.wait()
	if err == nil {
		err = <-served
	}
	if !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve %s: %w", ln.Addr(), err)
	}
	return nil
}

func (s *Server) newHTTPServer(base context.Context) *http.Server {
	return &http.Server{
		Handler:           s.Handler(),
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       60 * time.Second,
		MaxHeaderBytes:    64 << 10,
		BaseContext:       func(net.Listener) context.Context { return base },
		ErrorLog:          slog.NewLogLogger(s.logger.Handler(), slog.LevelDebug),
	}
}

func (s *Server) notFound(w http.ResponseWriter, r *http.Request) {
	s.refuse(w, r, mediaJSON, &refusal{
		status: http.StatusNotFound, code: codeNotFound, message: "Nothing is served here. GraphQL is at /graphql.",
	})
}
