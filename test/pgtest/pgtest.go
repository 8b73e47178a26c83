// Package pgtest gives tests a real PostgreSQL: a throw-away cluster that the
// test process starts on first use, and a fresh database for each that asks.
//
// The cluster syncs to disk like a real one. It dies with the test process,
// however that ends. Where PostgreSQL is not installed, tests fail and say how
// to get it; they are never skipped.
package pgtest

import (
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/google/uuid"
)

// shared is the cluster behind URL, one a process.
var shared struct {
	sync.Mutex
	cluster *Cluster
}

// URL answers the URL of a fresh, empty database on the cluster that all tests
// of the process share.
func URL(t testing.TB) string {
	t.Helper()
	cluster, err := sharedCluster()
	if err != nil {
		t.Fatal(err)
	}
	return cluster.NewDatabase(t)
}

func sharedCluster() (*Cluster, error) {
	shared.Lock()
	defer shared.Unlock()
	if shared.cluster != nil {
		return shared.cluster, nil
	}
	cluster, err := start()
	if err != nil {
		return nil, err
	}
	shared.cluster = cluster
	return cluster, nil
}

// Main runs the tests and then removes the shared cluster. Call it from
// TestMain: os.Exit(pgtest.Main(m)).
func Main(m *testing.M) int {
	code := m.Run()
	shared.Lock()
	defer shared.Unlock()
	if shared.cluster == nil {
		return code
	}
	if err := shared.cluster.remove(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = max(code, 1)
	}
	shared.cluster = nil
	return code
}

// New answers a cluster of the test's own, for tests that stop and restart it.
// It is removed when the test ends.
func New(t testing.TB) *Cluster {
	t.Helper()
	cluster, err := start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cluster.remove(); err != nil {
			t.Error(err)
		}
	})
	return cluster
}

// NewDatabase answers the URL of a fresh, empty database.
func (c *Cluster) NewDatabase(t testing.TB) string {
	t.Helper()
	name := "test_" + uuid.NewString()
	if err := c.createDatabase(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	return c.URL(name)
}
