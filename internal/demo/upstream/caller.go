package upstream

import (
	"context"
	"errors"
	"net/http"
	"strings"
)

// errUnauthenticated: the request does not say who calls, and for which tenant.
var errUnauthenticated = errors.New("the headers X-User-Id and X-Tenant must say who calls")

// Caller is who the gateway says calls.
type Caller struct {
	ID     string
	Tenant string
	Roles  []string
}

type contextKey struct{}

// identify puts the caller of the headers X-User-Id, X-Tenant and X-Roles into
// the context. It believes them: only the gateway may reach this server.
func identify(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		caller := Caller{ID: r.Header.Get("X-User-Id"), Tenant: r.Header.Get("X-Tenant"), Roles: []string{}}
		if roles := r.Header.Get("X-Roles"); roles != "" {
			caller.Roles = strings.Split(roles, ",")
		}
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), contextKey{}, caller)))
	})
}

// callerFrom returns the caller. Errors: errUnauthenticated.
func callerFrom(ctx context.Context) (Caller, error) {
	caller, _ := ctx.Value(contextKey{}).(Caller)
	if caller.ID == "" || caller.Tenant == "" {
		return Caller{}, errUnauthenticated
	}
	return caller, nil
}
