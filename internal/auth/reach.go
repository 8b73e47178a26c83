package auth

import "slices"

// Reach is whose operations a caller's roles reach besides their own.
type Reach struct {
	TenantAdmin bool     // all of the caller's tenant
	Admin       bool     // all of Tenants
	Tenants     []string // the issuer's; ["*"] for all, and without tenancy
}

// Reach answers what the caller's roles reach now, by the policy of v and not
// that of the time when the context was stored. Roles of an issuer that is not
// an admin, or no longer configured, reach nothing.
func (v *Verifier) Reach(sc SecurityContext) Reach {
	issuer, ok := v.issuers[sc.Issuer]
	if !ok {
		return Reach{}
	}
	admin := issuer.Admin && sc.HasAnyRole(v.policy.AdminRoles)
	return Reach{
		TenantAdmin: admin || issuer.Admin && sc.HasAnyRole(v.policy.TenantAdminRoles),
		Admin:       admin,
		Tenants:     v.tenantsOf(issuer),
	}
}

func (v *Verifier) tenantsOf(issuer Issuer) []string {
	if !v.policy.Tenancy || slices.Contains(issuer.Tenants, AnyTenant) {
		return []string{AnyTenant}
	}
	return slices.Clone(issuer.Tenants)
}
