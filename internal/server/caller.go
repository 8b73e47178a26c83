package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"asyncgate/graph"
	"asyncgate/internal/auth"
)

// errNoToken: the request carries no bearer token at all.
var errNoToken = fmt.Errorf("%w: there is no bearer token", auth.ErrUnauthenticated)

// caller is who sent a request, and the tenant that serves them.
type caller struct {
	auth.SecurityContext
	anonymous bool // and the security context is empty
	tenant    tenant
}

// context returns one that carries the caller.
func (c caller) context(ctx context.Context) context.Context {
	if c.anonymous {
		return auth.NewAnonymous(ctx)
	}
	return auth.NewContext(ctx, c.SecurityContext)
}

// identify finds out who calls from the value of an Authorization header. One
// that is there and holds no token, or a bad one, never makes its sender anonymous.
// Errors: errNoToken, those of Verifier and of Tenants.
func (s *Server) identify(ctx context.Context, authorization string) (caller, error) {
	who, err := s.known(ctx, authorization)
	if err != nil && !errors.Is(err, errNoToken) {
		s.logger.LogAttrs(ctx, slog.LevelInfo, "caller refused",
			slog.String("request_id", graph.RequestID(ctx)), slog.Any("reason", err))
	}
	return who, err
}

func (s *Server) known(ctx context.Context, authorization string) (caller, error) {
	if authorization == "" && s.anonymous != nil && s.anonymous() {
		t, err := s.tenants.tenant(ctx, "")
		return caller{anonymous: true, tenant: t}, err
	}
	token, ok := auth.Bearer(authorization)
	if !ok {
		return caller{}, errNoToken
	}
	sc, err := s.verifier.Verify(ctx, token)
	if err != nil {
		return caller{}, err
	}
	t, err := s.tenants.tenant(ctx, sc.Tenant)
	return caller{SecurityContext: sc, tenant: t}, err
}
