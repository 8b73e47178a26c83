package postgres_test

import (
	"bytes"
	"context"
	"log/slog"
	"net"
	neturl "net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"asyncgate/internal/asyncop"
	"asyncgate/internal/asyncop/postgres"
	"asyncgate/test/pgtest"
)

// deafening is a proxy before PostgreSQL. While it is deaf, what the server
// sends on connections that LISTEN vanishes, and nothing is closed.
type deafening struct {
	target string
	deaf   atomic.Bool
}

// throughProxy answers the URL of a database behind a proxy.
func throughProxy(t *testing.T, direct string) (*deafening, string) {
	t.Helper()
	address, err := neturl.Parse(direct)
	if err != nil {
		t.Fatal(err)
	}
	var config net.ListenConfig
	ln, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &deafening{target: address.Host}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			serving.Go(func() { p.serve(ctx, conn) })
		}
	})
	t.Cleanup(func() {
		ln.Close()
		cancel()
		serving.Wait()
	})
	address.Host = ln.Addr().String()
	return p, address.String()
}

func (p *deafening) serve(ctx context.Context, client net.Conn) {
	defer client.Close()
	server, err := new(net.Dialer).DialContext(ctx, "tcp", p.target)
	if err != nil {
		return
	}
	defer server.Close()
	stop := context.AfterFunc(ctx, func() { client.Close(); server.Close() })
	defer stop()
	var listens atomic.Bool
	var copying sync.WaitGroup
	copying.Go(func() {
		defer server.Close()
		relay(server, client, func(chunk []byte) bool {
			listens.Store(listens.Load() || bytes.Contains(chunk, []byte("LISTEN asyncgate")))
			return true
		})
	})
	relay(client, server, func([]byte) bool { return !listens.Load() || !p.deaf.Load() })
	client.Close()
	copying.Wait()
}

// relay copies what may pass.
func relay(to, from net.Conn, pass func([]byte) bool) {
	chunk := make([]byte, 32<<10)
	for {
		n, err := from.Read(chunk)
		if n > 0 && pass(chunk[:n]) {
			if _, err := to.Write(chunk[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// The poll interval of these tests, and what a push may take whatever becomes
// of LISTEN: an interval and a second, and what a busy machine adds.
const (
	pollInterval = 500 * time.Millisecond
	latestPush   = pollInterval + time.Second + time.Second
)

// waiting is a node with a hub, at which handles wait.
type waiting struct {
	*postgres.Store
	hub *asyncop.Hub
}

func startWaiting(t *testing.T, url string) waiting {
	t.Helper()
	w := newWaiting(t, url)
	eventually(t, "listening", w.Listening)
	return w
}

// newWaiting starts a node on a database whose schema is there.
func newWaiting(t *testing.T, url string) waiting {
	t.Helper()
	w := waiting{hub: asyncop.NewHub(pollInterval, slog.New(slog.DiscardHandler))}
	store, err := postgres.Open(t.Context(), url, postgres.Options{Waker: w.hub})
	if err != nil {
		t.Fatal(err)
	}
	w.Store = store
	t.Cleanup(store.Close)
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	var running sync.WaitGroup
	running.Go(func() { _ = w.Store.Run(ctx) })
	running.Go(func() { _ = w.hub.Run(ctx, w.Store) })
	t.Cleanup(func() {
		cancel()
		running.Wait()
	})
	return w
}

// pushed cancels an operation at another node, and answers how long it took
// until the one who waits here was told.
func (w waiting) pushed(t *testing.T, by node, before func()) time.Duration {
	t.Helper()
	id := by.submit(t)
	done := make(chan error, 1)
	go func() {
		op, err := w.hub.Handle(w.Store, asyncop.EverythingScope(), id).Await(t.Context(), time.Minute)
		if err == nil && !op.Done() {
			err = context.DeadlineExceeded
		}
		done <- err
	}()
	eventually(t, "waiting", func() bool { return w.hub.Waiting() == 1 })
	before()
	asked := time.Now()
	by.cancel(t, id)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	return time.Since(asked)
}

func TestADeafListenerCostsAPollIntervalAndASecond(t *testing.T) {
	t.Parallel()
	direct := pgtest.URL(t)
	proxy, url := throughProxy(t, direct)
	by := start(t, direct)
	here := startWaiting(t, url)
	for range 3 {
		if took := here.pushed(t, by, func() { proxy.deaf.Store(true) }); took > latestPush {
			t.Errorf("a deaf listener was told after %v", took)
		}
		if took := here.pushed(t, by, func() {}); took > latestPush {
			t.Errorf("a listener that stays deaf was told after %v", took)
		}
		proxy.deaf.Store(false)
		eventually(t, "listening again", here.Listening)
		if took := here.pushed(t, by, func() {}); took > pollInterval/2 {
			t.Errorf("a listener that hears again was told after %v", took)
		}
	}
}

func TestAKilledListenerCostsAPollIntervalAndASecond(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	by := start(t, url)
	here := startWaiting(t, url)
	for i := range 20 {
		took := here.pushed(t, by, func() {
			execute(t, url, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
				WHERE datname = current_database() AND query = 'LISTEN asyncgate'`)
		})
		if took > latestPush {
			t.Errorf("kill %d: told after %v", i, took)
		}
		if i == 10 {
			start(t, url) // in the middle
		}
	}
}

func TestAllWhoWaitShareOneListeningSession(t *testing.T) {
	t.Parallel()
	const many = 5000
	url := pgtest.URL(t)
	by := start(t, url)
	here := startWaiting(t, url)
	id := by.submit(t)
	var waiters sync.WaitGroup
	for i := range many {
		waiters.Go(func() {
			var op asyncop.Operation
			err := context.DeadlineExceeded
			for try := 0; try < 10 && err != nil; try++ { // all of them read at once
				op, err = here.hub.Handle(here.Store, asyncop.EverythingScope(), id).Await(t.Context(), time.Minute)
			}
			if err != nil || !op.Done() {
				t.Errorf("waiter %d: %s, %v", i, op.State, err)
			}
		})
	}
	eventually(t, "waiting", func() bool { return here.hub.Waiting() == many })
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	const listening = `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND query = 'LISTEN asyncgate'`
	var sessions int
	if err := conn.QueryRow(t.Context(), listening).Scan(&sessions); err != nil {
		t.Fatal(err)
	}
	if sessions != 2 { // one a node
		t.Errorf("%d sessions listen for two nodes", sessions)
	}
	by.cancel(t, id)
	waiters.Wait()
}
