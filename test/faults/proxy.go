// Package faults is what can go wrong between two programs that talk over TCP.
package faults

import (
	"context"
	"net"
	"sync"
	"testing"
	"time"
)

// Proxy relays connections to a target, until it is told to do worse. Its
// methods are safe for concurrent use.
type Proxy struct {
	target string
	ln     net.Listener

	mu      sync.Mutex
	manner  manner
	changed chan struct{}      // guarded by mu: closed by the next change of manner
	links   map[*link]struct{} // guarded by mu
}

// manner is how a proxy treats what is sent.
type manner int

const (
	passing  manner = iota
	stalling        // it waits
	dropping        // it vanishes
	refusing        // there is no connection
)

// link is one connection through a proxy.
type link struct {
	client, server net.Conn
	holed          bool // guarded by Proxy.mu: something vanished
}

// NewProxy starts a proxy before target, a host and port, on the loopback
// interface. It ends with its test, and cuts off what it relays.
func NewProxy(t testing.TB, target string) *Proxy {
	t.Helper()
	ln, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{target: target, ln: ln, changed: make(chan struct{}), links: map[*link]struct{}{}}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return // closed
			}
			serving.Go(func() { p.serve(ctx, conn) })
		}
	})
	t.Cleanup(func() {
		ln.Close()
		cancel()
		serving.Wait()
	})
	return p
}

// Address is where the proxy listens, a host and port.
func (p *Proxy) Address() string { return p.ln.Addr().String() }

// Pass relays again. What was stalled goes on its way, and connections of which
// something was dropped are cut: TCP has no holes.
func (p *Proxy) Pass() {
	p.turn(passing)
	p.cut(func(l *link) bool { return l.holed })
}

// Stall lets nothing through and loses nothing.
func (p *Proxy) Stall() { p.turn(stalling) }

// Drop loses what is sent, and closes nothing.
func (p *Proxy) Drop() { p.turn(dropping) }

// Refuse cuts all connections, and each other as soon as it is made.
func (p *Proxy) Refuse() {
	p.turn(refusing)
	p.Cut()
}

// Cut cuts all connections off, in the middle of whatever they carry.
func (p *Proxy) Cut() { p.cut(func(*link) bool { return true }) }

func (p *Proxy) cut(which func(*link) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for l := range p.links {
		if which(l) {
			l.close()
		}
	}
}

func (p *Proxy) turn(to manner) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.manner = to
	close(p.changed)
	p.changed = make(chan struct{})
}

func (p *Proxy) serve(ctx context.Context, client net.Conn) {
	server, err := (&net.Dialer{Timeout: 10 * time.Second}).DialContext(ctx, "tcp", p.target)
	if err != nil {
		client.Close()
		return
	}
	l := &link{client: client, server: server}
	defer l.close()
	if !p.add(l) {
		return
	}
	defer p.remove(l)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(ctx, l.close)()
	var back sync.WaitGroup
	back.Go(func() {
		defer cancel()
		p.relay(ctx, l, client, server)
	})
	p.relay(ctx, l, server, client)
	cancel()
	back.Wait()
}

// add reports whether there may be another connection.
func (p *Proxy) add(l *link) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.manner == refusing {
		return false
	}
	p.links[l] = struct{}{}
	return true
}

func (p *Proxy) remove(l *link) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.links, l)
}

// relay copies what may pass, until either side has closed.
func (p *Proxy) relay(ctx context.Context, l *link, to, from net.Conn) {
	chunk := make([]byte, 32<<10)
	for {
		n, err := from.Read(chunk)
		if n > 0 && p.may(ctx, l) {
			if _, err := to.Write(chunk[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// may waits while the proxy stalls, and then reports whether something that
// was sent passes.
func (p *Proxy) may(ctx context.Context, l *link) bool {
	for {
		p.mu.Lock()
		now, changed := p.manner, p.changed
		l.holed = l.holed || now == dropping
		holed := l.holed
		p.mu.Unlock()
		if now != stalling {
			return !holed
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return false
		}
	}
}

// close resets the connection: whatever is under way does not arrive.
func (l *link) close() {
	for _, conn := range []net.Conn{l.client, l.server} {
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0) // it may be closed already
		}
		conn.Close()
	}
}
