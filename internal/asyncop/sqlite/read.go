package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"asyncgate/internal/asyncop"
)

var (
	//go:embed queries/get.sql
	getSQL string
	//go:embed queries/revisions.sql
	revisionsSQL string
)

// reads are the statements of the reading connections.
var reads = []string{
	getSQL, keyedSQL, revisionsSQL, listEverythingSQL, listTenantSQL, listSubmitterSQL, nextDueSQL, pingSQL,
	nextScheduledSQL, nextTenantSQL, nextBacklogSQL,
}

// rowQuerier is the reading pool or a transaction.
type rowQuerier interface {
	queryRow(ctx context.Context, text string, v values) *sql.Row
}

// Get implements asyncop.Store.
func (s *Store) Get(ctx context.Context, scope asyncop.Scope, id uuid.UUID) (asyncop.Operation, error) {
	v, err := scoped(scope, id)
	if err != nil {
		return asyncop.Operation{}, err
	}
	operation, err := scanOperation(s.reader.queryRow(ctx, getSQL, v))
	if err != nil {
		return asyncop.Operation{}, fmt.Errorf("get operation: %w", err)
	}
	return operation, nil
}

// Replay implements asyncop.Store. A scope that spans submitters has no keys.
func (s *Store) Replay(ctx context.Context, submitter asyncop.Scope, key string, fingerprint [32]byte) (asyncop.Operation, error) {
	operation, err := replay(ctx, s.reader, submitter, key, fingerprint)
	if err != nil {
		return asyncop.Operation{}, fmt.Errorf("replay submission: %w", err)
	}
	return operation, nil
}

// replay answers what a key stands for. Errors: ErrNotFound, ErrKeyReused.
func replay(ctx context.Context, from rowQuerier, submitter asyncop.Scope, key string, fingerprint [32]byte) (asyncop.Operation, error) {
	issuer, subject, ok := submitter.Submitter()
	if !ok {
		return asyncop.Operation{}, asyncop.ErrNotFound
	}
	tenants, _ := submitter.Tenants()
	var id string
	var stored []byte
	err := from.queryRow(ctx, keyedSQL, values{
		"tenant": tenants[0], "issuer": issuer, "subject": subject, "idempotency_key": key,
	}).Scan(&id, &stored)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return asyncop.Operation{}, asyncop.ErrNotFound
	case err != nil:
		return asyncop.Operation{}, err
	case !bytes.Equal(stored, fingerprint[:]):
		return asyncop.Operation{}, asyncop.ErrKeyReused
	}
	return scanOperation(from.queryRow(ctx, getSQL, scopeless(id)))
}

// Revisions implements asyncop.Store.
func (s *Store) Revisions(ctx context.Context, ids []uuid.UUID) (map[uuid.UUID]int64, error) {
	revisions, err := s.revisions(ctx, ids)
	if err != nil {
		return nil, fmt.Errorf("read revisions: %w", err)
	}
	return revisions, nil
}

func (s *Store) revisions(ctx context.Context, ids []uuid.UUID) (map[uuid.UUID]int64, error) {
	listed, err := jsonList(ids)
	if err != nil {
		return nil, err
	}
	rows, err := s.reader.query(ctx, revisionsSQL, values{"ids": listed})
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	revisions := make(map[uuid.UUID]int64, len(ids))
	for rows.Next() {
		var id uuid.UUID
		var revision int64
		if err := rows.Scan(&id, &revision); err != nil {
			return nil, err
		}
		revisions[id] = revision
	}
	return revisions, rows.Err()
}

// scoped are the parameters that hold a statement to one operation of a scope.
func scoped(scope asyncop.Scope, id uuid.UUID) (values, error) {
	v := scopeless(id.String())
	if tenants, ok := scope.Tenants(); ok {
		listed, err := jsonList(append([]string{}, tenants...)) // none is [], not null
		if err != nil {
			return nil, err
		}
		v["tenants"] = listed
	}
	if issuer, subject, ok := scope.Submitter(); ok {
		v["issuer"], v["subject"] = issuer, subject
	}
	return v, nil
}

// scopeless is for an id that the store itself has found.
func scopeless(id string) values {
	return values{"id": id, "tenants": nil, "issuer": nil, "subject": nil}
}

// scanIDs reads a column of ids, all of them, and closes rows.
func scanIDs(rows *sql.Rows, err error) ([]uuid.UUID, error) {
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var ids []uuid.UUID
	for rows.Next() {
		var id uuid.UUID
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, rows.Err()
}
