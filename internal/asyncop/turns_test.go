package asyncop_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"asyncgate/internal/asyncop"
)

// table is a queue in memory: due rows by backlog, and what runs.
type table struct {
	rows    map[asyncop.Backlog][]asyncop.Candidate
	running []asyncop.Candidate
	fault   func() error // of Within, nil: none
	claimed func()       // called before each Claim, nil: nothing
}

func newTable() *table { return &table{rows: map[asyncop.Backlog][]asyncop.Candidate{}} }

func backlog(tenant, subject, lane string) asyncop.Backlog {
	return asyncop.Backlog{Submitter: asyncop.Submitter{Tenant: tenant, Issuer: "issuer", Subject: subject}, Lane: lane}
}

func (m *table) queue(b asyncop.Backlog, count, priority int) {
	var mutations []string
	if b.Lane != "" {
		mutations = strings.Split(b.Lane, ",")
	}
	for range count {
		m.rows[b] = append(m.rows[b], asyncop.Candidate{
			ID: uuid.Must(uuid.NewV7()), Backlog: b, Mutations: mutations, Priority: priority,
		})
	}
}

func (m *table) queued() (n int) {
	for _, rows := range m.rows {
		n += len(rows)
	}
	return n
}

func before(a, b asyncop.Backlog) int {
	return cmp.Or(strings.Compare(a.Tenant, b.Tenant), strings.Compare(a.Subject, b.Subject), strings.Compare(a.Lane, b.Lane))
}

func (m *table) backlogs() (all []asyncop.Backlog) {
	for b, rows := range m.rows {
		if len(rows) > 0 {
			all = append(all, b)
		}
	}
	slices.SortFunc(all, before)
	return all
}

func (m *table) Tenants(_ context.Context, after string, limit int) (tenants []string, next time.Duration, err error) {
	for _, b := range m.backlogs() {
		if (after == "" || b.Tenant > after) && !slices.Contains(tenants[max(len(tenants)-1, 0):], b.Tenant) && len(tenants) < limit {
			tenants = append(tenants, b.Tenant)
		}
	}
	return tenants, -1, nil
}

func (m *table) Backlogs(_ context.Context, after []asyncop.Backlog, limit int) (page []asyncop.Backlog, err error) {
	of := map[string][]asyncop.Backlog{}
	for _, b := range m.backlogs() {
		of[b.Tenant] = append(of[b.Tenant], b)
	}
	for _, from := range after {
		beyond := slices.DeleteFunc(slices.Clone(of[from.Tenant]), func(b asyncop.Backlog) bool { return before(b, from) <= 0 })
		page = append(page, beyond[:min(limit, len(beyond))]...)
	}
	return page, nil
}

func (m *table) Within(ctx context.Context, _ asyncop.Intake, tenants []string, claim func(context.Context, asyncop.Transaction) ([]asyncop.Claim, error)) ([]asyncop.Claim, error) {
	if m.fault != nil {
		if err := m.fault(); err != nil {
			return nil, err
		}
	}
	return claim(ctx, m)
}

func (m *table) Running(_ context.Context, mutations map[string][]string) (map[string]asyncop.Tally, error) {
	tallies := map[string]asyncop.Tally{}
	for tenant := range mutations {
		tally := asyncop.Tally{Mutations: map[string]int{}}
		for _, row := range m.running {
			if row.Tenant != tenant {
				continue
			}
			tally.Running++
			for _, name := range row.Mutations {
				tally.Mutations[name]++
			}
		}
		tallies[tenant] = tally
	}
	return tallies, nil
}

func (m *table) Candidates(_ context.Context, turns []asyncop.Turn) (found []asyncop.Candidate, err error) {
	for _, turn := range turns {
		rows := m.rows[turn.Backlog]
		slices.SortStableFunc(rows, func(a, b asyncop.Candidate) int { return b.Priority - a.Priority })
		found = append(found, rows[:min(turn.Most, len(rows))]...)
	}
	return found, nil
}

