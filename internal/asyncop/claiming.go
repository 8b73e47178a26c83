package asyncop

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"
)

// Desk is a store's part in its claims: what Turns asks of the database.
type Desk interface {
	// Tenants makes the rows due whose time has come, and answers up to limit
	// tenants that have due rows, by name, after the one named; from the first
	// one for "" (which may be a tenant itself and is then in the answer). Next
	// is how long until another row comes due, negative where none will.
	Tenants(ctx context.Context, after string, limit int) (tenants []string, next time.Duration, err error)
	// Backlogs answers up to limit backlogs of each tenant, in order, that
	// come after the one given for it.
	Backlogs(ctx context.Context, after []Backlog, limit int) ([]Backlog, error)
	// Within runs claim in one transaction, in which no other may claim of
	// these tenants. What it returns is what claim returned, once it is
	// durable.
	Within(ctx context.Context, intake Intake, tenants []string, claim func(context.Context, Transaction) ([]Claim, error)) ([]Claim, error)
}

// Transaction is a claim under way.
type Transaction interface {
	// Running counts what runs of each tenant, and of each mutation that is
	// named for it, on all nodes: as it is now that no one else can claim. It
	// answers nothing where the node may not claim.
	Running(ctx context.Context, mutations map[string][]string) (map[string]Tally, error)
	// Candidates locks up to Most due rows for each turn, by priority,
	// notBefore, id. It passes over rows that someone else has locked.
	Candidates(ctx context.Context, turns []Turn) ([]Candidate, error)
	// Claim moves rows from QUEUED to RUNNING, and others to their lane.
	Claim(ctx context.Context, ids []uuid.UUID, moved []Moved) ([]Claim, error)
}

const (
	// lookEvery is how often a claim looks for what it was not told of.
	lookEvery = time.Second
	// lookTenants and lookBacklogs bound one look.
	lookTenants  = 1000
	lookBacklogs = 1600
	// pageBacklogs is how many backlogs of one tenant are read at a time.
	pageBacklogs = 64
	// spareTenants are locked beside those that a claim needs, since some may
	// have no room.
	spareTenants = 4
	// roundTenants bounds how many are locked at a time.
	roundTenants = 512
	// mostRounds bounds one claim; what is left is left for the next.
	mostRounds = 64
)

// Claim claims at a desk until intake's limit is reached or nothing more may
// be taken. An error is answered only where nothing was claimed.
func (t *Turns) Claim(ctx context.Context, intake Intake, desk Desk) (Claimed, error) {
	t.claiming.Lock()
	defer t.claiming.Unlock()
	r := &rounds{turns: t, intake: intake, desk: desk}
	for range mostRounds {
		more, err := r.next(ctx)
		if err != nil && len(r.claims) == 0 {
			return Claimed{}, err
		}
		if err != nil || !more {
			break
		}
	}
	left, next := t.left()
	return Claimed{Claims: r.claims, Left: left, Next: next}, nil
}

// rounds is one claim: as many transactions as it takes.
type rounds struct {
	turns  *Turns
	intake Intake
	desk   Desk
	claims []Claim
	looked bool
	tried  int // tenants in the last round that claimed nothing
}

// next makes one round, and reports whether another may find more.
func (r *rounds) next(ctx context.Context) (more bool, err error) {
	want := r.intake.Limit - len(r.claims)
	if want <= 0 {
		return false, nil
	}
	if r.turns.mustLook(r.intake.Look && !r.looked) {
		r.looked = true
		if err := r.turns.look(ctx, r.desk); err != nil {
			return false, err
		}
	}
	if err := r.turns.refill(ctx, r.desk); err != nil {
		return false, err
	}
	tenants := r.turns.next(min(max(want, 2*r.tried)+spareTenants, roundTenants), r.intake.room)
	if len(tenants) == 0 {
		return r.lookAgain(), nil
	}
	before := len(r.claims)
	changed, err := r.round(ctx, want, tenants)
	if r.tried = 0; len(r.claims) == before {
		r.tried = len(tenants)
	}
	return changed || r.lookAgain(), err
}

// lookAgain makes the next round look, once, where nothing was found so far.
func (r *rounds) lookAgain() bool {
	if r.looked || len(r.claims) > 0 {
		return false
	}
	r.intake.Look = true
	return true
}

