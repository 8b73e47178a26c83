package storetest

import (
	"errors"
	"testing"

	"github.com/google/uuid"

	"asyncgate/internal/asyncop"
)

var scopeRules = map[string]rule{
	"AStrangersOperationIsNotFound": strangersOperation,
	"WhoeverIsInScopeReachesIt":     whoeverIsInScope,
	"RevisionsKnowsWhatExists":      revisionsKnowsWhatExists,
}

// strangers are the scopes that do not reach an operation of ada's at acme.
var strangers = map[string]asyncop.Scope{
	"another subject":                     asyncop.SubmitterScope(tenant, issuer, "grace"),
	"another tenant":                      asyncop.SubmitterScope("globex", issuer, subject),
	"the same subject of another issuer":  asyncop.SubmitterScope(tenant, "https://other.example/", subject),
	"an admin of other tenants":           asyncop.TenantsScope("globex", "initech"),
	"an admin of no tenant":               asyncop.TenantsScope(),
	"the zero scope":                      {},
	"a subject that looks like a pattern": asyncop.SubmitterScope(tenant, issuer, "%"),
}

func strangersOperation(t *testing.T, f fixture) {
	op := f.submit(t)
	for name, scope := range strangers {
		if _, err := f.store.Get(t.Context(), scope, op.ID); !errors.Is(err, asyncop.ErrNotFound) {
			t.Errorf("get as %s: %v, want ErrNotFound", name, err)
		}
		if _, err := f.store.Cancel(t.Context(), scope, op.ID); !errors.Is(err, asyncop.ErrNotFound) {
			t.Errorf("cancel as %s: %v, want ErrNotFound", name, err)
		}
		page, err := f.store.List(t.Context(), asyncop.List{Scope: scope, First: 10})
		if err != nil || len(page.Operations) != 0 || page.HasNext {
			t.Errorf("list as %s: %d operations, %v", name, len(page.Operations), err)
		}
	}
	expect(t, "untouched", f.get(t, op.ID), op)

	absent := uuid.Must(uuid.NewV7())
	for _, scope := range []asyncop.Scope{ada, everything} {
		if _, err := f.store.Get(t.Context(), scope, absent); !errors.Is(err, asyncop.ErrNotFound) {
			t.Errorf("get an absent one: %v, want ErrNotFound", err)
		}
		if _, err := f.store.Cancel(t.Context(), scope, absent); !errors.Is(err, asyncop.ErrNotFound) {
			t.Errorf("cancel an absent one: %v, want ErrNotFound", err)
		}
	}
}

func whoeverIsInScope(t *testing.T, f fixture) {
	op := f.submit(t)
	untenanted := f.submit(t, func(s *asyncop.Submission) { s.Tenant = "" })
	reached := []struct {
		scope asyncop.Scope
		op    asyncop.Operation
	}{
		{ada, op},
		{asyncop.TenantsScope("globex", tenant), op},
		{everything, op},
		{asyncop.SubmitterScope("", issuer, subject), untenanted},
	}
	for _, r := range reached {
		read, err := f.store.Get(t.Context(), r.scope, r.op.ID)
		if err != nil {
			t.Errorf("get in %+v: %v", r.scope, err)
		}
		expect(t, "read", read, r.op)
		if !r.scope.Reaches(read) {
			t.Errorf("the store reaches what %+v does not", r.scope)
		}
		page, err := f.store.List(t.Context(), asyncop.List{Scope: r.scope, Filter: asyncop.Filter{Submitter: subject}, First: 10})
		if err != nil || !holds(page, r.op.ID) {
			t.Errorf("list in %+v: %d operations, %v", r.scope, len(page.Operations), err)
		}
	}
}

func holds(page asyncop.Page, id uuid.UUID) bool {
	for _, op := range page.Operations {
		if op.ID == id {
			return true
		}
	}
	return false
}

func revisionsKnowsWhatExists(t *testing.T, f fixture) {
	op := f.submit(t)
	claim := f.claimOne(t)
	revisions, err := f.store.Revisions(t.Context(), []uuid.UUID{op.ID, uuid.Must(uuid.NewV7()), op.ID})
	if err != nil {
		t.Fatal(err)
	}
	expect(t, "revisions", revisions, map[uuid.UUID]int64{op.ID: claim.Operation.Revision})
}
