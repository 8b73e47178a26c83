package postgres

import "asyncgate/internal/asyncop"

// scopeArgs are a scope as the arguments $2, $3 and $4 of a statement: tenants,
// issuer and subject, null where the scope is not restricted by them. The zero
// scope is restricted to no tenant at all.
func scopeArgs(scope asyncop.Scope) (tenants []string, issuer, subject *string) {
	if names, restricted := scope.Tenants(); restricted {
		tenants = append([]string{}, names...) // never nil, which is null
	}
	if i, s, ok := scope.Submitter(); ok {
		issuer, subject = &i, &s
	}
	return tenants, issuer, subject
}
