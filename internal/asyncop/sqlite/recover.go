package sqlite

import (
	"context"
	"database/sql"
	_ "embed"
	"fmt"
	"time"

	"github.com/google/uuid"

	"asyncgate/internal/asyncop"
)

var (
	//go:embed queries/recover.sql
	recoverSQL string
	//go:embed queries/forget.sql
	forgetSQL string
)

// Recover implements asyncop.Store.
func (s *Store) Recover(ctx context.Context, staleAfter time.Duration) ([]uuid.UUID, error) {
	return s.recoverSilent(ctx, now()-int64(staleAfter/time.Microsecond))
}

// recoverSilent takes the claims of every node that has not been heard of
// since silentSince, in microseconds, and forgets the node.
func (s *Store) recoverSilent(ctx context.Context, silentSince int64) ([]uuid.UUID, error) {
	var recovered []given
	err := s.write(ctx, func(ctx context.Context, tx transaction) (err error) {
		silent := values{"silent_since": silentSince}
		recovered, err = scanGiven(tx.query(ctx, recoverSQL, values{
			"now": now(), "execution": asyncop.UnknownExecution,
			"lost_code": string(asyncop.CodeOutcomeUnknown), "lost_message": asyncop.MessageWorkerLost,
		}.with(cancelledValues()).with(silent)))
		if err != nil {
			return err
		}
		return tx.exec(ctx, forgetSQL, silent)
	})
	if err != nil {
		return nil, fmt.Errorf("recover operations: %w", err)
	}
	s.gave(recovered)
	ids := make([]uuid.UUID, len(recovered))
	for i, row := range recovered {
		ids[i] = row.id
	}
	return ids, nil
}

func scanGiven(rows *sql.Rows, err error) ([]given, error) {
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []given
	for rows.Next() {
		var row given
		if err := rows.Scan(append([]any{&row.id}, row.into()...)...); err != nil {
			return nil, err
		}
		all = append(all, row)
	}
	return all, rows.Err()
}
