// Package upstreams starts real GraphQL servers for tests, each a folder beside
// this file: Node.js programs with their packages pinned in package-lock.json,
// and a gqlgen server. All but PostGraphile serve the schema of the folder shop.
package upstreams

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

// startTimeout bounds how long a server may take until it listens.
const startTimeout = 30 * time.Second

// stopTimeout bounds how long a server may take to end when it is told to.
const stopTimeout = 5 * time.Second

// Server is a running upstream. It ends with its test, and with the process
// that started it.
type Server struct {
	// URL is where its GraphQL is served, on the loopback interface.
	URL string

	stop func()
}

// Stop ends the server, cutting off what it is doing, and waits until it has
// ended. Further calls do nothing.
func (s *Server) Stop() { s.stop() }

// start installs the packages of the program in the folder name, unless they
// are there, runs its script and waits until it listens.
func start(t testing.TB, name, script string, args ...string) *Server {
	t.Helper()
	dir, err := programDir(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := install(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	program, err := run(dir, t.Output(), append([]string{script}, args...))
	if err != nil {
		t.Fatal(err)
	}
	server := &Server{stop: sync.OnceFunc(program.end)}
	t.Cleanup(server.Stop)
	select {
	case url, ok := <-program.listening:
		if !ok {
			t.Fatalf("the %s upstream ended before it listened: its output is above", name)
		}
		server.URL = url
	case <-time.After(startTimeout):
		t.Fatalf("the %s upstream does not listen after %v", name, startTimeout)
	}
	return server
}

// program is a process that says on its standard output where it listens.
type program struct {
	listening <-chan string // one URL, then closed; closed at once where it ended before
	stdin     io.Closer     // the process ends when it closes
	kill      context.CancelFunc
	ended     <-chan struct{}
}

// run starts node in dir. What it writes to its standard error goes to log.
func run(dir string, log io.Writer, args []string) (*program, error) {
	ctx, kill := context.WithCancel(context.Background()) // outlives the test's context: cleanups may still need it
	command := exec.CommandContext(ctx, node(dir), args...)
	command.Dir = dir
	command.Env = append(os.Environ(), "GRAPHILE_ENV=production") // PostGraphile wants to be told
	command.Stderr = log
	stdin, err := command.StdinPipe()
	if err != nil {
		kill()
		return nil, err
	}
	stdout, err := command.StdoutPipe()
	if err != nil {
		kill()
		return nil, err
	}
	if err := command.Start(); err != nil {
		kill()
		return nil, fmt.Errorf("start node: %w", err)
	}
	listening, ended := make(chan string, 1), make(chan struct{})
	go func() {
		defer close(ended)
		announce(stdout, listening)
		_ = command.Wait() // killed, or told to end: either is fine
	}()
	return &program{listening: listening, stdin: stdin, kill: kill, ended: ended}, nil
}

// announce reads until the program has ended, and sends the URL that it prints.
func announce(stdout io.Reader, listening chan<- string) {
	defer close(listening)
	lines := bufio.NewScanner(stdout)
	announced := false
	for lines.Scan() {
		if url, ok := strings.CutPrefix(lines.Text(), "listening on "); ok && !announced {
			announced = true
			listening <- url
		}
	}
}

// end tells the process to end, by closing its standard input, and kills one
// that does not listen.
func (p *program) end() {
	defer p.kill()
	_ = p.stdin.Close()
	select {
	case <-p.ended:
	case <-time.After(stopTimeout):
		p.kill()
		<-p.ended
	}
}
