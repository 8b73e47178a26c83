// Package postgres keeps operations in PostgreSQL 15 or later and spreads
// wakes between the nodes that share a database.
//
// Each method of Store is one statement, which names the states that it starts
// from; the table's CHECKs refuse what no statement should write. Time is the
// database's clock. Wakes go out by NOTIFY after the commit, batched and
// outside the transactions that they tell of, and are hints throughout.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"asyncgate/internal/asyncop"
)

const (
	// statementTimeout bounds every statement, whatever the caller allows.
	statementTimeout = 30 * time.Second
	// poolSize is how many connections a node uses unless its URL says
	// pool_max_conns. LISTEN has one more.
	poolSize = 16
)

// ErrBadURL: the store's URL cannot be parsed. It does not repeat the URL,
// which may hold a password.
var ErrBadURL = errors.New("malformed PostgreSQL URL, expected postgres://user@host:5432/database")

// Options of a store.
type Options struct {
	// Waker is told of the changes made here and by other nodes; nil: nobody.
	Waker asyncop.Waker
	// Migrate brings an older schema up to date while opening.
	Migrate bool
	// Logger hears of a LISTEN connection lost and found; nil: nobody.
	Logger *slog.Logger
}

// Store is an asyncop.Store in PostgreSQL. Run spreads its wakes.
type Store struct {
	pool      *pgxpool.Pool
	waker     asyncop.Waker
	logger    *slog.Logger
	tag       string // tells this store's notifications from those of others
	hints     *hints
	unheard   unheard
	turns     *asyncop.Turns
	listening atomic.Bool
	echoes    echoes
	suspect   chan struct{} // holds one: prove that the listening connection hears
}

var _ asyncop.Store = (*Store)(nil)

// Open connects to the database and checks its schema, or migrates it first.
// PgBouncer before 1.21, in transaction mode, needs a URL that says
// default_query_exec_mode=cache_describe, and migrating a direct connection.
// Errors: ErrBadURL; asyncop.ErrSchemaOld where the schema is another
// version's: an older one without Options.Migrate, or a newer one.
func Open(ctx context.Context, url string, opts Options) (*Store, error) {
	config, err := poolConfig(url)
	if err != nil {
		return nil, err
	}
	if err := prepareSchema(ctx, config.ConnConfig, opts.Migrate); err != nil {
		return nil, err
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	s := &Store{
		pool:   pool,
		waker:  opts.Waker,
		logger: opts.Logger,
		tag:    newTag(),
		hints:  newHints(),
		turns:  asyncop.NewTurns(),

		suspect: make(chan struct{}, 1),
	}
	if s.waker == nil {
		s.waker = asyncop.Wakers(nil)
	}
	if s.logger == nil {
		s.logger = slog.New(slog.DiscardHandler)
	}
	return s, nil
}

func poolConfig(url string) (*pgxpool.Config, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, ErrBadURL
	}
	if !strings.Contains(url, "pool_max_conns") {
		config.MaxConns = poolSize
	}
	if config.ConnConfig.ConnectTimeout == 0 {
		config.ConnConfig.ConnectTimeout = 10 * time.Second
	}
	config.ConnConfig.RuntimeParams["application_name"] = "asyncgate"
	switch config.ConnConfig.DefaultQueryExecMode {
	case pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol:
		// They guess the types of arguments and cannot send a batch's arrays;
		// this one asks, and leaves no prepared statement behind either.
		config.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe
	}
	return config, nil
}

// Close gives back claims that nobody heard of and all connections, once the
// calls in flight have ended, and tells other nodes what they were not told yet.
// Let Run end first.
func (s *Store) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	s.releaseUnheardAtEnd(ctx)
	s.notifyAtEnd(ctx)
	s.pool.Close()
}

// Ping answers nil while the store can be used.
func (s *Store) Ping(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, statementTimeout)
	defer cancel()
	if err := s.pool.Ping(ctx); err != nil {
		return fmt.Errorf("ping store: %w", err)
	}
	return nil
}

// query runs a statement and collects its answer.
func query[T any](ctx context.Context, s *Store, scan pgx.RowToFunc[T], sql string, args ...any) ([]T, error) {
	ctx, cancel := context.WithTimeout(ctx, statementTimeout)
	defer cancel()
	rows, err := s.pool.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, scan)
}

// statement is a statement with its arguments.
type statement struct {
	sql  string
	args []any
}

// queryAfter runs first and second in one transaction and one round trip, and
// collects what second answers. Second sees whatever was committed by the time
// that first had its locks.
func queryAfter[T any](ctx context.Context, s *Store, scan pgx.RowToFunc[T], first, second statement) ([]T, error) {
	ctx, cancel := context.WithTimeout(ctx, statementTimeout)
	defer cancel()
	batch := &pgx.Batch{}
	batch.Queue(first.sql, first.args...)
	batch.Queue(second.sql, second.args...)
	results := s.pool.SendBatch(ctx, batch)
	answer, err := collectSecond(results, scan)
	// The transaction ends with the batch, and so does the chance of an error.
	if closeErr := results.Close(); err == nil {
		err = closeErr
	}
	return answer, err
}

func collectSecond[T any](results pgx.BatchResults, scan pgx.RowToFunc[T]) ([]T, error) {
	if _, err := results.Exec(); err != nil {
		return nil, err
	}
	rows, err := results.Query()
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, scan)
}
