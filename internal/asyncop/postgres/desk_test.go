package postgres

import (
	"slices"
	"testing"

	"asyncgate/internal/asyncop"
	"asyncgate/test/pgtest"
)

func TestTenantsAreAnsweredInPages(t *testing.T) {
	t.Parallel()
	n := newNode(t, pgtest.URL(t), "node")
	for _, tenant := range []string{"c", "", "a", "b"} {
		n.submit(t, 3, tenant, "pay", "")
	}
	for after, want := range map[string][]string{"": {"", "a"}, "a": {"b", "c"}, "c": nil} {
		tenants, next, err := desk{n.Store}.Tenants(t.Context(), after, 2)
		if err != nil || !slices.Equal(tenants, want) || next >= 0 {
			t.Errorf("after %q: %q, next %s, %v, want %q and none", after, tenants, next, err, want)
		}
	}
}

func TestBacklogsAreAnsweredInPagesOfEachTenant(t *testing.T) {
	t.Parallel()
	n := newNode(t, pgtest.URL(t), "node")
	for _, tenant := range []string{"a", "b"} {
		n.submit(t, 3, tenant, "pay", "")
		n.submit(t, 3, tenant, "pay", "pay")
		n.submit(t, 3, tenant, "ship", "ship")
	}
	got, err := desk{n.Store}.Backlogs(t.Context(), []asyncop.Backlog{
		backlog("a", "", "", ""), backlog("b", "issuer", "ada", "pay"), backlog("none", "", "", ""),
	}, 2)
	want := []asyncop.Backlog{
		backlog("a", "issuer", "ada", ""), backlog("a", "issuer", "ada", "pay"), backlog("b", "issuer", "ada", "ship"),
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
}

func backlog(tenant, issuer, subject, lane string) asyncop.Backlog {
	return asyncop.Backlog{Submitter: asyncop.Submitter{Tenant: tenant, Issuer: issuer, Subject: subject}, Lane: lane}
}
