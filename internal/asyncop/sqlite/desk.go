package sqlite

import (
	"context"
	"database/sql"
	_ "embed"
	"encoding/json"
	"errors"
	"time"

	"github.com/google/uuid"

	"asyncgate/internal/asyncop"
)

var (
	//go:embed queries/come_due.sql
	comeDueSQL string
	//go:embed queries/next_scheduled.sql
	nextScheduledSQL string
	//go:embed queries/next_tenant.sql
	nextTenantSQL string
	//go:embed queries/next_backlog.sql
	nextBacklogSQL string
	//go:embed queries/alive.sql
	aliveSQL string
	//go:embed queries/running.sql
	runningSQL string
	//go:embed queries/running_mutation.sql
	runningMutationSQL string
	//go:embed queries/candidates.sql
	candidatesSQL string
	//go:embed queries/move.sql
	moveSQL string
)

// ripeLimit bounds how many rows one look makes due.
const ripeLimit = 500

// desk is the file's part in a claim.
type desk struct{ store *Store }

var _ asyncop.Desk = desk{}

// Tenants steps from tenant to tenant. It writes only where a row comes due.
func (d desk) Tenants(ctx context.Context, after string, limit int) (tenants []string, next time.Duration, err error) {
	if next, err = d.comeDue(ctx); err != nil {
		return nil, 0, err
	}
	itself := after == ""
	for len(tenants) < limit {
		row := d.store.reader.queryRow(ctx, nextTenantSQL, values{"tenant": after, "itself": itself})
		switch err := row.Scan(&after); {
		case errors.Is(err, sql.ErrNoRows):
			return tenants, next, nil
		case err != nil:
			return nil, 0, err
		}
		tenants, itself = append(tenants, after), false
	}
	return tenants, next, nil
}

// comeDue makes rows due whose time has come, and answers how long until the
// next, negative where there is none.
func (d desk) comeDue(ctx context.Context) (time.Duration, error) {
	for range 2 {
		var at sql.Null[int64]
		if err := d.store.reader.queryRow(ctx, nextScheduledSQL, nil).Scan(&at); err != nil {
			return 0, err
		}
		switch clock := now(); {
		case !at.Valid:
			return -1, nil
		case at.V > clock:
			return time.Duration(at.V-clock) * time.Microsecond, nil
		}
		err := d.store.write(ctx, func(ctx context.Context, tx transaction) error {
			return tx.exec(ctx, comeDueSQL, values{"now": now(), "limit": ripeLimit})
		})
		if err != nil {
			return 0, err
		}
	}
	return 0, nil // more than one look's worth
}

// Backlogs steps from backlog to backlog.
func (d desk) Backlogs(ctx context.Context, after []asyncop.Backlog, limit int) ([]asyncop.Backlog, error) {
	var found []asyncop.Backlog
	for _, at := range after {
		for range limit {
			err := d.store.reader.queryRow(ctx, nextBacklogSQL, backlogValues(at)).Scan(&at.Issuer, &at.Subject, &at.Lane)
			if errors.Is(err, sql.ErrNoRows) {
				break
			}
			if err != nil {
				return nil, err
			}
			found = append(found, at)
		}
	}
	return found, nil
}

func backlogValues(b asyncop.Backlog) values {
	return values{"tenant": b.Tenant, "issuer": b.Issuer, "subject": b.Subject, "lane": b.Lane}
}

// Within has the file to itself, and so the tenants.
func (d desk) Within(ctx context.Context, intake asyncop.Intake, tenants []string, claim func(context.Context, asyncop.Transaction) ([]asyncop.Claim, error)) ([]asyncop.Claim, error) {
	var claims []asyncop.Claim
	err := d.store.write(ctx, func(ctx context.Context, tx transaction) (err error) {
		claims, err = claim(ctx, claiming{tx, intake.Node, tenants, now()})
		return err
	})
	if err != nil {
		return nil, err
	}
	return claims, nil
}

// claiming is the transaction of a claim.
type claiming struct {
	tx      transaction
	node    string
	tenants []string
	now     int64
}

// Running counts, where the node has sent a heartbeat.
func (c claiming) Running(ctx context.Context, mutations map[string][]string) (map[string]asyncop.Tally, error) {
	var alive bool
	if err := c.tx.queryRow(ctx, aliveSQL, values{"node": c.node}).Scan(&alive); err != nil || !alive {
		return nil, err
	}
	tallies := make(map[string]asyncop.Tally, len(c.tenants))
	for _, tenant := range c.tenants {
		tally := asyncop.Tally{Mutations: map[string]int{}}
		if err := c.tx.queryRow(ctx, runningSQL, values{"tenant": tenant}).Scan(&tally.Running); err != nil {
			return nil, err
		}
		for _, name := range mutations[tenant] {
			var n int
			if err := c.tx.queryRow(ctx, runningMutationSQL, values{"tenant": tenant, "mutation": name}).Scan(&n); err != nil {
				return nil, err
			}
			tally.Mutations[name] = n
		}
		tallies[tenant] = tally
	}
	return tallies, nil
}

// Candidates reads the head of each backlog.
func (c claiming) Candidates(ctx context.Context, turns []asyncop.Turn) ([]asyncop.Candidate, error) {
	var found []asyncop.Candidate
	for _, turn := range turns {
		head, err := c.head(ctx, turn)
		if err != nil {
			return nil, err
		}
		found = append(found, head...)
	}
	return found, nil
}

func (c claiming) head(ctx context.Context, turn asyncop.Turn) ([]asyncop.Candidate, error) {
	rows, err := c.tx.query(ctx, candidatesSQL, backlogValues(turn.Backlog).with(values{"now": c.now, "limit": turn.Most}))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var found []asyncop.Candidate
	for rows.Next() {
		candidate := asyncop.Candidate{Backlog: turn.Backlog}
		var mutations []byte
		var notBefore int64
		if err := rows.Scan(&candidate.ID, &mutations, &candidate.Priority, &notBefore); err != nil {
			return nil, err
		}
		if err := json.Unmarshal(mutations, &candidate.Mutations); err != nil {
			return nil, err
		}
		candidate.NotBefore = instant(notBefore)
		found = append(found, candidate)
	}
	return found, rows.Err()
}

// Claim claims row by row.
func (c claiming) Claim(ctx context.Context, ids []uuid.UUID, moved []asyncop.Moved) ([]asyncop.Claim, error) {
	for _, m := range moved {
		if err := c.tx.exec(ctx, moveSQL, values{"id": m.ID.String(), "lane": m.Lane}); err != nil {
			return nil, err
		}
	}
	claims := make([]asyncop.Claim, len(ids))
	for i, id := range ids {
		claim, err := c.tx.claim(ctx, id, c.node, c.now)
		if err != nil {
			return nil, err
		}
		claims[i] = claim
	}
	return claims, nil
}
