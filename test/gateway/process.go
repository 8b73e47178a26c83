package gateway

import (
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// patience bounds every wait for something that must happen.
const patience = 30 * time.Second

// Process is a gateway that was started. It ends with its test, and with the
// process that started it. Its methods are for one goroutine at a time, but for
// Ended, Log and Output.
type Process struct {
	// URL is where its GraphQL is served; "" unless Start started it.
	URL string

	command        *exec.Cmd
	stdout, stderr transcript
	ended          chan struct{} // closed once it has ended
	told           bool          // to end
}

// Serve is Start where the URL is all that a test needs.
func Serve(t testing.TB, binary, config string, env ...string) string {
	t.Helper()
	return Start(t, binary, config, env...).URL
}

// Start runs `serve` with the configuration in the file config and returns once
// it listens. env is added to the test's own environment. The test fails where
// the gateway ends by itself or, when it is stopped, not in good order, and
// where it reports a data race.
func Start(t testing.TB, binary, config string, env ...string) *Process {
	t.Helper()
	p := Run(t, binary, env, "serve", "--config", config)
	p.URL = p.Line(t, "listening on ") + "/graphql"
	return p
}

// Run runs the gateway with these arguments. Like Start, but it does not wait,
// and the gateway may end by itself.
func Run(t testing.TB, binary string, env []string, args ...string) *Process {
	t.Helper()
	p := &Process{command: exec.Command(binary, args...), ended: make(chan struct{})}
	// A binary with the race detector sleeps for a second at its end by default.
	p.command.Env = append(append(os.Environ(), "GORACE=atexit_sleep_ms=0"), env...)
	p.command.Stdout, p.command.Stderr = &p.stdout, &p.stderr
	p.command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := p.start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.end(t) })
	return p
}

func (p *Process) start() error {
	started := make(chan error, 1)
	go func() {
		defer close(p.ended)
		runtime.LockOSThread() // the kernel watches the thread that started it
		defer runtime.UnlockOSThread()
		err := p.command.Start()
		started <- err
		if err == nil {
			_ = p.command.Wait() // its exit code is asked for where it counts
		}
	}()
	return <-started
}

// end stops the process unless it has ended, and tells its log where the test
// failed.
func (p *Process) end(t testing.TB) {
	t.Helper()
	select {
	case <-p.ended:
		if p.URL != "" && !p.told {
			t.Errorf("gateway %d ended by itself with %d", p.PID(), p.ExitCode())
		}
	default:
		p.Stop(t)
	}
	if log := p.Log(); strings.Contains(log, "DATA RACE") || t.Failed() {
		t.Errorf("gateway %d wrote:\n%s%s", p.PID(), p.Output(), log)
	}
}

// PID is the process's id.
func (p *Process) PID() int { return p.command.Process.Pid }

// Stop tells the process to end with SIGTERM and waits until it has, in good
// order. Further calls do nothing.
func (p *Process) Stop(t testing.TB) {
	t.Helper()
	select {
	case <-p.ended:
		return
	default:
	}
	p.Signal(syscall.SIGTERM)
	p.Signal(syscall.SIGCONT) // it may stand still
	select {
	case <-p.ended:
	case <-time.After(patience):
		p.Kill()
		t.Errorf("gateway %d did not end within %v of SIGTERM", p.PID(), patience)
		return
	}
	if code := p.ExitCode(); code != 0 {
		t.Errorf("gateway %d ended with %d", p.PID(), code)
	}
}

// Kill ends the process without warning, and waits until it has ended.
func (p *Process) Kill() {
	p.Signal(syscall.SIGKILL)
	<-p.ended
}

// Signal sends a signal. A process that has ended takes none.
func (p *Process) Signal(signal syscall.Signal) {
	p.told = p.told || signal == syscall.SIGTERM || signal == syscall.SIGKILL
	_ = p.command.Process.Signal(signal) // it may have ended
}

// Ended is closed once the process has ended.
func (p *Process) Ended() <-chan struct{} { return p.ended }

// ExitCode is that of a process that has ended; -1 where a signal ended it.
func (p *Process) ExitCode() int { return p.command.ProcessState.ExitCode() }

// Log is what it wrote to its standard error until now.
func (p *Process) Log() string { return p.stderr.String() }

// Output is what it wrote to its standard output until now.
func (p *Process) Output() string { return p.stdout.String() }

// Line answers what follows prefix in a line of stdout, once there is one.
func (p *Process) Line(t testing.TB, prefix string) string {
	t.Helper()
	deadline := time.After(patience)
	for {
		text, more := p.stdout.watch()
		for line := range strings.Lines(text) {
			if rest, ok := strings.CutPrefix(line, prefix); ok && strings.HasSuffix(rest, "\n") {
				return strings.TrimSuffix(rest, "\n")
			}
		}
		select {
		case <-more:
		case <-p.ended:
			t.Fatalf("the gateway ended before it said %q", prefix)
		case <-deadline:
			t.Fatalf("the gateway did not say %q within %v", prefix, patience)
		}
	}
}
