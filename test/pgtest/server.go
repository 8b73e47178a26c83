package pgtest

import (
	"fmt"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// server is a running process.
type server struct {
	cmd   *exec.Cmd
	ended chan struct{}
	err   error // how it ended; read after ended is closed
}

// launch starts cmd so that the kernel ends it together with this process. The
// kernel watches the thread that started it, so a goroutine keeps that thread
// until the process has ended.
func launch(cmd *exec.Cmd) (*server, error) {
	cmd.SysProcAttr.Pdeathsig = syscall.SIGQUIT // postgres: end at once, children too
	s := &server{cmd: cmd, ended: make(chan struct{})}
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer close(s.ended)
		err := cmd.Start()
		started <- err
		if err == nil {
			s.err = cmd.Wait()
		}
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start postgres: %w", err)
	}
	return s, nil
}

func (s *server) stop(signal syscall.Signal) error {
	_ = s.cmd.Process.Signal(signal) // it may have ended already
	select {
	case <-s.ended:
		return nil
	case <-time.After(patience):
		_ = s.cmd.Process.Signal(syscall.SIGQUIT)
		<-s.ended
		return fmt.Errorf("postgres did not stop within %s", patience)
	}
}
