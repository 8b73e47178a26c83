package asyncop

import (
	"slices"
	"sync"
	"time"
)

// Submitter is who submits: a subject of an issuer, in a tenant.
type Submitter struct{ Tenant, Issuer, Subject string }

// Submitter is who submitted the operation.
func (o Operation) Submitter() Submitter { return Submitter{o.Tenant, o.Issuer, o.Subject} }

// Backlog is the due rows of one submitter in one lane. A lane is "" or, where
// the concurrency of mutations is bounded, their names with commas between: so
// that what may not run now is never in the way of what may.
type Backlog struct {
	Submitter
	Lane string
}

// mostSubmitters bounds whom a store remembers of one tenant of its own accord;
// those beyond are read from the database when their turn comes.
const mostSubmitters = 1024

// fullFor is how long a tenant without room is passed over, unless one of its
// operations ends here before.
const fullFor = 250 * time.Millisecond

// Turns remembers who has a backlog, and whose turn it is. It is a store's
// memory of its own queue: the rows are the truth, so a backlog that is not
// there is dropped when it is found empty, and one that it has not heard of is
// found by looking. It is safe for concurrent use, and only Claim does I/O.
type Turns struct {
	claiming sync.Mutex // held by Claim

	mu      sync.Mutex
	lines   []*line          // guarded by mu; the first tenant is next
	tenants map[string]*line // guarded by mu
	doubt   bool             // guarded by mu: there may be backlogs that it has not heard of
	looked  time.Time        // guarded by mu
	due     time.Time        // guarded by mu: when the next row comes due, zero where none is known
	from    string           // guarded by mu: the tenant after which the next look begins
}

// line is a tenant's submitters.
type line struct {
	tenant     string
	submitters []*stand // the first is next
	by         map[Submitter]*stand
	fullUntil  time.Time
	fullFor    Room   // the bounds that it was full for
	fullOf     *space // the room that it had left then, nil for none
	// stirred: since its last round began, room was made or a lane has come.
	stirred bool
	// more: the database has submitters beyond after, which have not been read.
	// Those of the page that was read leave the line with their turn, and the
	// next page is read once none of them is left.
	more  bool
	after Backlog
	// passSince is when pages began to be turned for want of room.
	passSince time.Time
}

// stand is a submitter's place in its tenant's line.
type stand struct {
	Submitter
	lanes []string
	added bool // something was added after its last turn began
	paged bool // it was read, and has had no turn since
}

// NewTurns makes the memory of a store that was just opened: the first claim
// looks.
func NewTurns() *Turns { return &Turns{tenants: map[string]*line{}, doubt: true} }

// Add notes backlogs that have, or may have, something due.
func (t *Turns) Add(backlogs ...Backlog) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, b := range backlogs {
		l := t.line(b.Tenant)
		if len(l.submitters) >= mostSubmitters && l.by[b.Submitter] == nil {
			l.more = true
			continue
		}
		if _, fresh := l.add(b); fresh {
			l.stir()
		}
	}
}

// DueIn notes that a row comes due then.
func (t *Turns) DueIn(in time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if at := time.Now().Add(in); t.due.IsZero() || at.Before(t.due) {
		t.due = at
	}
}

// Doubt makes the next claim look: another node may have added something.
func (t *Turns) Doubt() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.doubt = true
}

// Freed notes that operations of these tenants have ended: there may be room
// again.
func (t *Turns) Freed(tenants ...string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, tenant := range tenants {
		if l := t.tenants[tenant]; l != nil {
			l.stir()
		}
	}
}

// line is a tenant's, a new one at the end where it has none. It needs mu.
func (t *Turns) line(tenant string) *line {
	l := t.tenants[tenant]
	if l == nil {
		l = &line{tenant: tenant, by: map[Submitter]*stand{}}
		t.tenants[tenant] = l
		t.lines = append(t.lines, l)
	}
	return l
}

// add puts a backlog in line, and answers its submitter's place, and whether the
// lane is new there.
func (l *line) add(b Backlog) (s *stand, fresh bool) {
	if s = l.by[b.Submitter]; s == nil {
		s = &stand{Submitter: b.Submitter}
		l.by[b.Submitter] = s
		l.submitters = append(l.submitters, s)
	}
	s.added = true
	if slices.Contains(s.lanes, b.Lane) {
		return s, false
	}
	s.lanes = append(s.lanes, b.Lane)
	return s, true
}

// stir makes the line be looked at though it was full a moment ago.
func (l *line) stir() { l.fullUntil, l.stirred = time.Time{}, true }

// remove takes a submitter out of the line.
func (l *line) remove(s *stand) {
	delete(l.by, s.Submitter)
	l.submitters = slices.DeleteFunc(l.submitters, func(other *stand) bool { return other == s })
}

// leave takes a line away that has no one in it, and no one to come. It needs
// mu.
func (t *Turns) leave(l *line) {
	if len(l.submitters) == 0 && !l.more {
		delete(t.tenants, l.tenant)
		t.lines = slices.DeleteFunc(t.lines, func(other *line) bool { return other == l })
	}
}
