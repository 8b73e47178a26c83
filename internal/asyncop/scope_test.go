package asyncop_test

import (
	"testing"

	"asyncgate/internal/asyncop"
)

func TestAScopeReachesItsOwnAndNothingElse(t *testing.T) {
	t.Parallel()
	own := asyncop.Operation{Tenant: "acme", Issuer: "idp", Subject: "ada"}
	operations := map[string]asyncop.Operation{
		"own":            own,
		"another's":      {Tenant: "acme", Issuer: "idp", Subject: "grace"},
		"another idp's":  {Tenant: "acme", Issuer: "other", Subject: "ada"},
		"other tenant's": {Tenant: "globex", Issuer: "idp", Subject: "ada"},
		"no tenant's":    {Issuer: "idp", Subject: "ada"},
	}
	cases := map[string]struct {
		scope   asyncop.Scope
		reaches []string
	}{
		"Zero":       {asyncop.Scope{}, nil},
		"Submitter":  {asyncop.SubmitterScope("acme", "idp", "ada"), []string{"own"}},
		"NoTenancy":  {asyncop.SubmitterScope("", "idp", "ada"), []string{"no tenant's"}},
		"NoTenants":  {asyncop.TenantsScope(), nil},
		"Tenant":     {asyncop.TenantsScope("acme"), []string{"own", "another's", "another idp's"}},
		"Tenants":    {asyncop.TenantsScope("globex", ""), []string{"other tenant's", "no tenant's"}},
		"Everything": {asyncop.EverythingScope(), []string{"own", "another's", "another idp's", "other tenant's", "no tenant's"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wanted := map[string]bool{}
			for _, which := range c.reaches {
				wanted[which] = true
			}
			for which, op := range operations {
				if got := c.scope.Reaches(op); got != wanted[which] {
					t.Errorf("reaches %s: %v", which, got)
				}
			}
		})
	}
}

func TestAScopeTellsItsRestrictions(t *testing.T) {
	t.Parallel()
	if issuer, subject, ok := asyncop.SubmitterScope("acme", "idp", "ada").Submitter(); !ok || issuer != "idp" || subject != "ada" {
		t.Errorf("%s, %s, %v", issuer, subject, ok)
	}
	for name, scope := range map[string]asyncop.Scope{
		"zero": {}, "tenants": asyncop.TenantsScope("acme"), "everything": asyncop.EverythingScope(),
	} {
		if _, _, ok := scope.Submitter(); ok {
			t.Errorf("%s is restricted to a submitter", name)
		}
		if _, restricted := scope.Tenants(); restricted != (name != "everything") {
			t.Errorf("%s: restricted to tenants %v", name, restricted)
		}
	}
}
