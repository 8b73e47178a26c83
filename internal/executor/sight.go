package executor

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http/httptrace"
	"sync"
)

// errSealed is what a write gets after its request was given up.
var errSealed = errors.New("request given up")

// countedConn counts what is written to a connection, and can be sealed: after
// that no further byte leaves. Sealing is what makes "no byte of the request
// was written" a fact and not a guess, since net/http writes on a goroutine of
// its own that may be late.
type countedConn struct {
	net.Conn
	mu      sync.Mutex
	written int64 // guarded by mu: bytes that were handed to the connection
	sealed  bool  // guarded by mu
}

func (c *countedConn) Write(p []byte) (int, error) {
	c.mu.Lock()
	if c.sealed {
		c.mu.Unlock()
		return 0, errSealed
	}
	c.written += int64(len(p)) // counted first: a write that fails may have sent some
	c.mu.Unlock()
	return c.Conn.Write(p)
}

func (c *countedConn) count() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.written
}

// seal stops further writes and answers the count, which is final.
func (c *countedConn) seal() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sealed = true
	return c.written
}

// countedDial makes connections that count.
func countedDial(dialer *net.Dialer) func(ctx context.Context, network, address string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dialer.DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &countedConn{Conn: conn}, nil
	}
}

// sight is what the transport saw of one request.
type sight struct {
	mu     sync.Mutex
	conn   *countedConn // guarded by mu: the connection that the request got
	before int64        // guarded by mu: what others had written to it before
}

// watch makes the transport report to the sight.
func (s *sight) watch(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) {
		conn := counted(info.Conn)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.conn = conn
		if conn != nil {
			s.before = conn.count()
		}
	}})
}

// nothingSent reports whether no byte of the request was written, and makes
// sure that none will be. Only for a request that failed: its connection is
// not used again.
func (s *sight) nothingSent() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.conn == nil || s.conn.seal() == s.before
}

// counted finds the counter under TLS.
func counted(conn net.Conn) *countedConn {
	if secure, ok := conn.(*tls.Conn); ok {
		conn = secure.NetConn()
	}
	c, _ := conn.(*countedConn)
	return c
}
