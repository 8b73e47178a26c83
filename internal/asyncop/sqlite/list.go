package sqlite

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	_ "embed"
	"fmt"
	"math"
	"slices"

	"github.com/google/uuid"

	"asyncgate/internal/asyncop"
)

var (
	//go:embed queries/list_everything.sql
	listEverythingSQL string
	//go:embed queries/list_tenant.sql
	listTenantSQL string
	//go:embed queries/list_submitter.sql
	listSubmitterSQL string
)

// place is where an operation stands in a list.
type place struct {
	id        uuid.UUID
	createdAt int64
}

// List implements asyncop.Store. It finds the places of a page by index, then
// reads its rows, all in one snapshot.
func (s *Store) List(ctx context.Context, list asyncop.List) (asyncop.Page, error) {
	tx, err := s.reader.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return asyncop.Page{}, fmt.Errorf("list operations: %w", err)
	}
	defer func() { _ = tx.Rollback() }() // it changed nothing
	page, err := newTransaction(tx, s.reader).page(ctx, list)
	if err != nil {
		return asyncop.Page{}, fmt.Errorf("list operations: %w", err)
	}
	return page, nil
}

func (t transaction) page(ctx context.Context, list asyncop.List) (asyncop.Page, error) {
	places, err := t.places(ctx, list)
	if err != nil {
		return asyncop.Page{}, err
	}
	page := asyncop.Page{HasNext: len(places) > list.First}
	for _, p := range places[:min(len(places), list.First)] {
		operation, err := scanOperation(t.queryRow(ctx, getSQL, scopeless(p.id.String())))
		if err != nil {
			return asyncop.Page{}, err
		}
		page.Operations = append(page.Operations, operation)
	}
	return page, nil
}

// places answers the places of a page and one more. Several tenants are asked
// one by one, since an index holds the order of one tenant only.
func (t transaction) places(ctx context.Context, list asyncop.List) ([]place, error) {
	v, err := listValues(list)
	if err != nil {
		return nil, err
	}
	tenants, narrowed := list.Scope.Tenants()
	if !narrowed {
		return t.scanPlaces(ctx, listEverythingSQL, v)
	}
	statement := listTenantSQL
	if issuer, subject, ok := list.Scope.Submitter(); ok {
		statement = listSubmitterSQL
		v["issuer"], v["subject"] = issuer, subject
	}
	tenants = slices.Compact(slices.Sorted(slices.Values(tenants)))
	var places []place
	for _, tenant := range tenants {
		v["tenant"] = tenant
		more, err := t.scanPlaces(ctx, statement, v)
		if err != nil {
			return nil, err
		}
		places = append(places, more...)
	}
	if len(tenants) > 1 {
		slices.SortFunc(places, newestFirst)
	}
	return places, nil
}

func (t transaction) scanPlaces(ctx context.Context, statement string, v values) ([]place, error) {
	rows, err := t.query(ctx, statement, v)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var places []place
	for rows.Next() {
		var p place
		if err := rows.Scan(&p.id, &p.createdAt); err != nil {
			return nil, err
		}
		places = append(places, p)
	}
	return places, rows.Err()
}

func newestFirst(a, b place) int {
	return cmp.Or(cmp.Compare(b.createdAt, a.createdAt), bytes.Compare(b.id[:], a.id[:]))
}

func listValues(list asyncop.List) (values, error) {
	v := values{
		"created_at": int64(math.MaxInt64), "id": "", // before the newest
		"states": nil, "mutation": list.Filter.Mutation, "label": list.Filter.Label,
		"idempotency_key": list.Filter.IdempotencyKey, "submitter": list.Filter.Submitter,
		"limit": list.First + 1,
	}
	if list.After != nil {
		v["created_at"], v["id"] = list.After.CreatedAt.UnixMicro(), list.After.ID.String()
	}
	if len(list.Filter.States) > 0 {
		states, err := jsonList(list.Filter.States)
		if err != nil {
			return nil, err
		}
		v["states"] = states
	}
	return v, nil
}
