package sqlite

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"asyncgate/internal/asyncop"
)

//go:embed queries/cancel.sql
var cancelSQL string

// Cancel implements asyncop.Store.
func (s *Store) Cancel(ctx context.Context, scope asyncop.Scope, id uuid.UUID) (asyncop.Cancellation, error) {
	where, err := scoped(scope, id)
	if err != nil {
		return asyncop.Cancellation{}, err
	}
	var did asyncop.Cancellation
	var changed bool
	err = s.write(ctx, func(ctx context.Context, tx transaction) (err error) {
		if changed, err = tx.cancel(ctx, where); err != nil {
			return err
		}
		did.Operation, err = scanOperation(tx.queryRow(ctx, getSQL, where))
		return err
	})
	if err != nil {
		return asyncop.Cancellation{}, fmt.Errorf("cancel operation: %w", err)
	}
	did.Outcome = cancelOutcome(changed, did.Operation.State)
	if changed {
		s.changed([]uuid.UUID{id})
	}
	return did, nil
}

// cancel answers whether it changed the row.
func (t transaction) cancel(ctx context.Context, where values) (changed bool, err error) {
	v := values{"now": now()}.with(cancelledValues()).with(where)
	var state asyncop.State
	err = t.queryRow(ctx, cancelSQL, v).Scan(&state)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

func cancelOutcome(changed bool, state asyncop.State) asyncop.CancelOutcome {
	switch {
	case state == asyncop.Running: // asked now or before
		return asyncop.CancelRequested
	case changed:
		return asyncop.CancelledNow
	default:
		return asyncop.AlreadyDone
	}
}
