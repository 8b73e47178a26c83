package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"asyncgate/internal/auth"
	"asyncgate/internal/config"
	"asyncgate/internal/demo"
	"asyncgate/internal/demo/upstream"
)

// demoCommand serves a gateway and a sample upstream in one process.
type demoCommand struct {
	Listen string `placeholder:"ADDR" help:"The address, 127.0.0.1:8080 where none is given."`
	Store  string `placeholder:"URL" help:"A store to keep: sqlite:PATH or postgres://…. Where none is given, a temporary file that is removed at the end."`
}

// Run serves until ctx ends. It prints tokens, and commands to paste.
func (c *demoCommand) Run(ctx context.Context, std stdio) (err error) {
	dir, err := os.MkdirTemp("", "asyncgate-demo-")
	if err != nil {
		return fmt.Errorf("make a folder for the demo: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	address, stop, err := serveUpstream(ctx, std)
	if err != nil {
		return err
	}
	defer stop()
	cfg, err := c.configure(dir, address)
	if err != nil {
		return err
	}
	tokens, err := demoTokens(cfg)
	if err != nil {
		return err
	}
	return serve(ctx, cfg, std, nil, func(address string) {
		if err := demo.Introduce(std.out, address, tokens); err != nil {
			_, _ = fmt.Fprintf(std.err, "gateway: %v\n", err)
		}
	})
}

// configure makes the demo's configuration, with a secret of this run's own.
func (c *demoCommand) configure(dir, upstreamAddress string) (*config.Config, error) {
	values := map[string]string{
		"DEMO_DIR": dir, "DEMO_SECRET": rand.Text() + rand.Text(),
		"DEMO_UPSTREAM": "http://" + upstreamAddress + "/graphql",
	}
	cfg, err := config.Parse(demo.Config, dir, func(name string) (string, bool) {
		value, ok := values[name]
		return value, ok
	})
	if err != nil {
		return nil, err
	}
	if c.Listen != "" {
		cfg.Listen = c.Listen
	}
	if c.Store != "" {
		if cfg.Store, err = config.ParseStore(c.Store, "."); err != nil {
			return nil, fmt.Errorf("--store %w", err)
		}
	}
	return cfg, nil
}

func demoTokens(cfg *config.Config) ([]string, error) {
	tokens := make([]string, len(demo.Callers))
	for i, caller := range demo.Callers {
		var err error
		tokens[i], err = auth.Mint(cfg.Issuers[0], auth.SecurityContext{
			Issuer: demo.Issuer, Subject: caller.Subject, Tenant: caller.Tenant,
		}, 24*time.Hour, time.Now())
		if err != nil {
			return nil, err
		}
	}
	return tokens, nil
}

// serveUpstream serves the sample upstream on a loopback port until stop is
// called.
func serveUpstream(ctx context.Context, std stdio) (address string, stop func(), err error) {
	var listen net.ListenConfig
	ln, err := listen.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, fmt.Errorf("listen for the sample upstream: %w", err)
	}
	sample := &http.Server{
		Handler: upstream.New(), ReadHeaderTimeout: 10 * time.Second,
		ErrorLog: slog.NewLogLogger(slog.NewTextHandler(std.err, nil), slog.LevelWarn),
	}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = sample.Serve(ln) // ends with stop
	}()
	return ln.Addr().String(), func() {
		_ = sample.Close()
		<-served
	}, nil
}
