package sqlite

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// A tool that opens the file beside the store and closes it again removes the
// log file under the store, unless it meets SQLite's shared lock. Opening the
// store once dropped that lock, by closing a descriptor of the file.
func TestTheStoreHoldsSQLitesSharedLock(t *testing.T) {
	t.Parallel()
	store := fresh(t, Options{})
	file, err := os.OpenFile(store.path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	const sharedFirst, sharedSize = 0x40000002, 510 // of SQLite's file format
	exclusive := unix.Flock_t{Type: unix.F_WRLCK, Start: sharedFirst, Len: sharedSize}
	if err := unix.FcntlFlock(file.Fd(), unix.F_OFD_GETLK, &exclusive); err != nil {
		t.Fatal(err)
	}
	if exclusive.Type != unix.F_RDLCK {
		t.Errorf("lock type %d, want a shared lock", exclusive.Type)
	}
}
