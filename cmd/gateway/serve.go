package main

import (
	"context"
	"errors"
	"fmt"
	"net"

	"asyncgate/internal/asyncop"
	"asyncgate/internal/config"
	"asyncgate/internal/telemetry"
)

// serveCommand serves until it is told to stop.
type serveCommand struct {
	Config string `required:"" placeholder:"FILE" help:"The configuration."`
	Listen string `placeholder:"ADDR" help:"The address, in place of the configuration's."`
	Store  string `placeholder:"URL" help:"The store, in place of the configuration's: sqlite:PATH or postgres://…"`
}

// Run serves, says so on stdout in one line, and drains when ctx ends.
func (c *serveCommand) Run(ctx context.Context, std stdio) error {
	cfg, err := config.Load(c.Config, std.env)
	if err != nil {
		return err
	}
	if c.Listen != "" {
		cfg.Listen = c.Listen
	}
	if c.Store != "" {
		if cfg.Store, err = config.ParseStore(c.Store, "."); err != nil {
			return fmt.Errorf("--store %w", err)
		}
	}
	return serve(ctx, cfg, std, func(address string) {
		_, _ = fmt.Fprintf(std.out, "listening on http://%s\n", address)
	})
}

// serve runs a node with this configuration until ctx ends. It calls ready
// with its address once requests are served.
func serve(ctx context.Context, cfg *config.Config, std stdio, ready func(address string)) error {
	log := telemetry.Logger(std.err, cfg.Log.Format, cfg.Log.Level)
	n, release, err := newNode(ctx, cfg, log)
	if errors.Is(err, asyncop.ErrSchemaOld) {
		return fmt.Errorf("%w: run `gateway migrate` first, or set store_migrate: true", err)
	}
	if err != nil {
		return err
	}
	defer release()
	var listen net.ListenConfig
	ln, err := listen.Listen(ctx, "tcp", cfg.Listen)
	if err != nil {
		return fmt.Errorf("listen on %s: %w; choose another with --listen", cfg.Listen, err)
	}
	log.InfoContext(ctx, "starting", "config", cfg, "address", ln.Addr().String())
	err = n.Run(ctx, ln, func() { ready(ln.Addr().String()) })
	log.InfoContext(ctx, "stopped")
	return err
}
