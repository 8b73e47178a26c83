package auth

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReach(t *testing.T) {
	t.Parallel()
	plain, bound := theIssuer(), theIssuer()
	plain.Issuer, plain.Admin = "plain", false
	bound.Issuer, bound.Tenants = "bound", []string{"acme", "globex"}
	all := []string{AnyTenant}
	tests := map[string]struct {
		issuer string
		roles  []string
		want   Reach
	}{
		"NoRoleReachesNoFurther":        {"https://id.example/", nil, Reach{Tenants: all}},
		"TenantAdmin":                   {"https://id.example/", []string{"lead"}, Reach{TenantAdmin: true, Tenants: all}},
		"AnAdminIsATenantAdminToo":      {"https://id.example/", []string{"root"}, Reach{TenantAdmin: true, Admin: true, Tenants: all}},
		"RolesOfAPlainIssuerAreNothing": {"plain", []string{"root", "lead"}, Reach{Tenants: all}},
		"AllEndsAtTheIssuersTenants":    {"bound", []string{"root"}, Reach{TenantAdmin: true, Admin: true, Tenants: bound.Tenants}},
		"AForgottenIssuerReaches0":      {"gone", []string{"root"}, Reach{}},
	}
	v := newVerifier(t, true, theIssuer(), plain, bound)
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := v.Reach(SecurityContext{Issuer: test.issuer, Subject: "ada", Roles: test.roles})
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Fatal(diff)
			}
		})
	}
}

func TestWithoutTenancyAllIsAll(t *testing.T) {
	t.Parallel()
	issuer := theIssuer()
	issuer.Tenants = nil
	got := newVerifier(t, false, issuer).Reach(SecurityContext{Issuer: issuer.Issuer, Roles: []string{"root"}})
	if diff := cmp.Diff(Reach{TenantAdmin: true, Admin: true, Tenants: []string{AnyTenant}}, got); diff != "" {
		t.Fatal(diff)
	}
}
