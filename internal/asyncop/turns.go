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

// Compare orders backlogs as the index of due rows does.
func (b Backlog) Compare(other Backlog) int {
	return slices.Compare(
		[]string{b.Tenant, b.Issuer, b.Subject, b.Lane},
		[]string{other.Tenant, other.Issuer, other.Subject, other.Lane})
}

// The bounds of what a store keeps in memory of its backlogs; what is beyond
// them is found in the database when its turn comes.
const (
	mostTenants    = 4096
	mostSubmitters = 1024 // of one tenant
)

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
	fullUntil  time.Time
	fullFor    Room // the bounds that it was full for
	freed      bool // room was made after its last round began
	// more: the database has submitters beyond after, which have not been
	// read. Those that were read leave the line with their turn.
	more  bool
	after Backlog
}

// stand is a submitter's place in its tenant's line.
type stand struct {
	Submitter
	lanes []string
	added bool // something was added after its last turn began
}

// NewTurns makes the memory of a store that was just opened: the first claim
// looks.
func NewTurns() *Turns { return &Turns{tenants: map[string]*line{}, doubt: true} }

// Add notes backlogs that have, or may have, something due.
func (t *Turns) Add(backlogs ...Backlog) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, b := range backlogs {
		t.add(b)
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
			l.fullUntil, l.freed = time.Time{}, true
		}
	}
}

// add needs mu.
func (t *Turns) add(b Backlog) {
	l := t.tenants[b.Tenant]
	if l == nil {
		if len(t.lines) >= mostTenants {
			t.doubt = true
			return
		}
		l = &line{tenant: b.Tenant}
		t.tenants[b.Tenant] = l
		t.lines = append(t.lines, l)
	}
	l.add(b)
}

func (l *line) add(b Backlog) {
	at := slices.IndexFunc(l.submitters, func(s *stand) bool { return s.Submitter == b.Submitter })
	switch {
	case at >= 0:
		s := l.submitters[at]
		if s.added = true; !slices.Contains(s.lanes, b.Lane) {
			s.lanes = append(s.lanes, b.Lane)
		}
	case len(l.submitters) >= mostSubmitters:
		l.more = true
	default:
		l.submitters = append(l.submitters, &stand{Submitter: b.Submitter, lanes: []string{b.Lane}})
	}
}

// drop forgets a backlog that was found empty, unless something was added to it
// meanwhile. It needs mu.
func (t *Turns) drop(b Backlog) bool {
	l := t.tenants[b.Tenant]
	if l == nil {
		return false
	}
	at := slices.IndexFunc(l.submitters, func(s *stand) bool { return s.Submitter == b.Submitter })
	if at < 0 || l.submitters[at].added {
		return false
	}
	s := l.submitters[at]
	s.lanes = slices.DeleteFunc(s.lanes, func(lane string) bool { return lane == b.Lane })
	if len(s.lanes) == 0 {
		l.submitters = slices.Delete(l.submitters, at, at+1)
	}
	t.leave(l)
	return true
}

// leave takes a line away that has no one in it, and no one to come. It needs
// mu.
func (t *Turns) leave(l *line) {
	if len(l.submitters) == 0 && !l.more {
		delete(t.tenants, l.tenant)
		t.lines = slices.DeleteFunc(t.lines, func(other *line) bool { return other == l })
	}
}
