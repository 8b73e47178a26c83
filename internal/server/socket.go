package server

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/gorilla/websocket"
)

// socket is one websocket connection. Its context ends it: whoever ends it
// gives the cause, a closure or errGone, and the first cause counts.
//
// One goroutine reads, one writes, and one runs each operation. All that is
// sent goes through the outbox. When it is full its senders wait: a slow
// reader slows its own operations, whose state then coalesces below, and no
// other socket's. A client that does not take a message in time is cut off.
type socket struct {
	server     *Server
	conn       *websocket.Conn
	end        context.CancelCauseFunc
	outbox     chan frame
	operations operations
}

// serve returns when the connection is closed and all operations have ended.
func (c *socket) serve(ctx context.Context, authorization string) {
	read, written := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(written)
		c.write(ctx, read)
	}()
	c.end(c.converse(ctx, authorization))
	c.discard()
	close(read)
	c.operations.done.Wait()
	<-written
}

// send hands a frame to the writer. It waits while the outbox is full, and
// gives up when ctx ends.
func (c *socket) send(ctx context.Context, f frame) {
	select {
	case c.outbox <- f:
	case <-ctx.Done():
	}
}

// write sends frames and pings until the socket ends, says why to the client
// and closes the connection. No one else closes it.
func (c *socket) write(ctx context.Context, read <-chan struct{}) {
	defer c.conn.Close()
	if err := c.writeFrames(ctx); err != nil {
		c.end(errGone)
		return
	}
	if cause, ok := errors.AsType[closure](context.Cause(ctx)); ok {
		text := websocket.FormatCloseMessage(cause.code, cause.reason)
		_ = c.conn.WriteControl(websocket.CloseMessage, text, time.Now().Add(c.server.timing.closing))
	}
	// Closing while there is something to read would reset the connection,
	// and the client might never see the close code.
	select {
	case <-read:
	case <-time.After(c.server.timing.closing):
	}
}

// writeFrames returns nil when ctx has ended, and the first failure to write:
// after it nothing could be sent any more.
func (c *socket) writeFrames(ctx context.Context) error {
	pings := time.NewTicker(c.server.timing.ping)
	defer pings.Stop()
	stopping := c.server.life.stopping
	for ctx.Err() == nil {
		var err error
		select {
		case f := <-c.outbox:
			if f.op != nil && c.server.life.isStopping() {
				c.end(errRestart) // what ended the operation may be the stop
				continue
			}
			err = c.writeFrame(f)
		case <-pings.C:
			err = c.conn.WriteControl(websocket.PingMessage, nil, time.Now().Add(c.server.timing.write))
		case <-stopping:
			c.end(errRestart)
		case <-ctx.Done():
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *socket) writeFrame(f frame) error {
	if !c.operations.admit(f) {
		return nil
	}
	_ = c.conn.SetWriteDeadline(time.Now().Add(c.server.timing.write))
	w, err := c.conn.NextWriter(websocket.TextMessage)
	if err != nil {
		return err
	}
	for _, part := range [][]byte{[]byte(f.head), f.payload, []byte(tail)} {
		if _, err := w.Write(part); err != nil {
			return err
		}
	}
	return w.Close()
}

// receive reads the next message, and answers pings on the way. Errors: a
// closure, errGone.
func (c *socket) receive(ctx context.Context) (message, error) {
	for {
		text, err := c.readText()
		if err != nil {
			return message{}, err
		}
		if ctx.Err() != nil {
			return message{}, context.Cause(ctx)
		}
		m, err := parseMessage(text)
		switch {
		case err != nil:
			return message{}, err
		case m.kind == typePing:
			c.send(ctx, plainFrame(typePong, m.payload))
		case m.kind != typePong:
			return m, nil
		}
	}
}

func (c *socket) readText() ([]byte, error) {
	kind, text, err := c.conn.ReadMessage()
	switch {
	case errors.Is(err, websocket.ErrReadLimit):
		return nil, errTooBig
	case err != nil:
		return nil, errGone
	case kind != websocket.TextMessage:
		return nil, errBinary
	}
	c.alive()
	return text, nil
}

// alive gives the client until the next sign of life.
func (c *socket) alive() {
	_ = c.conn.SetReadDeadline(time.Now().Add(c.server.timing.pong))
}

// discard reads what a client still sends, until it has closed its side or the
// writer has closed the connection.
func (c *socket) discard() {
	for {
		_, _, err := c.conn.NextReader()
		if _, closed := errors.AsType[*websocket.CloseError](err); closed {
			return
		}
		if err != nil {
			_, _ = io.Copy(io.Discard, c.conn.NetConn())
			return
		}
	}
}
