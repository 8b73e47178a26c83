package sqlite

import (
	"context"
	_ "embed"
	"fmt"
	"time"

	"github.com/google/uuid"

	"asyncgate/internal/asyncop"
)

var (
	//go:embed queries/purge.sql
	purgeSQL string
	//go:embed queries/delete.sql
	deleteSQL string
)

// Sweep implements asyncop.Store. What is deleted is not purged before.
func (s *Store) Sweep(ctx context.Context, retention asyncop.Retention, limit int) (asyncop.Swept, error) {
	var deleted, purged []uuid.UUID
	err := s.write(ctx, func(ctx context.Context, tx transaction) (err error) {
		at := now()
		if deleted, err = scanIDs(tx.query(ctx, deleteSQL, endedBy(at, retention.Operation, limit))); err != nil {
			return err
		}
		purged, err = scanIDs(tx.query(ctx, purgeSQL, endedBy(at, retention.Result, limit)))
		return err
	})
	if err != nil {
		return asyncop.Swept{}, fmt.Errorf("sweep operations: %w", err)
	}
	s.changed(append(deleted, purged...))
	return asyncop.Swept{Purged: len(purged), Deleted: len(deleted)}, nil
}

func endedBy(at int64, kept time.Duration, limit int) values {
	return values{"ended_by": at - int64(kept/time.Microsecond), "limit": max(limit, 0)}
}
