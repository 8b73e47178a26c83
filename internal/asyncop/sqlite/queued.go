package sqlite

import (
	"time"

	"github.com/google/uuid"

	"asyncgate/internal/asyncop"
)

// given is a row that a claim was taken from, or that was submitted: what it is
// now, and where it stands if that is QUEUED.
type given struct {
	id        uuid.UUID
	state     asyncop.State
	backlog   asyncop.Backlog
	notBefore int64
}

// into are the places for what statements that give rows back answer after the
// id.
func (g *given) into() []any {
	b := &g.backlog
	return []any{&g.state, &b.Tenant, &b.Issuer, &b.Subject, &b.Lane, &g.notBefore}
}

// queued notes a row that waits, after its commit.
func (s *Store) queued(backlog asyncop.Backlog, notBefore int64) {
	if in := notBefore - now(); in > 0 {
		s.turns.DueIn(time.Duration(in) * time.Microsecond)
	} else {
		s.turns.Add(backlog)
	}
	s.waker.Due()
}

// gave notes what became of claims, after the commit.
func (s *Store) gave(rows []given) {
	ids := make([]uuid.UUID, len(rows))
	for i, row := range rows {
		ids[i] = row.id
		s.turns.Freed(row.backlog.Tenant)
		if row.state == asyncop.Queued {
			s.queued(row.backlog, row.notBefore)
		}
	}
	s.changed(ids)
}
