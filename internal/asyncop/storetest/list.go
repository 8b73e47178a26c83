package storetest

import (
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"asyncgate/internal/asyncop"
)

var listRules = map[string]rule{
	"PagesAreNewestFirstWithoutGapOrRepeat": pages,
	"PagesStayInScope":                      pagesStayInScope,
	"EachFilterNarrows":                     eachFilterNarrows,
	"HasNextIsExact":                        hasNextIsExact,
	"ACursorSurvivesItsText":                cursorSurvives,
	"TenantsShareOnePage":                   tenantsShareOnePage,
}

// walk reads a list to its end in pages of first.
func (f fixture) walk(t *testing.T, list asyncop.List) []asyncop.Operation {
	t.Helper()
	var all []asyncop.Operation
	for {
		page, err := f.store.List(t.Context(), list)
		if err != nil {
			t.Fatalf("list: %v", err)
		}
		if len(page.Operations) > list.First {
			t.Fatalf("a page of %d, asked for %d", len(page.Operations), list.First)
		}
		all = append(all, page.Operations...)
		if !page.HasNext {
			return all
		}
		if len(page.Operations) == 0 {
			t.Fatal("an empty page that has a next")
		}
		after := asyncop.CursorOf(page.Operations[len(page.Operations)-1])
		list.After = &after
	}
}

func newestFirst(a, b asyncop.Operation) int {
	if byTime := b.CreatedAt.Compare(a.CreatedAt); byTime != 0 {
		return byTime
	}
	return slices.Compare(b.ID[:], a.ID[:])
}

func idsOf(ops []asyncop.Operation) []uuid.UUID {
	ids := make([]uuid.UUID, len(ops))
	for i, op := range ops {
		ids[i] = op.ID
	}
	return ids
}

// pages submits in batches, so that many rows share one creation time.
func pages(t *testing.T, f fixture) {
	var want []asyncop.Operation
	for range 4 {
		for _, s := range f.submitAll(t, submission(), submission(), submission(), submission(), submission()) {
			want = append(want, s.Operation)
		}
	}
	slices.SortFunc(want, newestFirst)
	for _, first := range []int{1, 3, 7, 20, 100} {
		got := f.walk(t, asyncop.List{Scope: ada, First: first})
		expect(t, "ids", idsOf(got), idsOf(want))
	}
	expect(t, "operations", f.walk(t, asyncop.List{Scope: everything, First: 6}), want)
}

func pagesStayInScope(t *testing.T, f fixture) {
	var mine []uuid.UUID
	for range 5 {
		f.submitAll(t, submission(ofGrace), submission(ofGlobex), submission(ofOtherIDP))
		mine = append(mine, f.submit(t).ID)
	}
	slices.Reverse(mine)
	expect(t, "mine", idsOf(f.walk(t, asyncop.List{Scope: ada, First: 2})), mine)
	expect(t, "the tenant's", len(f.walk(t, asyncop.List{Scope: asyncop.TenantsScope(tenant), First: 4})), 15)
	expect(t, "all", len(f.walk(t, asyncop.List{Scope: everything, First: 3})), 20)
}

func tenantsShareOnePage(t *testing.T, f fixture) {
	var want []asyncop.Operation
	for range 4 {
		want = append(want, f.submit(t), f.submit(t, ofGlobex))
		f.submit(t, func(s *asyncop.Submission) { s.Tenant = "initech" })
	}
	slices.SortFunc(want, newestFirst)
	scope := asyncop.TenantsScope("globex", tenant)
	expect(t, "both tenants'", idsOf(f.walk(t, asyncop.List{Scope: scope, First: 3})), idsOf(want))
	twice := asyncop.TenantsScope(tenant, "globex", tenant)
	expect(t, "a tenant named twice", idsOf(f.walk(t, asyncop.List{Scope: twice, First: 3})), idsOf(want))
}

func eachFilterNarrows(t *testing.T, f fixture) {
	plain := f.submit(t)
	special := f.submit(t, ofGrace, keyed, func(s *asyncop.Submission) {
		s.Label = "nightly"
		s.Mutations = []string{"generateReport", "importCatalog"}
	})
	f.cancelIn(t, everything, special.ID)

	both := []uuid.UUID{special.ID, plain.ID}
	filters := []struct {
		name   string
		filter asyncop.Filter
		want   []uuid.UUID
	}{
		{"none", asyncop.Filter{}, both},
		{"one state", asyncop.Filter{States: []asyncop.State{asyncop.Cancelled}}, []uuid.UUID{special.ID}},
		{"two states", asyncop.Filter{States: []asyncop.State{asyncop.Cancelled, asyncop.Queued}}, both},
		{"a state of none", asyncop.Filter{States: []asyncop.State{asyncop.Running}}, []uuid.UUID{}},
		{"the first mutation", asyncop.Filter{Mutation: "generateReport"}, both},
		{"the second mutation", asyncop.Filter{Mutation: "importCatalog"}, []uuid.UUID{special.ID}},
		{"part of a mutation", asyncop.Filter{Mutation: "import"}, []uuid.UUID{}},
		{"label", asyncop.Filter{Label: "nightly"}, []uuid.UUID{special.ID}},
		{"key", asyncop.Filter{IdempotencyKey: "key-1"}, []uuid.UUID{special.ID}},
		{"submitter", asyncop.Filter{Submitter: subject}, []uuid.UUID{plain.ID}},
		{"all at once", asyncop.Filter{
			States: []asyncop.State{asyncop.Cancelled}, Mutation: "importCatalog",
			Label: "nightly", IdempotencyKey: "key-1", Submitter: "grace",
		}, []uuid.UUID{special.ID}},
		{"two that exclude each other", asyncop.Filter{Label: "nightly", Submitter: subject}, []uuid.UUID{}},
	}
	for _, c := range filters {
		for _, scope := range []asyncop.Scope{everything, asyncop.TenantsScope(tenant)} {
			got := f.walk(t, asyncop.List{Scope: scope, Filter: c.filter, First: 1})
			expect(t, c.name, idsOf(got), c.want)
		}
	}
	mine := f.walk(t, asyncop.List{Scope: ada, Filter: asyncop.Filter{Label: "nightly"}, First: 10})
	expect(t, "a stranger's label", len(mine), 0)
}

func hasNextIsExact(t *testing.T, f fixture) {
	f.submitAll(t, submission(), submission(), submission())
	for first, want := range map[int]bool{2: true, 3: false, 4: false} {
		page, err := f.store.List(t.Context(), asyncop.List{Scope: ada, First: first})
		if err != nil || page.HasNext != want {
			t.Errorf("first %d of 3: HasNext %v, %v", first, page.HasNext, err)
		}
	}
}

func cursorSurvives(t *testing.T, f fixture) {
	f.submitAll(t, submission(), submission())
	newest := f.walk(t, asyncop.List{Scope: ada, First: 2})
	cursor, err := asyncop.ParseCursor(asyncop.CursorOf(newest[0]).String())
	if err != nil {
		t.Fatal(err)
	}
	rest := f.walk(t, asyncop.List{Scope: ada, After: &cursor, First: 2})
	expect(t, "after the newest", idsOf(rest), idsOf(newest[1:]))

	ancient := asyncop.Cursor{CreatedAt: time.UnixMicro(0)}
	expect(t, "before all", len(f.walk(t, asyncop.List{Scope: ada, After: &ancient, First: 2})), 0)
	latest := asyncop.Cursor{CreatedAt: time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC), ID: uuid.Max}
	expect(t, "after the end of time", len(f.walk(t, asyncop.List{Scope: ada, After: &latest, First: 2})), 2)
}
