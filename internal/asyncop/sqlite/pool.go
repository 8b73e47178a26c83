package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	_ "modernc.org/sqlite" // the driver
)

const (
	fileMode          fs.FileMode = 0o600
	readerConnections int         = 4
)

// The settings of a connection. A write is on the disk when its commit returns
// (synchronous=FULL). busy_timeout is for tools that open the file beside us,
// such as a backup. No one runs ANALYZE: without statistics, plans never change.
var (
	writerSettings = url.Values{
		"_txlock": {"immediate"},
		"_pragma": {
			"busy_timeout(5000)", "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(ON)",
			"cache_size(-16384)", "journal_size_limit(67108864)",
		},
	}
	readerSettings = url.Values{
		"_pragma": {"busy_timeout(5000)", "query_only(ON)", "cache_size(-8192)"},
	}
)

// pool is connections to one file, and the statements prepared on them, by
// their text.
type pool struct {
	*sql.DB
	statements map[string]*sql.Stmt
}

// create makes the file at path where there is none. SQLite gives its log files
// the same mode. It must not be called while the file is open: closing any
// descriptor of a file drops all locks that the process has on it, SQLite's too.
func create(path string) error {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, fileMode)
	if err != nil {
		return err
	}
	return file.Close()
}

// connect opens up to limit connections, which are kept.
func connect(path string, settings url.Values, limit int) (*pool, error) {
	db, err := sql.Open("sqlite", dataSource(path, settings))
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(limit)
	db.SetMaxIdleConns(limit)
	return &pool{DB: db, statements: map[string]*sql.Stmt{}}, nil
}

// dataSource is an SQLite URI, so that no character of path means anything.
func dataSource(path string, settings url.Values) string {
	uri := url.URL{Scheme: "file", Opaque: (&url.URL{Path: filepath.ToSlash(path)}).EscapedPath(), RawQuery: settings.Encode()}
	return uri.String()
}

// prepare compiles each text once, so that a mistake in one is found at Open.
// The driver takes anything after the semicolon, a newline too, for a script
// and would compile that anew at every use: hence the trimming.
func (p *pool) prepare(ctx context.Context, texts []string) error {
	for _, text := range texts {
		statement, err := p.PrepareContext(ctx, strings.TrimSpace(text)) //nolint:sqlclosecheck // close does
		if err != nil {
			return fmt.Errorf("prepare statement: %w", err)
		}
		p.statements[text] = statement
	}
	return nil
}

func (p *pool) queryRow(ctx context.Context, text string, v values) *sql.Row {
	return p.statements[text].QueryRowContext(ctx, v.arguments()...)
}

func (p *pool) query(ctx context.Context, text string, v values) (*sql.Rows, error) {
	return p.statements[text].QueryContext(ctx, v.arguments()...)
}

// close closes the statements and the connections. A nil pool was never open.
func (p *pool) close() error {
	if p == nil {
		return nil
	}
	var errs []error
	for _, statement := range p.statements {
		errs = append(errs, statement.Close())
	}
	return errors.Join(append(errs, p.Close())...)
}
