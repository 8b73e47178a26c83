package main

import (
	"os"
	"path/filepath"
	"testing"
)

func TestMigrateMakesTheStoreAndMayBeRepeated(t *testing.T) {
	t.Parallel()
	path := configure(t, oneIssuer, oneUpstream)
	for range 2 {
		if code, out, err := gateway(t, "migrate", "--config", path); code != exitOK || out == "" {
			t.Fatalf("got %d, %q and %q", code, out, err)
		}
	}
	if _, err := os.Stat(filepath.Join(filepath.Dir(path), "asyncgate.db")); err != nil {
		t.Fatalf("the default store is not beside the file: %v", err)
	}
}

func TestMigrateTakesAnotherStore(t *testing.T) {
	t.Parallel()
	path, other := configure(t, oneIssuer, oneUpstream), filepath.Join(t.TempDir(), "other.db")
	if code, _, err := gateway(t, "migrate", "--config", path, "--store", "sqlite:"+other); code != exitOK {
		t.Fatal(err)
	}
	if _, err := os.Stat(other); err != nil {
		t.Fatal(err)
	}
	if code, _, err := gateway(t, "migrate", "--config", path, "--store", "mysql://x"); code != exitFailed {
		t.Fatalf("got %d and %q", code, err)
	}
}
