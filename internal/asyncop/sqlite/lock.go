package sqlite

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/gofrs/flock"
)

// ErrLocked: another process, or another Store of this one, has the file open.
var ErrLocked = errors.New("the file is in use by another gateway process: " +
	"stop that one, give this one another file, or use PostgreSQL to run several")

// acquire takes the lock of the file at path, without waiting. One file has one
// lock, whichever link leads to it. Errors: ErrLocked.
func acquire(path string) (*flock.Flock, error) {
	file := path
	if target, err := filepath.EvalSymlinks(path); err == nil {
		file = target
	}
	lock := flock.New(file+".lock", flock.SetPermissions(fileMode))
	held, err := lock.TryLock()
	if err != nil {
		return nil, fmt.Errorf("lock store: %w", err)
	}
	if !held {
		return nil, fmt.Errorf("open store %s: %w", path, ErrLocked)
	}
	return lock, nil
}
