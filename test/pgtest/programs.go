package pgtest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// ErrNotInstalled: PostgreSQL's server programs are not on this machine.
var ErrNotInstalled = errors.New("PostgreSQL is not installed: apt-get install postgresql (initdb and postgres in PATH or in /usr/lib/postgresql/*/bin)")

// findPrograms answers the directory of initdb and postgres: the one in PATH,
// else Debian's newest. Errors: ErrNotInstalled.
func findPrograms() (string, error) {
	if initdb, err := exec.LookPath("initdb"); err == nil {
		real, err := filepath.EvalSymlinks(initdb)
		if err == nil && isFile(filepath.Join(filepath.Dir(real), "postgres")) {
			return filepath.Dir(real), nil
		}
	}
	found, newest := "", -1
	dirs, _ := filepath.Glob("/usr/lib/postgresql/*/bin") // the pattern is well-formed
	for _, dir := range dirs {
		version, err := strconv.Atoi(filepath.Base(filepath.Dir(dir)))
		if err == nil && version > newest && isFile(filepath.Join(dir, "initdb")) && isFile(filepath.Join(dir, "postgres")) {
			found, newest = dir, version
		}
	}
	if found == "" {
		return "", ErrNotInstalled
	}
	return found, nil
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// unprivileged answers the user to run postgres as, since it refuses root; nil
// where the tests do not run as root.
func unprivileged() (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		account, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, uidErr := strconv.ParseUint(account.Uid, 10, 32)
		gid, gidErr := strconv.ParseUint(account.Gid, 10, 32)
		if uidErr == nil && gidErr == nil {
			return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
		}
	}
	return nil, fmt.Errorf("postgres refuses to run as root, and there is no user postgres or nobody to run it as")
}
