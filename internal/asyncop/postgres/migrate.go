package postgres

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"asyncgate/internal/asyncop"
)

//go:embed migrations/*.sql
var migrations embed.FS

const (
	versionTable = "async_schema_version"
	// migrationLock is the advisory lock that one migrating node holds while
	// the others wait, up to lockTries seconds.
	migrationLock = 0x6173796e63676174 // "asyncgat"
	lockTries     = 300
)

// Migrate brings the database's schema up to this program's version. Several
// nodes may do so at once. Errors: ErrBadURL; asyncop.ErrSchemaOld where the
// schema is newer than this program.
func Migrate(ctx context.Context, url string) error {
	config, err := poolConfig(url)
	if err != nil {
		return err
	}
	return prepareSchema(ctx, config.ConnConfig, true)
}

// prepareSchema migrates if asked to, and then requires this program's schema.
func prepareSchema(ctx context.Context, config *pgx.ConnConfig, migrate bool) error {
	db := stdlib.OpenDB(*config)
	defer func() { _ = db.Close() }() // nothing is written through it after this
	if err := db.PingContext(ctx); err != nil {
		return fmt.Errorf("connect to PostgreSQL, see `store` of the configuration: %w", err)
	}
	provider, err := newProvider(db)
	if err != nil {
		return fmt.Errorf("read migrations: %w", err)
	}
	if migrate {
		if _, err := provider.Up(ctx); err != nil {
			return fmt.Errorf("migrate store: %w", err)
		}
	}
	sources := provider.ListSources()
	return requireVersion(ctx, db, sources[len(sources)-1].Version)
}

func newProvider(db *sql.DB) (*goose.Provider, error) {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, err
	}
	locker, err := lock.NewPostgresSessionLocker(lock.WithLockID(migrationLock), lock.WithLockTimeout(1, lockTries))
	if err != nil {
		return nil, err
	}
	return goose.NewProvider(goose.DialectPostgres, db, files,
		goose.WithTableName(versionTable),
		goose.WithSessionLocker(locker),
		goose.WithDisableGlobalRegistry(true))
}

// requireVersion only reads, so that a node that may not migrate needs no
// right to create tables. Errors: asyncop.ErrSchemaOld.
func requireVersion(ctx context.Context, db *sql.DB, want int64) error {
	const undefinedTable = "42P01"
	var got int64
	err := db.QueryRowContext(ctx, "SELECT coalesce(max(version_id), 0) FROM "+versionTable).Scan(&got)
	var pgErr *pgconn.PgError
	if err != nil && !(errors.As(err, &pgErr) && pgErr.Code == undefinedTable) {
		return fmt.Errorf("read schema version: %w", err)
	}
	switch {
	case got < want:
		return fmt.Errorf("%w: it is version %d, this program needs %d; run gateway migrate, or set store_migrate: true", asyncop.ErrSchemaOld, got, want)
	case got > want:
		return fmt.Errorf("%w: it is version %d, newer than this program's %d; run the newer program", asyncop.ErrSchemaOld, got, want)
	}
	return nil
}