func (m *table) Claim(_ context.Context, ids []uuid.UUID, moved []asyncop.Moved) (claims []asyncop.Claim, err error) {
	if m.claimed != nil {
		m.claimed()
	}
	if len(moved) > 0 {
		return nil, errors.New("this table has no lanes to move rows to")
	}
	chosen := map[uuid.UUID]bool{}
	for _, id := range ids {
		chosen[id] = true
	}
	for b, rows := range m.rows {
		m.rows[b] = slices.DeleteFunc(rows, func(row asyncop.Candidate) bool {
			if !chosen[row.ID] {
				return false
			}
			m.running = append(m.running, row)
			claims = append(claims, asyncop.Claim{Operation: asyncop.Operation{
				ID: row.ID, Tenant: row.Tenant, Issuer: row.Issuer, Subject: row.Subject, Mutations: row.Mutations,
			}})
			return true
		})
	}
	return claims, nil
}

// turning is Turns before a table.
type turning struct {
	*asyncop.Turns
	table *table
	room  asyncop.Room // of every tenant
}

func newTurning(room asyncop.Room) *turning {
	return &turning{Turns: asyncop.NewTurns(), table: newTable(), room: room}
}

// claim claims, and answers who was served, in no order.
func (x *turning) claim(t testing.TB, limit int) (served []asyncop.Submitter) {
	t.Helper()
	claimed, err := x.Turns.Claim(t.Context(), asyncop.Intake{
		Node: "node", Limit: limit, Room: func(string) asyncop.Room { return x.room },
	}, x.table)
	if err != nil {
		t.Fatal(err)
	}
	for _, claim := range claimed.Claims {
		served = append(served, claim.Operation.Submitter())
	}
	return served
}

// finish ends all that runs.
func (x *turning) finish() {
	for _, row := range x.table.running {
		x.Freed(row.Tenant)
	}
	x.table.running = nil
}

// submit queues rows and says so, as a store does after its commit.
func (x *turning) submit(b asyncop.Backlog, count, priority int) {
	x.table.queue(b, count, priority)
	x.Add(b)
}

// TestWhoSubmitsAgainAndAgainKeepsNoOneWaiting has more who wait than are read
// at a time, beside one who never stops.
func TestWhoSubmitsAgainAndAgainKeepsNoOneWaiting(t *testing.T) {
	t.Parallel()
	const waiting = 300
	x := newTurning(asyncop.Room{})
	for i := range waiting {
		x.table.queue(backlog("acme", fmt.Sprintf("s-%03d", i), ""), 1, 0)
	}
	served := map[asyncop.Submitter]bool{}
	for range 3 * waiting {
		x.submit(backlog("acme", "busy", ""), 1, 9)
		for _, who := range x.claim(t, 1) {
			served[who] = true
		}
		x.finish()
	}
	if len(served) != waiting+1 {
		t.Errorf("%d of %d were served", len(served)-1, waiting)
	}
}

// TestManyOfABoundMutationHideNobody has more of them than are read at a time,
// none of which may run.
func TestManyOfABoundMutationHideNobody(t *testing.T) {
	t.Parallel()
	x := newTurning(asyncop.Room{Mutations: map[string]int{"import": 1}})
	for i := range 300 {
		x.table.queue(backlog("acme", fmt.Sprintf("s-%03d", i), "import"), 1, 9)
	}
	x.table.queue(backlog("acme", "zoe", ""), 1, 0)
	if served := x.claim(t, 2); len(served) != 2 || !slices.ContainsFunc(served, func(s asyncop.Submitter) bool { return s.Subject == "zoe" }) {
		t.Errorf("served %v, want one of the bound mutation and the one beyond them all", served)
	}
}

