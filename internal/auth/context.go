package auth

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"time"
)

// The errors of this package wrap these. Their messages are for the caller:
// they hold no token, no secret and no claim's value.
var (
	// ErrUnauthenticated: there is no token, or none that can be believed.
	ErrUnauthenticated = errors.New("unauthenticated")
	// ErrForbidden: the caller is known, and this is not theirs to do, or
	// their identity cannot be told to the upstream.
	ErrForbidden = errors.New("forbidden")
	// ErrTenantUnknown: the token names no tenant, or one that its issuer has
	// no say over.
	ErrTenantUnknown = errors.New("unknown tenant")
)

// SecurityContext is who calls: the claims of a verified token. The submitter
// of an operation is the pair of Issuer and Subject.
type SecurityContext struct {
	Issuer  string
	Subject string
	Tenant  string // "" without tenancy
	Roles   []string
	Scopes  []string
	// Extra holds the configured extra claims that the token had, as written
	// in it, under their configured paths.
	Extra     map[string]json.RawMessage
	IssuedAt  time.Time // zero where the token does not say
	ExpiresAt time.Time
}

// HasAnyRole reports whether the caller has one of roles. No one has one of
// none.
func (sc SecurityContext) HasAnyRole(roles []string) bool {
	return slices.ContainsFunc(roles, func(role string) bool {
		return slices.Contains(sc.Roles, role)
	})
}

// LogValue keeps roles, scopes and extra claims out of every log line.
func (sc SecurityContext) LogValue() slog.Value {
	return slog.GroupValue(
		slog.String("issuer", sc.Issuer),
		slog.String("subject", sc.Subject),
		slog.String("tenant", sc.Tenant))
}

type contextKey struct{}

// anonymous stands in a context in place of a caller.
type anonymous struct{}

// NewContext returns a context that carries the caller.
func NewContext(ctx context.Context, sc SecurityContext) context.Context {
	return context.WithValue(ctx, contextKey{}, sc)
}

// NewAnonymous returns a context that carries nobody: a request without a
// token, let in on purpose. It may be forwarded, with nothing said of who calls.
func NewAnonymous(ctx context.Context) context.Context {
	return context.WithValue(ctx, contextKey{}, anonymous{})
}

// IsAnonymous reports whether NewAnonymous made the context. One without any
// caller, which is a fault, is not anonymous.
func IsAnonymous(ctx context.Context) bool {
	_, ok := ctx.Value(contextKey{}).(anonymous)
	return ok
}

// FromContext returns the caller. Errors: ErrUnauthenticated, for an anonymous
// context too.
func FromContext(ctx context.Context) (SecurityContext, error) {
	if sc, ok := ctx.Value(contextKey{}).(SecurityContext); ok {
		return sc, nil
	}
	return SecurityContext{}, ErrUnauthenticated
}
