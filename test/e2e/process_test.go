package e2e

import (
	"bytes"
	"os/exec"
	"runtime"
	"strings"
	"sync"
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

// start runs the gateway in this environment with these arguments.
func start(t *testing.T, env []string, args ...string) *process {
	t.Helper()
	p := &process{command: exec.Command(binary, args...), ended: make(chan struct{})}
	p.command.Env = env
	p.command.Stdout, p.command.Stderr = &p.stdout, &p.stderr
	p.command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
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
	if err := <-started; err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.end(t) })
	return p
}

// end stops the process unless it has ended, and tells its log where the test
// failed.
func (p *process) end(t *testing.T) {
	t.Helper()
	select {
	case <-p.ended:
	default:
		p.stop(t)
	}
	if log := p.stderr.String(); strings.Contains(log, "DATA RACE") || t.Failed() {
		t.Errorf("gateway %d wrote:\n%s%s", p.command.Process.Pid, p.stdout.String(), log)
	}
}

// stop tells the process to end with SIGTERM and waits until it has, in good
// order.
func (p *process) stop(t *testing.T) {
	t.Helper()
	_ = p.command.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.ended:
	case <-time.After(patience):
		p.kill()
		t.Errorf("gateway %d did not end within %v of SIGTERM", p.command.Process.Pid, patience)
		return
	}
	if code := p.command.ProcessState.ExitCode(); code != 0 {
		t.Errorf("gateway %d ended with %d", p.command.Process.Pid, code)
	}
}

// kill ends the process without warning, and waits until it has ended.
func (p *process) kill() {
	_ = p.command.Process.Kill()
	<-p.ended
}

// line answers what follows prefix in a line of stdout, once there is one.
func (p *process) line(t *testing.T, prefix string) string {
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

// transcript keeps what a process writes.
type transcript struct {
	mu   sync.Mutex
	text bytes.Buffer  // guarded by mu
	more chan struct{} // guarded by mu: closed by the next write; nil while nobody waits
}

func (o *transcript) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.more != nil {
		close(o.more)
		o.more = nil
	}
	return o.text.Write(p)
}

// watch answers what was written, and a channel that closes when there is more.
func (o *transcript) watch() (text string, more <-chan struct{}) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.more == nil {
		o.more = make(chan struct{})
	}
	return o.text.String(), o.more
}

func (o *transcript) String() string {
	text, _ := o.watch()
	return text
}

// eventually waits until something holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	deadline := time.After(patience)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("not within %v: %s", patience, what)
		}
	}
}