// TestSubmittersShareTheRoomOfAMutation has one with a deep backlog of a higher
// priority.
func TestSubmittersShareTheRoomOfAMutation(t *testing.T) {
	t.Parallel()
	for _, bound := range []int{1, 2, 3} {
		x := newTurning(asyncop.Room{Mutations: map[string]int{"import": bound}})
		x.table.queue(backlog("acme", "ada", "import"), 100, 9)
		x.table.queue(backlog("acme", "grace", "import"), 100, 0)
		served := map[string]int{}
		for range 12 {
			for _, who := range x.claim(t, 10) {
				served[who.Subject]++
			}
			x.finish()
		}
		if d := served["ada"] - served["grace"]; served["ada"]+served["grace"] != 12*bound || d < -1 || d > 1 {
			t.Errorf("bound %d: served %v", bound, served)
		}
	}
}

func TestWhatHasRoomIsClaimedAtOnceThoughTheRestHasNone(t *testing.T) {
	t.Parallel()
	x := newTurning(asyncop.Room{Mutations: map[string]int{"import": 1}})
	x.submit(backlog("acme", "ada", "import"), 5, 4)
	if served := x.claim(t, 10); len(served) != 1 {
		t.Fatalf("served %v", served)
	}
	x.submit(backlog("acme", "ada", ""), 1, 4)
	if served := x.claim(t, 10); len(served) != 1 {
		t.Errorf("served %v, want the one that has room", served)
	}
	x.table.queue(backlog("acme", "grace", ""), 1, 4) // by another node
	x.Doubt()
	if served := x.claim(t, 10); len(served) != 1 {
		t.Errorf("served %v, want the one that another node took", served)
	}
}

func TestWhatComesWhileAClaimIsUnderWayIsNotForgotten(t *testing.T) {
	t.Parallel()
	x := newTurning(asyncop.Room{})
	x.submit(backlog("acme", "ada", ""), 1, 4)
	x.table.claimed = func() {
		x.table.claimed = nil
		x.submit(backlog("acme", "ada", ""), 1, 4) // after its rows were looked at
	}
	for range 2 {
		x.claim(t, 1)
	}
	if n := x.table.queued(); n != 0 {
		t.Errorf("%d rows are left", n)
	}
}

func TestAFaultKeepsWhatWasClaimedBefore(t *testing.T) {
	t.Parallel()
	x := newTurning(asyncop.Room{})
	x.submit(backlog("acme", "ada", ""), 1, 4)
	x.submit(backlog("acme", "grace", ""), 5, 4)
	rounds := 0
	x.table.fault = func() error {
		if rounds++; rounds > 1 {
			return errors.New("away")
		}
		return nil
	}
	if served := x.claim(t, 6); len(served) != 4 { // three were dealt to each
		t.Errorf("served %d", len(served))
	}
	if _, err := x.Turns.Claim(t.Context(), asyncop.Intake{Node: "node", Limit: 6}, x.table); err == nil {
		t.Error("a fault that kept everything from being claimed is hidden")
	}
}

func TestManyTenantsGetEqualShares(t *testing.T) {
	t.Parallel()
	const tenants = 1500 // more than one look finds
	x := newTurning(asyncop.Room{})
	for i := range tenants {
		x.table.queue(backlog(fmt.Sprintf("t-%04d", i), "ada", ""), 5+i%50, 4)
	}
	shares := map[string]int{}
	for range 30 {
		x.Doubt()
		for _, who := range x.claim(t, 200) {
			shares[who.Tenant]++
		}
	}
	for tenant, n := range shares {
		if n < 3 || n > 5 {
			t.Errorf("%s got %d of 6,000, want 4", tenant, n)
		}
	}
	if len(shares) != tenants {
		t.Errorf("%d of %d tenants got something", len(shares), tenants)
	}
}

