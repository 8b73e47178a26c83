package faults_test

import (
	"bufio"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"

	"asyncgate/test/faults"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// echo answers what it is sent.
func echo(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				_, _ = io.Copy(conn, conn)
			}()
		}
	}()
	return ln.Addr().String()
}

// line is a connection through a proxy, used by lines of text.
type line struct {
	net.Conn
	*bufio.Reader
}

func dial(t *testing.T, p *faults.Proxy) line {
	t.Helper()
	conn, err := net.Dial("tcp", p.Address())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return line{conn, bufio.NewReader(conn)}
}

// hear answers the next line, within a while.
func (l line) hear(within time.Duration) (string, error) {
	_ = l.SetReadDeadline(time.Now().Add(within))
	return l.ReadString('\n')
}

func (l line) Read(p []byte) (int, error) { return l.Reader.Read(p) }

func (l line) echoes(t *testing.T, text string) {
	t.Helper()
	_, _ = io.WriteString(l.Conn, text)
	if got, err := l.hear(10 * time.Second); got != text {
		t.Errorf("got %q, %v", got, err)
	}
}

func (l line) isSilent(t *testing.T) {
	t.Helper()
	if got, err := l.hear(100 * time.Millisecond); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("got %q, %v, want nothing", got, err)
	}
}

func (l line) isCut(t *testing.T) {
	t.Helper()
	if got, err := l.hear(10 * time.Second); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("got %q, %v, want the connection to be cut", got, err)
	}
}

func TestWhatIsStalledArrivesLater(t *testing.T) {
	t.Parallel()
	p := faults.NewProxy(t, echo(t))
	l := dial(t, p)
	l.echoes(t, "before\n")
	p.Stall()
	_, _ = io.WriteString(l.Conn, "stalled\n")
	l.isSilent(t)
	p.Pass()
	if got, err := l.hear(10 * time.Second); got != "stalled\n" {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestWhatIsDroppedNeverArrives(t *testing.T) {
	t.Parallel()
	p := faults.NewProxy(t, echo(t))
	untouched, l := dial(t, p), dial(t, p)
	untouched.echoes(t, "before\n")
	l.echoes(t, "before\n")
	p.Drop()
	_, _ = io.WriteString(l.Conn, "dropped\n")
	l.isSilent(t)
	p.Pass()
	l.isCut(t)
	untouched.echoes(t, "after\n")
}

func TestACutLeavesTheNextConnectionAlone(t *testing.T) {
	t.Parallel()
	p := faults.NewProxy(t, echo(t))
	l := dial(t, p)
	l.echoes(t, "before\n")
	p.Cut()
	l.isCut(t)
	dial(t, p).echoes(t, "after\n")
}

func TestWhoeverIsRefusedMayComeBack(t *testing.T) {
	t.Parallel()
	p := faults.NewProxy(t, echo(t))
	l := dial(t, p)
	l.echoes(t, "before\n")
	p.Refuse()
	l.isCut(t)
	if conn, err := net.Dial("tcp", p.Address()); err == nil { // else it was cut that soon
		line{conn, bufio.NewReader(conn)}.isCut(t)
		conn.Close()
	}
	p.Pass()
	dial(t, p).echoes(t, "after\n")
}
