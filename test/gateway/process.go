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

// process is a gateway that was started. It ends with its test, and with the
// process that started it.
type process struct {
	command        *exec.Cmd
	stdout, stderr transcript
	ended          chan struct{} // closed once it has ended
}

// Serve starts `serve` with the configuration in the file config and returns
// once it listens, with the URL of its GraphQL. env is added to the test's own
// environment. The test fails where it does not end in good order, or reports
// a data race.
func Serve(t testing.TB, binary, config string, env ...string) string {
	t.Helper()
	p := &process{command: exec.Command(binary, "serve", "--config", config), ended: make(chan struct{})}
	// A binary with the race detector sleeps for a second at its end by default.
	p.command.Env = append(append(os.Environ(), "GORACE=atexit_sleep_ms=0"), env...)
	p.command.Stdout, p.command.Stderr = &p.stdout, &p.stderr
	p.command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := p.start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.end(t) })
	return p.line(t, "listening on ") + "/graphql"
}

func (p *process) start() error {
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

// end stops the process, and tells its log where the test failed.
func (p *process) end(t testing.TB) {
	t.Helper()
	_ = p.command.Process.Signal(syscall.SIGTERM) // it may have ended already
	select {
	case <-p.ended:
	case <-time.After(patience):
		_ = p.command.Process.Kill()
		<-p.ended
	}
	if code := p.command.ProcessState.ExitCode(); code != 0 {
		t.Errorf("the gateway ended with %d", code)
	}
	if log := p.stderr.String(); strings.Contains(log, "DATA RACE") || t.Failed() {
		t.Errorf("the gateway wrote:\n%s%s", p.stdout.String(), log)
	}
}

// line answers what follows prefix in a line of stdout, once there is one.
func (p *process) line(t testing.TB, prefix string) string {
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
