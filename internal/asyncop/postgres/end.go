package postgres

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"asyncgate/internal/asyncop"
)

// Expire ends up to limit QUEUED rows whose startBefore has passed.
func (s *Store) Expire(ctx context.Context, limit int) ([]uuid.UUID, error) {
	expired, err := query(ctx, s, pgx.RowTo[uuid.UUID], expireSQL, limit, asyncop.MessageStartDeadline)
	if err != nil {
		return nil, fmt.Errorf("expire operations: %w", err)
	}
	s.tellChanged(expired)
	return expired, nil
}

// Cancel ends a QUEUED operation and asks a RUNNING one to end. Errors:
// asyncop.ErrNotFound.
func (s *Store) Cancel(ctx context.Context, scope asyncop.Scope, id uuid.UUID) (asyncop.Cancellation, error) {
	tenants, issuer, subject := scopeArgs(scope)
	changed, err := query(ctx, s, operation, cancelSQL, id, tenants, issuer, subject, asyncop.MessageCancelled)
	if err != nil {
		return asyncop.Cancellation{}, fmt.Errorf("cancel operation: %w", err)
	}
	if len(changed) == 0 { // terminal, and so for ever, or not there
		op, err := s.Get(ctx, scope, id)
		return asyncop.Cancellation{Outcome: asyncop.AlreadyDone, Operation: op}, err
	}
	s.tellChanged([]uuid.UUID{id})
	if changed[0].State == asyncop.Running {
		return asyncop.Cancellation{Outcome: asyncop.CancelRequested, Operation: changed[0]}, nil
	}
	return asyncop.Cancellation{Outcome: asyncop.CancelledNow, Operation: changed[0]}, nil
}

// Sweep deletes operations and purges results whose retention is over, up to
// limit of each. Nobody waits for either, so nobody is woken.
func (s *Store) Sweep(ctx context.Context, retention asyncop.Retention, limit int) (asyncop.Swept, error) {
	deleted, err := query(ctx, s, pgx.RowTo[uuid.UUID], deleteSQL, retention.Operation.Microseconds(), limit)
	if err != nil {
		return asyncop.Swept{}, fmt.Errorf("delete operations: %w", err)
	}
	purged, err := query(ctx, s, pgx.RowTo[uuid.UUID], purgeSQL, retention.Result.Microseconds(), limit)
	if err != nil {
		return asyncop.Swept{Deleted: len(deleted)}, fmt.Errorf("purge results: %w", err)
	}
	return asyncop.Swept{Purged: len(purged), Deleted: len(deleted)}, nil
}
