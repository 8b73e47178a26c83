package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"time"
)

const (
	checkpointInterval = time.Minute
	// checkpointSize is the size of the log file, in bytes, from which Run
	// empties it.
	checkpointSize = 64 << 20
)

// Run keeps the write-ahead log small until ctx ends. SQLite copies the log
// into the file by itself after commits, but starts the log over only at a
// moment without readers, which may not come under constant reading.
func (s *Store) Run(ctx context.Context) error {
	ticker := time.NewTicker(checkpointInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
			if err := s.checkpoint(ctx, checkpointSize); err != nil && ctx.Err() == nil {
				s.logger.Warn("the log file of the store was not emptied", slog.Any("error", err))
			}
		}
	}
}

// checkpoint empties a log file of at least size bytes. It waits for running
// reads, and lets no write begin meanwhile.
func (s *Store) checkpoint(ctx context.Context, size int64) error {
	log, err := os.Stat(s.path + "-wal")
	if errors.Is(err, fs.ErrNotExist) || (err == nil && log.Size() < size) {
		return nil
	}
	if err != nil {
		return err
	}
	var busy, frames, copied int
	err = s.writer.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &frames, &copied)
	if err == nil && busy != 0 {
		return fmt.Errorf("checkpoint: reads did not end in time, %d of %d frames copied", copied, frames)
	}
	return err
}
