package asyncop

// Scope is whose operations a caller reaches. It becomes part of the statement
// that reads or changes a row, so that an absent operation and a stranger's
// are one answer. The zero Scope reaches nothing.
type Scope struct {
	kind    scopeKind
	issuer  string
	subject string
	tenants []string
}

type scopeKind int8

const (
	scopeNothing scopeKind = iota
	scopeSubmitter
	scopeTenants
	scopeEverything
)

// SubmitterScope reaches the operations of one submitter in one tenant.
func SubmitterScope(tenant, issuer, subject string) Scope {
	return Scope{kind: scopeSubmitter, tenants: []string{tenant}, issuer: issuer, subject: subject}
}

// TenantsScope reaches all operations of the named tenants, whoever submitted
// them.
func TenantsScope(tenants ...string) Scope {
	return Scope{kind: scopeTenants, tenants: tenants}
}

// EverythingScope reaches all operations.
func EverythingScope() Scope { return Scope{kind: scopeEverything} }

// Submitter returns the issuer and subject that the scope is restricted to; ok
// is false where it spans submitters.
func (s Scope) Submitter() (issuer, subject string, ok bool) {
	return s.issuer, s.subject, s.kind == scopeSubmitter
}

// Tenants returns the tenants that the scope is restricted to; ok is false
// where it spans all. The zero Scope is restricted to none.
func (s Scope) Tenants() (tenants []string, ok bool) {
	return s.tenants, s.kind != scopeEverything
}

// Reaches reports whether the scope covers o. Stores decide it in SQL; this is
// for operations that are in memory already.
func (s Scope) Reaches(o Operation) bool {
	if s.kind == scopeEverything {
		return true
	}
	for _, tenant := range s.tenants {
		if tenant == o.Tenant {
			return s.kind == scopeTenants || (s.issuer == o.Issuer && s.subject == o.Subject)
		}
	}
	return false
}
