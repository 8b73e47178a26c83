package asyncop

import (
	"slices"
	"time"

	"github.com/google/uuid"
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
			l.freed = false
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

// full marks the tenants that have no room beside what was taken, or none for
// what waits, and answers whether there were any. What a tenant was dealt is not
// what it took: there may have been less.
func (t *Turns) full(rooms map[string]*space, taken map[string]int, room func(tenant string) Room) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	until, some := time.Now().Add(fullFor), false
	for tenant, space := range rooms {
		l := t.tenants[tenant]
		if l != nil && !l.freed && (space.most <= taken[tenant] || l.first(space) == nil) {
			l.fullUntil, l.fullFor, some = until, room(tenant), true
		}
	}
	return some
}

// served drops the backlogs that gave less than they were asked for and have
// nothing left of it, and those that leave the line with their turn. It answers
// whether any was dropped.
func (t *Turns) served(turns []Turn, found []Candidate, passedOver []uuid.UUID) bool {
	gave, keep := map[Backlog]int{}, map[Backlog]bool{}
	for _, c := range found {
		gave[c.Backlog]++
		keep[c.Backlog] = keep[c.Backlog] || slices.Contains(passedOver, c.ID)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	some := false
	for _, turn := range turns {
		l := t.tenants[turn.Tenant]
		if (gave[turn.Backlog] < turn.Most && !keep[turn.Backlog]) || (l != nil && l.more) {
			some = t.drop(turn.Backlog) || some
		}
	}
	return some
}
