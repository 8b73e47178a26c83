package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"asyncgate/internal/asyncop"
)

// errKeyUnsettled: an idempotency key was taken each time it was inserted, and
// free each time it was looked up.
var errKeyUnsettled = errors.New("idempotency key is taken and freed again and again, try again later")

// submitRounds bounds how often a row that was swept between the insertion and
// the look-up is tried again.
const submitRounds = 4

// Submit makes each submission a QUEUED row; see asyncop.Store.
func (s *Store) Submit(ctx context.Context, batch []asyncop.Submission) ([]asyncop.Submitted, error) {
	fates, err := inPieces(batch, func(piece []asyncop.Submission) ([]asyncop.Submitted, error) {
		return s.submit(ctx, piece)
	}, func(refused error) asyncop.Submitted {
		return asyncop.Submitted{Err: fmt.Errorf("submit operation: %w", refused)}
	})
	if err != nil {
		return nil, fmt.Errorf("submit operations: %w", err)
	}
	return fates, nil
}

func (s *Store) submit(ctx context.Context, batch []asyncop.Submission) ([]asyncop.Submitted, error) {
	fates := make([]asyncop.Submitted, len(batch))
	open := make([]int, len(batch)) // places in batch that have no fate yet
	for i := range batch {
		open[i] = i
	}
	for range submitRounds {
		var err error
		if open, err = s.insert(ctx, batch, open, fates); err != nil {
			return nil, err
		}
		if open, err = s.replay(ctx, batch, open, fates); err != nil {
			return nil, err
		}
		if len(open) == 0 {
			return fates, nil
		}
	}
	for _, i := range open {
		fates[i].Err = errKeyUnsettled
	}
	return fates, nil
}

// insert inserts the open submissions and answers those whose place is taken.
func (s *Store) insert(ctx context.Context, batch []asyncop.Submission, open []int, fates []asyncop.Submitted) (taken []int, err error) {
	if len(open) == 0 {
		return nil, nil
	}
	inserted, err := query(ctx, s, operation, submitSQL, submitColumns(batch, open)...)
	if err != nil {
		return nil, err
	}
	fresh := make(map[uuid.UUID]asyncop.Operation, len(inserted))
	for _, op := range inserted {
		fresh[op.ID] = op
	}
	for _, i := range open {
		op, ok := fresh[batch[i].ID]
		if !ok {
			taken = append(taken, i)
			continue
		}
		delete(fresh, op.ID) // an id sent twice is one row
		fates[i].Operation = op
		s.queued(asyncop.Backlog{Submitter: op.Submitter(), Lane: batch[i].Lane}, op.NotBefore.Sub(op.CreatedAt))
	}
	return taken, nil
}

// replay looks up who holds the places of the open submissions, and answers
// those that nobody holds any more. It needs a statement of its own: the
// snapshot of the insertion does not show a concurrent winner.
func (s *Store) replay(ctx context.Context, batch []asyncop.Submission, open []int, fates []asyncop.Submitted) (free []int, err error) {
	if len(open) == 0 {
		return nil, nil
	}
	wanted := make([]place, len(open))
	for n, i := range open {
		sub := batch[i]
		wanted[n] = place{sub.ID, sub.Tenant, sub.Issuer, sub.Subject, orNull(sub.IdempotencyKey)}
	}
	winners, err := s.winners(ctx, wanted)
	if err != nil {
		return nil, err
	}
	for n, i := range open {
		winner, held := winners[n]
		switch {
		case !held:
			free = append(free, i)
		case winner.fingerprint != batch[i].Fingerprint:
			fates[i].Err = asyncop.ErrKeyReused
		default:
			fates[i].Operation = winner.op
			fates[i].Replayed = winner.op.ID != batch[i].ID
		}
	}
	return free, nil
}

// place is what a row holds alone: its id and its submitter's idempotency key.
type place struct {
	id                      uuid.UUID
	tenant, issuer, subject string
	key                     *string
}

// winner is the row that holds a place.
type winner struct {
	op          asyncop.Operation
	fingerprint [32]byte
}

// winners answers who holds the wanted places, by their index in wanted.
func (s *Store) winners(ctx context.Context, wanted []place) (map[int]winner, error) {
	var ids []uuid.UUID
	var tenants, issuers, subjects []string
	var keys []*string
	for _, w := range wanted {
		ids, tenants, issuers = append(ids, w.id), append(tenants, w.tenant), append(issuers, w.issuer)
		subjects, keys = append(subjects, w.subject), append(keys, w.key)
	}
	found := make(map[int]winner, len(wanted))
	_, err := query(ctx, s, func(row pgx.CollectableRow) (struct{}, error) {
		var at int
		var fingerprint []byte
		op, err := scanOperation(row, &at, &fingerprint)
		if err == nil && len(fingerprint) == 32 {
			found[at-1] = winner{op, [32]byte(fingerprint)}
		}
		return struct{}{}, err
	}, winnersSQL, ids, tenants, issuers, subjects, keys)
	return found, err
}

// Replay answers the operation that a submitter's idempotency key stands for.
// Errors: asyncop.ErrNotFound, asyncop.ErrKeyReused.
func (s *Store) Replay(ctx context.Context, submitter asyncop.Scope, key string, fingerprint [32]byte) (asyncop.Operation, error) {
	issuer, subject, ok := submitter.Submitter()
	tenants, _ := submitter.Tenants()
	if !ok || len(tenants) != 1 || key == "" {
		return asyncop.Operation{}, asyncop.ErrNotFound
	}
	winners, err := s.winners(ctx, []place{{uuid.Nil, tenants[0], issuer, subject, &key}})
	if err != nil {
		return asyncop.Operation{}, fmt.Errorf("replay idempotency key: %w", err)
	}
	winner, held := winners[0]
	switch {
	case !held:
		return asyncop.Operation{}, asyncop.ErrNotFound
	case winner.fingerprint != fingerprint:
		return asyncop.Operation{}, asyncop.ErrKeyReused
	}
	return winner.op, nil
}
