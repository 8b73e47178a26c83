package upstreams

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

// installTimeout bounds an installation, and the wait for another process's.
const installTimeout = 5 * time.Minute

// errNoNode: the programs that run an upstream are missing.
var errNoNode = errors.New("node and npm are needed for this upstream: install Node.js 18 or later (Debian, as root: apt-get install nodejs npm)")

// programDir returns the folder of an upstream's program, wherever in the
// module the test runs.
func programDir(name string) (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for dir != filepath.Dir(dir) {
		program := filepath.Join(dir, "test", "upstreams", name)
		if exists(filepath.Join(dir, "go.mod")) && exists(program) {
			return program, nil
		}
		dir = filepath.Dir(dir)
	}
	return "", fmt.Errorf("no folder above this one has test/upstreams/%s", name)
}

// install runs npm ci in dir unless it ran since package-lock.json changed. Of
// several processes one does, and the others wait. Errors: errNoNode.
func install(ctx context.Context, dir string) error {
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			return errNoNode
		}
	}
	ctx, cancel := context.WithTimeout(ctx, installTimeout)
	defer cancel()
	lock := flock.New(filepath.Join(dir, ".install.lock"))
	if _, err := lock.TryLockContext(ctx, 50*time.Millisecond); err != nil {
		return fmt.Errorf("wait for another process to install %s: %w", dir, err)
	}
	defer lock.Close()
	if installed(dir) {
		return nil
	}
	npm := exec.CommandContext(ctx, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
	npm.Dir = dir
	npm.WaitDelay = stopTimeout
	if output, err := npm.CombinedOutput(); err != nil {
		return fmt.Errorf("npm ci in %s: %w\n%s", dir, err, output)
	}
	return nil
}

// installed reports whether npm, which writes its own lock file last, ended an
// installation after package-lock.json was written.
func installed(dir string) bool {
	done, err := os.Stat(filepath.Join(dir, "node_modules", ".package-lock.json"))
	if err != nil {
		return false
	}
	wanted, err := os.Stat(filepath.Join(dir, "package-lock.json"))
	return err == nil && !done.ModTime().Before(wanted.ModTime())
}

// node is the Node.js that runs the program in dir: one among its packages,
// where the program wants a newer one than machines have.
func node(dir string) string {
	own, _ := filepath.Glob(filepath.Join(dir, "node_modules", "node-*", "bin", "node")) // the pattern is well-formed
	if len(own) > 0 {
		return own[0]
	}
	return "node"
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
