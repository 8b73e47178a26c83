package asyncop

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
)

// Candidate is a due row that a claim has locked.
type Candidate struct {
	ID uuid.UUID
	Backlog
	Mutations []string
	Priority  int
	NotBefore time.Time
}

// Tally is what runs of a tenant now, on all nodes together.
type Tally struct {
	Running   int
	Mutations map[string]int // by root field name; those that were asked for
}

// space is the room that a tenant has left while a claim goes on.
type space struct {
	most      int            // that it may take
	left      int            // of most, that was not dealt
	mutations map[string]int // left of each mutation that has a bound
}

// without is the room that is left beside what runs.
func (r Room) without(running Tally) *space {
	s := &space{left: math.MaxInt, mutations: map[string]int{}}
	if r.Running > 0 {
		s.left = min(s.left, r.Running-running.Running)
	}
	if r.Most > 0 {
		s.left = min(s.left, r.Most)
	}
	s.most = s.left
	for name, most := range r.Mutations {
		s.mutations[name] = most - running.Mutations[name]
	}
	return s
}

// sameAs reports whether two rooms bound the same.
func (r Room) sameAs(other Room) bool {
	return r.Running == other.Running && r.Most == other.Most && maps.Equal(r.Mutations, other.Mutations)
}

// bounded answers the mutations that have a bound, by name.
func (r Room) bounded() []string { return slices.Sorted(maps.Keys(r.Mutations)) }

// admits reports whether another operation of a lane may run.
func (s *space) admits(lane string) bool { return s.of(lane) > 0 }

// of is how many more operations of a lane may run, as far as its mutations go.
func (s *space) of(lane string) int {
	left := math.MaxInt
	if lane == "" {
		return left
	}
	for name := range strings.SplitSeq(lane, ",") {
		if most, bounded := s.mutations[name]; bounded {
			left = min(left, most)
		}
	}
	return left
}

func (s *space) fits(mutations []string) bool {
	for _, name := range mutations {
		if left, bounded := s.mutations[name]; bounded && left <= 0 {
			return false
		}
	}
	return true
}

// Lane is the lane of an operation with these mutations: those that have a
// bound.
func (r Room) Lane(mutations []string) string {
	if len(r.Mutations) == 0 {
		return ""
	}
	lane := slices.DeleteFunc(slices.Clone(mutations), func(name string) bool {
		_, bounded := r.Mutations[name]
		return !bounded
	})
	slices.Sort(lane)
	return strings.Join(slices.Compact(lane), ",")
}

// Moved is a row that stands in another lane than its mutations' bounds, as
// they are now, ask for.
type Moved struct {
	ID uuid.UUID
	Backlog
}

// choice is what a round does with its candidates.
type choice struct {
	ids   []uuid.UUID
	order []Submitter // of ids
	moved []Moved
	found map[Backlog]int   // candidates
	took  map[Submitter]int // of ids
	waits map[Backlog]bool  // some were passed over
}

// choose picks what is claimed of the candidates. Submitters take turns, in the
// order in which they were dealt theirs, so that they share the room that a
// mutation has left; each takes its own by priority and age over its lanes.
func choose(turns []Turn, found []Candidate, room func(tenant string) Room, rooms map[string]*space) choice {
	c := choice{found: map[Backlog]int{}, took: map[Submitter]int{}, waits: map[Backlog]bool{}}
	most, order := map[Submitter]int{}, []Submitter{}
	for _, turn := range turns {
		if most[turn.Submitter] == 0 {
			order = append(order, turn.Submitter)
		}
		most[turn.Submitter] = max(most[turn.Submitter], turn.Most)
	}
	waiting := map[Submitter][]Candidate{}
	slices.SortStableFunc(found, before)
	for _, candidate := range found {
		c.found[candidate.Backlog]++
		if lane := room(candidate.Tenant).Lane(candidate.Mutations); lane != candidate.Lane {
			c.moved = append(c.moved, Moved{candidate.ID, Backlog{candidate.Submitter, lane}})
			continue
		}
		waiting[candidate.Submitter] = append(waiting[candidate.Submitter], candidate)
	}
	for took := true; took; {
		took = false
		for _, s := range order {
			if c.took[s] < most[s] {
				waiting[s], took = c.take(waiting[s], rooms[s.Tenant], took)
			}
		}
	}
	for _, left := range waiting {
		for _, candidate := range left {
			c.waits[candidate.Backlog] = true
		}
	}
	return c
}

// take takes the first of a submitter's candidates that fits, and answers the
// others.
func (c *choice) take(waiting []Candidate, space *space, took bool) (left []Candidate, again bool) {
	at := slices.IndexFunc(waiting, func(candidate Candidate) bool { return space.fits(candidate.Mutations) })
	if at < 0 {
		return waiting, took
	}
	taken := waiting[at]
	c.ids, c.order = append(c.ids, taken.ID), append(c.order, taken.Submitter)
	c.took[taken.Submitter]++
	for _, name := range taken.Mutations {
		if _, bounded := space.mutations[name]; bounded {
			space.mutations[name]--
		}
	}
	return slices.Delete(waiting, at, at+1), true
}

// before orders what one submitter has in several lanes.
func before(a, b Candidate) int {
	return cmp.Or(
		cmp.Compare(b.Priority, a.Priority), a.NotBefore.Compare(b.NotBefore), slices.Compare(a.ID[:], b.ID[:]))
}
