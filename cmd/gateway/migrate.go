package main

import (
	"context"
	"fmt"

	"asyncgate/internal/asyncop/postgres"
	"asyncgate/internal/asyncop/sqlite"
	"asyncgate/internal/config"
)

// migrateCommand brings the store's schema to this version.
type migrateCommand struct {
	Config string `required:"" placeholder:"FILE" help:"The configuration."`
	Store  string `placeholder:"URL" help:"The store, in place of the configuration's: sqlite:PATH or postgres://…"`
}

// Run migrates, and says so. Migrating what is up to date does nothing.
func (c *migrateCommand) Run(ctx context.Context, std stdio) error {
	cfg, err := config.Load(c.Config, std.env)
	if err != nil {
		return err
	}
	store := cfg.Store
	if c.Store != "" {
		if store, err = config.ParseStore(c.Store, "."); err != nil {
			return fmt.Errorf("--store %w", err)
		}
	}
	if err := migrate(ctx, store); err != nil {
		return err
	}
	_, err = fmt.Fprintf(std.out, "the %s store's schema is this version's\n", store)
	return err
}

func migrate(ctx context.Context, store config.Store) error {
	if store.Postgres != "" {
		return postgres.Migrate(ctx, store.Postgres)
	}
	return sqlite.Migrate(ctx, store.SQLite)
}
