package postgres

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"asyncgate/internal/asyncop"
)

// ripeLimit bounds how many rows one look makes due.
const ripeLimit = 500

// desk is the database's part in a claim.
type desk struct{ store *Store }

var _ asyncop.Desk = desk{}

// Tenants takes one round trip.
func (d desk) Tenants(ctx context.Context, after string, limit int) (tenants []string, next time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, statementTimeout)
	defer cancel()
	batch := &pgx.Batch{}
	batch.Queue(comeDueSQL, ripeLimit)
	batch.Queue(tenantsSQL, after, limit).Query(func(rows pgx.Rows) error {
		tenants, err = pgx.CollectRows(rows, pgx.RowTo[string])
		return err
	})
	var in *int64
	batch.Queue(nextScheduledSQL).QueryRow(func(row pgx.Row) error { return row.Scan(&in) })
	if err := d.store.pool.SendBatch(ctx, batch).Close(); err != nil {
		return nil, 0, err
	}
	if in == nil {
		return tenants, -1, nil
	}
	return tenants, max(time.Duration(*in)*time.Microsecond, 0), nil
}

// Backlogs is one statement.
func (d desk) Backlogs(ctx context.Context, after []asyncop.Backlog, limit int) ([]asyncop.Backlog, error) {
	return query(ctx, d.store, func(row pgx.CollectableRow) (b asyncop.Backlog, err error) {
		err = row.Scan(&b.Tenant, &b.Issuer, &b.Subject, &b.Lane)
		return b, err
	}, backlogsSQL,
		column(after, tenantOf), column(after, issuerOf), column(after, subjectOf), column(after, laneOf), limit)
}

func tenantOf(b asyncop.Backlog) string  { return b.Tenant }
func issuerOf(b asyncop.Backlog) string  { return b.Issuer }
func subjectOf(b asyncop.Backlog) string { return b.Subject }
func laneOf(b asyncop.Backlog) string    { return b.Lane }

// Within takes three round trips: what runs, candidates, the claim.
func (d desk) Within(ctx context.Context, intake asyncop.Intake, tenants []string, claim func(context.Context, asyncop.Transaction) ([]asyncop.Claim, error)) ([]asyncop.Claim, error) {
	ctx, cancel := context.WithTimeout(ctx, statementTimeout)
	defer cancel()
	conn, err := d.store.pool.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Release() // one whose transaction is still open is closed, and so rolled back
	tx := &claiming{conn: conn, store: d.store, node: intake.Node, tenants: tenants}
	claims, err := claim(ctx, tx)
	if err != nil || tx.committed {
		return claims, err
	}
	_, err = conn.Exec(ctx, "rollback")
	return nil, err
}

// claiming is the transaction of a claim. It begins with Running and is
// committed by Claim.
type claiming struct {
	conn      *pgxpool.Conn
	store     *Store
	node      string
	tenants   []string
	committed bool
}

// tenantLocks is the class of the advisory locks of tenants, one for each hash
// of a name.
const tenantLocks = 0x61737967 // "asyg"

// idleSQL ends the transaction of a node that stands still, so that it keeps no
// tenant's lock from the others.
const idleSQL = "SET LOCAL idle_in_transaction_session_timeout = '5s'"

// Running begins the transaction, waits until no one else claims of its tenants,
// and counts.
func (c *claiming) Running(ctx context.Context, mutations map[string][]string) (map[string]asyncop.Tally, error) {
	var tenants, names []string
	for _, tenant := range c.tenants {
		for _, name := range append([]string{""}, mutations[tenant]...) {
			tenants, names = append(tenants, tenant), append(names, name)
		}
	}
	tallies := make(map[string]asyncop.Tally, len(c.tenants))
	batch := &pgx.Batch{}
	batch.Queue("begin")
	batch.Queue(idleSQL)
	batch.Queue(lockTenantsSQL, c.tenants, tenantLocks)
	batch.Queue(runningSQL, c.node, tenants, names).Query(func(rows pgx.Rows) error {
		var tenant, name string
		var running int
		_, err := pgx.ForEachRow(rows, []any{&tenant, &name, &running}, func() error {
			tally := tallies[tenant]
			if name == "" {
				tally.Running = running
			} else {
				if tally.Mutations == nil {
					tally.Mutations = map[string]int{}
				}
				tally.Mutations[name] = running
			}
			tallies[tenant] = tally
			return nil
		})
		return err
	})
	err := c.conn.SendBatch(ctx, batch).Close()
	return tallies, err
}

// Candidates locks the heads of the backlogs whose turn it is.
func (c *claiming) Candidates(ctx context.Context, turns []asyncop.Turn) ([]asyncop.Candidate, error) {
	backlogs := column(turns, func(t asyncop.Turn) asyncop.Backlog { return t.Backlog })
	rows, err := c.conn.Query(ctx, candidatesSQL,
		column(backlogs, tenantOf), column(backlogs, issuerOf), column(backlogs, subjectOf), column(backlogs, laneOf),
		column(turns, func(t asyncop.Turn) int64 { return int64(t.Most) }))
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (found asyncop.Candidate, err error) {
		var place int
		err = row.Scan(&found.ID, &place, &found.Mutations, &found.Priority, &found.NotBefore)
		if err == nil {
			found.Backlog = backlogs[place-1]
		}
		return found, err
	})
}

// Claim claims, moves and commits. What it claimed where its answer is lost is
// found by its seed later.
func (c *claiming) Claim(ctx context.Context, ids []uuid.UUID, moved []asyncop.Moved) (claims []asyncop.Claim, err error) {
	if len(ids) == 0 && len(moved) == 0 {
		return nil, nil
	}
	seed := uuid.New()
	batch := &pgx.Batch{}
	if len(moved) > 0 {
		batch.Queue(moveSQL,
			column(moved, func(m asyncop.Moved) uuid.UUID { return m.ID }),
			column(moved, func(m asyncop.Moved) string { return m.Lane }))
	}
	batch.Queue(claimSQL, c.node, seed, ids).Query(func(rows pgx.Rows) error {
		claims, err = pgx.CollectRows(rows, scanClaim)
		return err
	})
	batch.Queue("commit")
	if err := c.conn.SendBatch(ctx, batch).Close(); err != nil {
		c.store.unheard.add(c.node, seed)
		return nil, err
	}
	c.committed = true
	return claims, nil
}

func scanClaim(row pgx.CollectableRow) (asyncop.Claim, error) {
	var claim asyncop.Claim
	var authority string
	op, err := scanOperation(row, &claim.Token, &authority, &claim.TraceContext)
	claim.Operation, claim.Authority = op, []byte(authority)
	return claim, err
}