// TestEveryRowIsClaimedWithinItsBounds claims from queues of any shape until
// they are empty, which must not take more claims than there are rows.
func TestEveryRowIsClaimedWithinItsBounds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		x := newTurning(asyncop.Room{
			Running:   rapid.IntRange(0, 4).Draw(t, "running"),
			Mutations: map[string]int{"import": rapid.IntRange(1, 3).Draw(t, "import"), "export": 1},
		})
		lanes := []string{"", "import", "export", "export,import"}
		for range rapid.IntRange(1, 3).Draw(t, "groups") {
			tenant, lane := fmt.Sprint(rapid.IntRange(0, 3).Draw(t, "tenant")), rapid.SampledFrom(lanes).Draw(t, "lane")
			for i := range rapid.SampledFrom([]int{1, 2, 2, 70}).Draw(t, "submitters") {
				x.table.queue(backlog(tenant, fmt.Sprint("s-", i), lane), rapid.IntRange(1, 2).Draw(t, "rows"), rapid.IntRange(0, 9).Draw(t, "priority"))
			}
		}
		for left := 2*x.table.queued() + 10; x.table.queued() > 0; left-- {
			if left == 0 {
				t.Fatalf("%d rows are never claimed: %v", x.table.queued(), x.table.backlogs())
			}
			claimed, err := x.Turns.Claim(context.Background(), asyncop.Intake{
				Node: "node", Limit: rapid.IntRange(1, 20).Draw(t, "limit"), Look: true, Room: func(string) asyncop.Room { return x.room },
			}, x.table)
			if err != nil {
				t.Fatal(err)
			}
			x.withinBounds(t)
			if len(claimed.Claims) > 0 || rapid.Bool().Draw(t, "end") {
				x.finish()
			}
		}
	})
}

func (x *turning) withinBounds(t *rapid.T) {
	tenants := map[string][]string{}
	for _, row := range x.table.running {
		tenants[row.Tenant] = nil
	}
	tallies, _ := x.table.Running(context.Background(), tenants) // it never fails
	for tenant, tally := range tallies {
		if x.room.Running > 0 && tally.Running > x.room.Running {
			t.Fatalf("%d of %s run, want %d at most", tally.Running, tenant, x.room.Running)
		}
		for name, most := range x.room.Mutations {
			if tally.Mutations[name] > most {
				t.Fatalf("%d of %s run, want %d at most", tally.Mutations[name], name, most)
			}
		}
	}
}

func BenchmarkAddToALongLine(b *testing.B) {
	turns := asyncop.NewTurns()
	backlogs := make([]asyncop.Backlog, 1024)
	for i := range backlogs {
		backlogs[i] = backlog("acme", fmt.Sprint("subject-", i), "")
	}
	turns.Add(backlogs...)
	for i := 0; b.Loop(); i++ {
		turns.Add(backlogs[i%len(backlogs)])
	}
}

func BenchmarkClaimOfAThousandTenants(b *testing.B) {
	for _, limit := range []int{1, 256} {
		b.Run(fmt.Sprint("Limit=", limit), func(b *testing.B) {
			x := newTurning(asyncop.Room{})
			for i := range 1000 {
				x.Add(backlog(fmt.Sprint("t-", i), "ada", ""))
			}
			desk := endless{x.table}
			for b.Loop() {
				if _, err := x.Turns.Claim(b.Context(), asyncop.Intake{Node: "node", Limit: limit}, desk); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// endless is a table whose backlogs have always as many rows as are asked for.
type endless struct{ *table }

func (e endless) Within(ctx context.Context, _ asyncop.Intake, _ []string, claim func(context.Context, asyncop.Transaction) ([]asyncop.Claim, error)) ([]asyncop.Claim, error) {
	return claim(ctx, e)
}

func (endless) Candidates(_ context.Context, turns []asyncop.Turn) (found []asyncop.Candidate, err error) {
	for _, turn := range turns {
		for range turn.Most {
			found = append(found, asyncop.Candidate{Backlog: turn.Backlog})
		}
	}
	return found, nil
}

func (endless) Claim(_ context.Context, ids []uuid.UUID, _ []asyncop.Moved) ([]asyncop.Claim, error) {
	return make([]asyncop.Claim, len(ids)), nil
}
