package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// writes are the statements of the writing connection.
var writes = []string{
	submitSQL, keyedSQL, getSQL, comeDueSQL, aliveSQL, runningSQL, runningMutationSQL, candidatesSQL, moveSQL, claimSQL, heartbeatSQL, pulseSQL, finishSQL, retrySQL, releaseSQL,
	recoverSQL, forgetSQL, expireSQL, cancelSQL, purgeSQL, deleteSQL,
}

// transaction is a write in progress, which has the file to itself, or a
// snapshot that is being read.
type transaction struct {
	tx       *sql.Tx
	prepared map[string]*sql.Stmt // on the pool, by their text
	bound    map[string]*sql.Stmt // to tx; they end with it
}

func newTransaction(tx *sql.Tx, p *pool) transaction {
	return transaction{tx: tx, prepared: p.statements, bound: map[string]*sql.Stmt{}}
}

// write runs do in one transaction, which is on the disk when it returns nil
// and leaves nothing behind when do fails. Its turn is waited for as long as
// ctx lasts; a write that has begun is not cut off, since an interrupted commit
// would leave open what it did.
func (s *Store) write(ctx context.Context, do func(context.Context, transaction) error) error {
	conn, err := s.writer.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }() // it goes back to the pool
	ctx = context.WithoutCancel(ctx)
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	// It does nothing after a commit. After a full disk SQLite may have rolled
	// back already, and answers an error: the first one tells more.
	defer func() { _ = tx.Rollback() }()
	if err := do(ctx, newTransaction(tx, s.writer)); err != nil {
		return err
	}
	return tx.Commit()
}

// bind binds a prepared statement to the transaction, once.
func (t transaction) bind(ctx context.Context, text string) {
	if t.bound[text] == nil {
		t.bound[text] = t.tx.StmtContext(ctx, t.prepared[text])
	}
}

func (t transaction) exec(ctx context.Context, text string, v values) error {
	t.bind(ctx, text)
	_, err := t.bound[text].ExecContext(ctx, v.arguments()...)
	return err
}

func (t transaction) queryRow(ctx context.Context, text string, v values) *sql.Row {
	t.bind(ctx, text)
	return t.bound[text].QueryRowContext(ctx, v.arguments()...)
}

func (t transaction) query(ctx context.Context, text string, v values) (*sql.Rows, error) {
	t.bind(ctx, text)
	return t.bound[text].QueryContext(ctx, v.arguments()...)
}

// values are the named parameters of a statement.
type values map[string]any

func (v values) arguments() []any {
	arguments := make([]any, 0, len(v))
	for name, value := range v {
		arguments = append(arguments, sql.Named(name, value))
	}
	return arguments
}

// with adds more to v and returns v.
func (v values) with(more values) values {
	for name, value := range more {
		v[name] = value
	}
	return v
}

// refused reports whether SQLite refused the values of one statement, which
// then changed nothing. Any other error spoils the whole transaction.
func refused(err error) bool {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return false
	}
	switch e.Code() & 0xff { // the rest is detail
	case sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_TOOBIG:
		return true
	}
	return false
}
