package sqlite

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"time"

	"github.com/gofrs/flock"
	"github.com/google/uuid"

	"asyncgate/internal/asyncop"
)

//go:embed queries/ping.sql
var pingSQL string

// Options are what a Store needs besides its file. The zero value works.
type Options struct {
	// Waker is told of changes, each after its commit; nil tells no one.
	Waker asyncop.Waker
	// Migrate brings the schema up to date; false refuses an old one.
	Migrate bool
	// Logger is told what Open and Run did; nil logs nothing.
	Logger *slog.Logger
}

// Store is an asyncop.Store in one file.
type Store struct {
	path   string
	lock   *flock.Flock
	writer *pool // one connection: writes take turns
	reader *pool
	waker  asyncop.Waker
	turns  *asyncop.Turns
	logger *slog.Logger
}

var _ asyncop.Store = (*Store)(nil)

// Open opens the file at path, creates it where there is none, readable by its
// owner alone, and recovers every RUNNING operation. The file stays locked
// until Close. Errors: ErrLocked, asyncop.ErrSchemaOld.
func Open(ctx context.Context, path string, opts Options) (*Store, error) {
	lock, err := acquire(path)
	if err != nil {
		return nil, err
	}
	s := &Store{path: path, lock: lock, waker: opts.Waker, turns: asyncop.NewTurns(), logger: opts.Logger}
	if s.waker == nil {
		s.waker = asyncop.Wakers(nil)
	}
	s.logger = cmp.Or(s.logger, slog.New(slog.DiscardHandler))
	if err := s.open(ctx, opts.Migrate); err != nil {
		return nil, errors.Join(fmt.Errorf("open store %s: %w", path, err), s.Close())
	}
	return s, nil
}

func (s *Store) open(ctx context.Context, migrateIt bool) (err error) {
	if err := create(s.path); err != nil {
		return err
	}
	if s.writer, err = connect(s.path, writerSettings, 1); err != nil {
		return err
	}
	if err := bringUp(ctx, s.writer.DB, migrateIt); err != nil {
		return err
	}
	if err := s.writer.prepare(ctx, writes); err != nil {
		return err
	}
	if s.reader, err = connect(s.path, readerSettings, readerConnections); err != nil {
		return err
	}
	if err := s.reader.prepare(ctx, reads); err != nil {
		return err
	}
	recovered, err := s.recoverSilent(ctx, math.MaxInt64)
	if len(recovered) > 0 {
		s.logger.Info("recovered operations that were running", slog.Int("operations", len(recovered)))
	}
	return err
}

// Close closes the file and gives up its lock. No method may run or follow.
func (s *Store) Close() error {
	// The writer goes last: the last connection to close empties the log file.
	return errors.Join(s.reader.close(), s.writer.close(), s.lock.Unlock())
}

// Ping answers nil while the file can be read.
func (s *Store) Ping(ctx context.Context) error {
	var n int
	if err := s.reader.queryRow(ctx, pingSQL, nil).Scan(&n); err != nil {
		return fmt.Errorf("ping store: %w", err)
	}
	return nil
}

// now is the clock of every row: microseconds since 1970.
func now() int64 { return time.Now().UnixMicro() }

// changed tells the waker what a committed write changed.
func (s *Store) changed(ids []uuid.UUID) {
	if len(ids) > 0 {
		s.waker.Changed(ids...)
	}
}

// Listening is true: all who wake each other are in this process.
func (s *Store) Listening() bool { return true }

// Proven is true, as Listening is.
func (s *Store) Proven(context.Context) bool { return true }
