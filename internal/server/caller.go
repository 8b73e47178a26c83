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
	tenant tenant
}

// identify finds out who calls from the value of an Authorization header.
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
