package pgtest

import (
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// findBouncer answers the program: the one in PATH, else Debian's.
func findBouncer() (string, error) {
	if path, err := exec.LookPath("pgbouncer"); err == nil {
		return path, nil
	}
	const debian = "/usr/sbin/pgbouncer"
	if isFile(debian) {
		return debian, nil
	}
	return "", fmt.Errorf("PgBouncer is not installed: apt-get install pgbouncer")
}

const bouncerConfig = `
[databases]
* = host=127.0.0.1 port=%s user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %d
unix_socket_dir =
auth_type = any
pool_mode = transaction
max_client_conn = 200
logfile = %s
`

// Bouncer runs PgBouncer in transaction mode before the database at a URL of
// this package, until the test ends, and answers the URL through it. Versions
// before 1.21 know no prepared statements, which it says.
func Bouncer(t testing.TB, direct string) string {
	t.Helper()
	address, err := url.Parse(direct)
	if err != nil {
		t.Fatal(err)
	}
	port, err := freePort()
	if err != nil {
		t.Fatal(err)
	}
	runBouncer(t, address.Port(), port)
	address.Host = fmt.Sprintf("127.0.0.1:%d", port)
	query := address.Query()
	query.Set("default_query_exec_mode", "cache_describe")
	address.RawQuery = query.Encode()
	return address.String()
}

func runBouncer(t testing.TB, server string, port int) {
	t.Helper()
	program, err := findBouncer()
	if err != nil {
		t.Fatal(err)
	}
	user, err := unprivileged()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := bouncerDir(user)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	file, log := filepath.Join(dir, "pgbouncer.ini"), filepath.Join(dir, "log")
	if err := os.WriteFile(file, fmt.Appendf(nil, bouncerConfig, server, port, log), 0o644); err != nil {
		t.Fatal(err)
	}
	command := exec.Command(program, file)
	command.SysProcAttr = &syscall.SysProcAttr{Credential: user}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait() // killed
	})
	for deadline := time.Now().Add(10 * time.Second); ; <-time.After(20 * time.Millisecond) {
		conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil {
			_ = conn.Close()
			return
		}
		if time.Now().After(deadline) {
			text, _ := os.ReadFile(log) // it may have written none
			t.Fatalf("PgBouncer does not answer: %v\n%s", err, text)
		}
	}
}

// bouncerDir makes a directory that the user may enter and write: those of
// testing.T are below one that others may not enter.
func bouncerDir(user *syscall.Credential) (string, error) {
	dir, err := os.MkdirTemp("", "asyncgate-bouncer-")
	if err != nil || user == nil {
		return dir, err
	}
	return dir, os.Chown(dir, int(user.Uid), int(user.Gid))
}