// round claims up to want rows of these tenants in one transaction. It reports
// whether another round would do something else.
func (r *rounds) round(ctx context.Context, want int, tenants []string) (changed bool, err error) {
	var turns []Turn
	var c choice
	rooms := map[string]*space{}
	claims, err := r.desk.Within(ctx, r.intake, tenants, func(ctx context.Context, tx Transaction) ([]Claim, error) {
		running, err := tx.Running(ctx, r.bounded(tenants))
		if err != nil || len(running) == 0 {
			return nil, err
		}
		for tenant, tally := range running {
			rooms[tenant] = r.intake.room(tenant).without(tally)
		}
		turns = r.turns.deal(want, rooms)
		if len(turns) == 0 {
			return nil, nil
		}
		found, err := tx.Candidates(ctx, turns)
		if err != nil {
			return nil, err
		}
		c = choose(turns, found, r.intake.room, rooms)
		return tx.Claim(ctx, c.ids, c.moved)
	})
	if err != nil {
		return false, err
	}
	r.claims = append(r.claims, claims...)
	for _, m := range c.moved {
		r.turns.Add(m.Backlog)
	}
	taken := map[string]int{}
	for _, claim := range claims {
		taken[claim.Operation.Tenant]++
	}
	dropped := r.turns.served(turns, c)
	full := r.turns.full(rooms, taken, r.intake.room)
	return full || dropped || len(c.moved) > 0 || len(claims) > 0, nil
}

// bounded is the mutations to count, by tenant.
func (r *rounds) bounded(tenants []string) map[string][]string {
	bounded := make(map[string][]string, len(tenants))
	for _, tenant := range tenants {
		bounded[tenant] = r.intake.room(tenant).bounded()
	}
	return bounded
}

// left reports whether anyone stands in line, and how long it is until another
// row is known to come due.
func (t *Turns) left() (bool, time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	next := time.Duration(-1)
	if !t.due.IsZero() {
		next = max(time.Until(t.due), 0)
	}
	return len(t.lines) > 0, next
}

// mustLook reports whether to look, and takes the doubt away: what comes after
// raises it anew.
func (t *Turns) mustLook(asked bool) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	must := asked || t.doubt || now.Sub(t.looked) >= lookEvery || (!t.due.IsZero() && !now.Before(t.due))
	if must {
		t.doubt, t.looked, t.due = false, now, time.Time{}
	}
	return must
}

// look reads who has due rows.
func (t *Turns) look(ctx context.Context, desk Desk) error {
	t.mu.Lock()
	from := t.from
	t.mu.Unlock()
	tenants, next, err := desk.Tenants(ctx, from, lookTenants)
	if err != nil {
		t.Doubt()
		return err
	}
	if next >= 0 {
		t.DueIn(next)
	}
	t.mu.Lock()
	if t.from = ""; len(tenants) == lookTenants {
		t.from = tenants[len(tenants)-1]
	}
	after := make([]Backlog, 0, len(tenants))
	for _, tenant := range tenants {
		if l := t.tenants[tenant]; l == nil || !l.more {
			after = append(after, Backlog{Submitter: Submitter{Tenant: tenant}})
		}
	}
	t.mu.Unlock()
	return t.read(ctx, desk, after)
}

// refill reads on in the lines that have come to the end of what was read.
func (t *Turns) refill(ctx context.Context, desk Desk) error {
	t.mu.Lock()
	var after []Backlog
	for _, l := range t.lines {
		if l.more && !slices.ContainsFunc(l.submitters, func(s *stand) bool { return s.paged }) {
			l.after.Tenant = l.tenant
			after = append(after, l.after)
		}
	}
	t.mu.Unlock()
	return t.read(ctx, desk, after)
}

// read adds a page of backlogs to each line.
func (t *Turns) read(ctx context.Context, desk Desk, after []Backlog) error {
	if len(after) == 0 {
		return nil
	}
	page := max(1, min(pageBacklogs, lookBacklogs/len(after)))
	backlogs, err := desk.Backlogs(ctx, after, page)
	if err != nil {
		t.Doubt()
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	read := map[string]int{}
	for _, b := range backlogs {
		read[b.Tenant]++
		l := t.line(b.Tenant)
		s, fresh := l.add(b)
		if s.paged = true; fresh && l.fullOf != nil && l.fullOf.admits(b.Lane) {
			l.stir()
		}
		if read[b.Tenant] == page {
			l.more, l.after = true, b
		}
	}
	for _, b := range after {
		l := t.tenants[b.Tenant]
		if l == nil || read[b.Tenant] == page {
			continue
		}
		if l.more { // what has come to the front meanwhile is found by another look
			t.doubt = true
		}
		l.more, l.after = false, Backlog{}
		t.leave(l)
	}
	return nil
}
