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
	//go:embed queries/expire.sql
	expireSQL string
	//go:embed queries/next_due.sql
	nextDueSQL string
)

// Expire implements asyncop.Store.
func (s *Store) Expire(ctx context.Context, limit int) ([]uuid.UUID, error) {
	var expired []uuid.UUID
	err := s.write(ctx, func(ctx context.Context, tx transaction) (err error) {
		expired, err = scanIDs(tx.query(ctx, expireSQL, values{
			"now": now(), "limit": max(limit, 0),
			"failure_code": string(asyncop.CodeStartDeadlineExceeded), "failure_message": asyncop.MessageStartDeadline,
		}))
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("expire operations: %w", err)
	}
	s.changed(expired)
	return expired, nil
}

// NextDue implements asyncop.Store.
func (s *Store) NextDue(ctx context.Context) (in time.Duration, ok bool, err error) {
	var at sql.Null[int64]
	if err := s.reader.queryRow(ctx, nextDueSQL, nil).Scan(&at); err != nil {
		return 0, false, fmt.Errorf("find next due operation: %w", err)
	}
	if !at.Valid {
		return 0, false, nil
	}
	return max(time.Until(instant(at.V)), 0), true, nil
}
