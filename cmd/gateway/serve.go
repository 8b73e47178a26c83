package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/signal"
	"sync"
	"syscall"

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
	reload, stop := onHangup(func() (*config.Config, error) { return config.Load(c.Config, std.env) })
	defer stop()
	return serve(ctx, cfg, std, reload, func(address string) {
		_, _ = fmt.Fprintf(std.out, "listening on http://%s\n", address)
	})
}

// onHangup offers load for each SIGHUP, until stop is called.
func onHangup(load func() (*config.Config, error)) (reload <-chan func() (*config.Config, error), stop func()) {
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	offers, stopped := make(chan func() (*config.Config, error)), make(chan struct{})
	var watcher sync.WaitGroup
	watcher.Go(func() {
		for {
			select {
			case <-hangups:
			case <-stopped:
				return
			}
			select {
			case offers <- load:
			case <-stopped:
				return
			}
		}
	})
	return offers, func() {
		signal.Stop(hangups)
		close(stopped)
		watcher.Wait()
	}
}

// serve runs a node with this configuration until ctx ends, and takes over
// each that comes by reload. It calls ready with its address once requests are
// served.
func serve(ctx context.Context, cfg *config.Config, std stdio, reload <-chan func() (*config.Config, error), ready func(address string)) error {
	log, setLevel := telemetry.Logger(std.err, cfg.Log.Format, cfg.Log.Level)
	var listen net.ListenConfig
	ln, err := listen.Listen(ctx, "tcp", cfg.Listen) // first: a port in use should leave no new database behind
	if err != nil {
		return fmt.Errorf("listen on %s: %w; choose another with --listen", cfg.Listen, err)
	}
	defer ln.Close()
	n, release, err := newNode(ctx, cfg, log)
	if err != nil {
		return err
	}
	defer release()
	n.reloaded = func(cfg *config.Config) { setLevel(cfg.Log.Level) }
	log.InfoContext(ctx, "starting", "config", cfg, "address", ln.Addr().String())
	err = n.Run(ctx, ln, func() { ready(ln.Addr().String()) }, reload)
	log.InfoContext(ctx, "stopped")
	return err
}
