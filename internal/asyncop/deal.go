package asyncop

import (
	"slices"
	"time"
)

// Turn is what one submitter may take now from one of its lanes. The lanes of
// a submitter share its turn.
type Turn struct {
	Backlog
	// Most is the most rows that are wanted, of all its lanes together.
	Most int
}

// next answers up to n tenants whose turn it is, those that are closed or were
// full a moment ago left out.
func (t *Turns) next(n int, room func(tenant string) Room) []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	var tenants []string
	for _, l := range t.lines {
		if len(tenants) == n {
			break
		}
		if len(l.submitters) == 0 {
			continue
		}
		bounds := room(l.tenant)
		if !bounds.Closed && (now.After(l.fullUntil) || !bounds.sameAs(l.fullFor)) {
			tenants = append(tenants, l.tenant)
			l.stirred = false
		}
	}
	return tenants
}

// deal gives up to limit turns to the tenants that have room, one each until
// none is left, and in each to its submitters, one each. Who got one goes to
// the end of the line.
func (t *Turns) deal(limit int, rooms map[string]*space) []Turn {
	t.mu.Lock()
	defer t.mu.Unlock()
	dealt := map[*stand]int{}
	var order []*stand
	for given := true; given && limit > 0; {
		given = false
		for _, l := range slices.Clone(t.lines) {
			room := rooms[l.tenant]
			if room == nil || room.left <= 0 || limit == 0 {
				continue
			}
			s := l.first(room)
			if s == nil {
				continue
			}
			if dealt[s] == 0 {
				order = append(order, s)
			}
			dealt[s]++
			s.added = false
			room.left--
			limit--
			given = true
			toEnd(t.lines, l)
			toEnd(l.submitters, s)
		}
	}
	return turnsOf(order, dealt, rooms)
}

// first is the next submitter with a lane that has room.
func (l *line) first(room *space) *stand {
	for _, s := range l.submitters {
		if slices.ContainsFunc(s.lanes, room.admits) {
			return s
		}
	}
	return nil
}

func turnsOf(order []*stand, dealt map[*stand]int, rooms map[string]*space) []Turn {
	var turns []Turn
	for _, s := range order {
		for _, lane := range s.lanes {
			if rooms[s.Tenant].admits(lane) {
				turns = append(turns, Turn{Backlog: Backlog{s.Submitter, lane}, Most: min(dealt[s], rooms[s.Tenant].of(lane))})
			}
		}
	}
	return turns
}

// toEnd moves an item to the end, in place.
func toEnd[T comparable](items []T, item T) {
	at := slices.Index(items, item)
	copy(items[at:], items[at+1:])
	items[len(items)-1] = item
}

// toFront moves an item to the front, in place.
func toFront[T comparable](items []T, item T) {
	at := slices.Index(items, item)
	copy(items[1:at+1], items[:at])
	items[0] = item
}

// full marks the tenants that have no room beside what was taken, or none for
// what waits, and answers whether there is something else to try. What a tenant
// was dealt is not what it took: there may have been less.
func (t *Turns) full(rooms map[string]*space, taken map[string]int, room func(tenant string) Room) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	now, some := time.Now(), false
	for tenant, space := range rooms {
		l := t.tenants[tenant]
		if l == nil {
			continue
		}
		if taken[tenant] > 0 {
			l.passSince = time.Time{}
		}
		hasRoom := space.most > taken[tenant]
		switch {
		case l.stirred || (hasRoom && l.first(space) != nil):
		case hasRoom && l.more: // it may be for someone beyond
			some = true
			l.turnPage(now)
		default:
			some = true
			if !hasRoom {
				space = nil
			}
			l.rest(now, room(tenant), space)
		}
	}
	return some
}

// rest passes the line over for a while: ten times as long as it took to find
// that no page of it has room for anyone.
func (l *line) rest(now time.Time, bounds Room, left *space) {
	pause := fullFor
	if !l.passSince.IsZero() {
		pause = max(pause, 10*now.Sub(l.passSince))
	}
	l.fullUntil, l.fullFor, l.fullOf, l.passSince = now.Add(pause), bounds, left, time.Time{}
}

// turnPage removes those of the page for whom there is no room: they are read
// again.
func (l *line) turnPage(now time.Time) {
	if l.passSince.IsZero() {
		l.passSince = now
	}
	for _, s := range slices.Clone(l.submitters) {
		if s.paged {
			l.remove(s)
		}
	}
}

// rotate makes those who took last the last in their lines. It needs mu.
func (t *Turns) rotate(took []Submitter) {
	last := map[Submitter]int{}
	for i, s := range took {
		last[s] = i
	}
	for i, s := range took {
		if l := t.tenants[s.Tenant]; last[s] == i && l != nil && l.by[s] != nil {
			toEnd(l.submitters, l.by[s])
		}
	}
}

// served drops what a round has found empty, and those who leave the line with
// their turn; who was passed over for want of room is next. It answers whether
// any was dropped.
func (t *Turns) served(turns []Turn, c choice) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.rotate(c.order)
	some := false
	for _, turn := range slices.Backward(turns) {
		l := t.tenants[turn.Tenant]
		if l == nil || l.by[turn.Submitter] == nil {
			continue
		}
		s := l.by[turn.Submitter]
		if c.waits[turn.Backlog] && c.took[turn.Submitter] == 0 {
			toFront(l.submitters, s)
			continue
		}
		s.paged = false
		if s.added || (!l.more && (c.found[turn.Backlog] == turn.Most || c.waits[turn.Backlog])) {
			continue
		}
		s.lanes = slices.DeleteFunc(s.lanes, func(lane string) bool { return lane == turn.Lane })
		if some = true; len(s.lanes) == 0 {
			l.remove(s)
		}
		t.leave(l)
	}
	return some
}
