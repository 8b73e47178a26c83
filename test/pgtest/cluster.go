package pgtest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// patience bounds starting and stopping.
const patience = time.Minute

// Cluster is a PostgreSQL server with its data in a temporary directory. It
// listens on 127.0.0.1 and on a socket in that directory, and trusts whoever
// connects. Its methods are for one goroutine at a time.
type Cluster struct {
	programs string // where initdb and postgres are
	dir      string
	port     int
	owner    *syscall.Credential // nil: the user that runs the tests
	server   *server             // nil while stopped
}

// start makes a cluster and starts it.
func start() (*Cluster, error) {
	programs, err := findPrograms()
	if err != nil {
		return nil, err
	}
	owner, err := unprivileged()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("/tmp", "pgtest-") // short: a socket's path ends at 107 bytes
	if err != nil {
		return nil, fmt.Errorf("make a directory for postgres: %w", err)
	}
	c := &Cluster{programs: programs, dir: dir, owner: owner}
	if err := errors.Join(c.init(), c.Start()); err != nil {
		return nil, errors.Join(err, c.remove())
	}
	return c, nil
}

func (c *Cluster) init() error {
	if c.owner != nil {
		if err := os.Chown(c.dir, int(c.owner.Uid), int(c.owner.Gid)); err != nil {
			return fmt.Errorf("hand over the directory of postgres: %w", err)
		}
	}
	cmd := c.command("initdb", "-D", c.data(), "-U", "postgres", "-A", "trust",
		"--encoding=UTF8", "--locale=C", "--no-sync")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, out)
	}
	return nil
}

// Start starts a stopped cluster and returns once it answers. After the first
// start it keeps its port.
func (c *Cluster) Start() error {
	if c.port == 0 {
		port, err := freePort()
		if err != nil {
			return err
		}
		c.port = port
	}
	cmd := c.command("postgres", "-D", c.data(), "-p", strconv.Itoa(c.port), "-k", c.dir,
		"-c", "listen_addresses=127.0.0.1", "-c", "max_connections=200", "-c", "fsync=on",
		"-c", "log_line_prefix=%m [%p] %a: ")
	log, err := os.OpenFile(c.LogFile(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("open the log of postgres: %w", err)
	}
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	if c.server, err = launch(cmd); err != nil {
		return err
	}
	return c.awaitReady()
}

func (c *Cluster) awaitReady() error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		conn, err := pgx.Connect(ctx, c.URL("postgres"))
		if err == nil {
			return conn.Close(ctx)
		}
		select {
		case <-tick.C:
		case <-c.server.ended:
			return fmt.Errorf("postgres ended while starting: %w\n%s", c.server.err, c.log())
		case <-ctx.Done():
			return fmt.Errorf("postgres did not start: %w\n%s", err, c.log())
		}
	}
}

// Stop disconnects everyone and stops the server in good order. It keeps the
// data.
func (c *Cluster) Stop() error {
	if c.server == nil {
		return nil
	}
	err := c.server.stop(syscall.SIGINT)
	c.server = nil
	return err
}

// Restart stops the server and starts it again on the same port.
func (c *Cluster) Restart() error {
	if err := c.Stop(); err != nil {
		return err
	}
	return c.Start()
}

func (c *Cluster) remove() error {
	return errors.Join(c.Stop(), os.RemoveAll(c.dir))
}

// URL answers the URL of a database over TCP.
func (c *Cluster) URL(database string) string {
	return fmt.Sprintf("postgres://postgres@127.0.0.1:%d/%s?sslmode=disable", c.port, database)
}

// SocketDir is the directory of the unix socket.
func (c *Cluster) SocketDir() string { return c.dir }

// LogFile is where the server logs.
func (c *Cluster) LogFile() string { return filepath.Join(c.dir, "log") }

func (c *Cluster) data() string { return filepath.Join(c.dir, "data") }

func (c *Cluster) log() string {
	text, err := os.ReadFile(c.LogFile())
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func (c *Cluster) createDatabase(ctx context.Context, name string) error {
	conn, err := pgx.Connect(ctx, c.URL("postgres"))
	if err != nil {
		return fmt.Errorf("create a database: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if _, err := conn.Exec(ctx, "CREATE DATABASE "+pgx.Identifier{name}.Sanitize()); err != nil {
		return fmt.Errorf("create a database: %w", err)
	}
	return nil
}

// command is one of PostgreSQL's programs, run as the cluster's owner.
func (c *Cluster) command(program string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(c.programs, program), args...)
	cmd.Dir = c.dir
	cmd.Env = append(os.Environ(), "LC_ALL=C", "TZ=UTC")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: c.owner}
	return cmd
}

func freePort() (int, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("find a free port: %w", err)
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port, nil
}
