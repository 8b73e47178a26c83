package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"

	"github.com/pressly/goose/v3"

	"asyncgate/internal/asyncop"
)

//go:embed migrations/*.sql
var migrations embed.FS

const versionTable = "async_schema_version"

// Migrate brings the schema of the file at path up to date, and creates the
// file where there is none. Errors: ErrLocked; asyncop.ErrSchemaOld where the
// schema is newer than this program.
func Migrate(ctx context.Context, path string) (err error) {
	lock, err := acquire(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	if err := create(path); err != nil {
		return err
	}
	writer, err := connect(path, writerSettings, 1)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, writer.close()) }()
	return bringUp(ctx, writer.DB, true)
}

// bringUp makes sure that the schema is this program's, by migrating it where
// that is asked for. Errors: asyncop.ErrSchemaOld.
func bringUp(ctx context.Context, db *sql.DB, migrateIt bool) error {
	folder, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	provider, err := goose.NewProvider(goose.DialectSQLite3, db, folder, goose.WithTableName(versionTable))
	if err != nil {
		return fmt.Errorf("read migrations: %w", err)
	}
	current, target, err := provider.GetVersions(ctx)
	switch {
	case err != nil:
		return fmt.Errorf("read schema version: %w", err)
	case current > target:
		return fmt.Errorf("%w: it is version %d, newer than %d: use a newer gateway", asyncop.ErrSchemaOld, current, target)
	case current == target:
		return nil
	case !migrateIt:
		return fmt.Errorf("%w: it is version %d, not %d; run gateway migrate, or set store_migrate: true", asyncop.ErrSchemaOld, current, target)
	}
	if _, err := provider.Up(ctx); err != nil {
		return fmt.Errorf("migrate schema: %w", err)
	}
	return nil
}
