package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"asyncgate/internal/asyncop"
)

// Get answers one operation within the scope. Errors: asyncop.ErrNotFound.
func (s *Store) Get(ctx context.Context, scope asyncop.Scope, id uuid.UUID) (asyncop.Operation, error) {
	tenants, issuer, subject := scopeArgs(scope)
	found, err := query(ctx, s, operation, getSQL, id, tenants, issuer, subject)
	if err != nil {
		return asyncop.Operation{}, fmt.Errorf("get operation: %w", err)
	}
	if len(found) == 0 {
		return asyncop.Operation{}, asyncop.ErrNotFound
	}
	return found[0], nil
}

// List answers a page of the operations within the scope, newest first.
func (s *Store) List(ctx context.Context, list asyncop.List) (asyncop.Page, error) {
	sql, args := listStatement(list)
	found, err := query(ctx, s, operation, sql, args...)
	if err != nil {
		return asyncop.Page{}, fmt.Errorf("list operations: %w", err)
	}
	if len(found) > list.First {
		return asyncop.Page{Operations: found[:list.First], HasNext: true}, nil
	}
	return asyncop.Page{Operations: found}, nil
}

// listStatement picks the statement whose index gives the scope's rows in
// order. It asks for one row more than the page, to tell whether there is one.
func listStatement(list asyncop.List) (sql string, args []any) {
	before, id := pgtype.Timestamptz{InfinityModifier: pgtype.Infinity, Valid: true}, uuid.Max
	if list.After != nil {
		before, id = pgtype.Timestamptz{Time: list.After.CreatedAt, Valid: true}, list.After.ID
	}
	args = []any{
		pgx.QueryExecModeCacheDescribe, // plans for these very filters: most of them do not narrow
		before, id, list.First + 1, statesOrNull(list.Filter.States),
		list.Filter.Mutation, list.Filter.Label, list.Filter.IdempotencyKey, list.Filter.Submitter,
	}
	tenants, issuer, subject := scopeArgs(list.Scope)
	switch {
	case tenants == nil:
		return listEverythingSQL, args
	case issuer == nil:
		return listTenantsSQL, append(args, tenants)
	default:
		return listSubmitterSQL, append(args, tenants[0], *issuer, *subject)
	}
}

func statesOrNull(states []asyncop.State) []string {
	if len(states) == 0 {
		return nil
	}
	return column(states, func(s asyncop.State) string { return string(s) })
}

// Revisions answers the revisions of the operations that exist among ids.
func (s *Store) Revisions(ctx context.Context, ids []uuid.UUID) (map[uuid.UUID]int64, error) {
	type revision struct {
		ID       uuid.UUID
		Revision int64
	}
	found, err := query(ctx, s, pgx.RowToStructByPos[revision], revisionsSQL, ids)
	if err != nil {
		return nil, fmt.Errorf("read revisions: %w", err)
	}
	revisions := make(map[uuid.UUID]int64, len(found))
	for _, r := range found {
		revisions[r.ID] = r.Revision
	}
	return revisions, nil
}

// NextDue answers how long until the earliest QUEUED row is due or expires; 0
// where one is by now.
func (s *Store) NextDue(ctx context.Context) (in time.Duration, ok bool, err error) {
	answer, err := query(ctx, s, pgx.RowTo[*int64], nextDueSQL)
	if err != nil {
		return 0, false, fmt.Errorf("look for the next due operation: %w", err)
	}
	if answer[0] == nil {
		return 0, false, nil
	}
	const most = int64(1<<63-1) / int64(time.Microsecond)
	return time.Duration(min(max(*answer[0], 0), most)) * time.Microsecond, true, nil
}
