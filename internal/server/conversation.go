package server

import (
	"context"
	"errors"
	"time"

	"asyncgate/internal/executor"
)

// errTooManyOperations: the socket has as many operations as it may have.
var errTooManyOperations = errors.New("too many operations on one connection")

// What its client is told: it may try again when it has completed some.
const (
	tooManyOperations = "There are too many operations on this connection. Complete some first."
	retryAfterQuota   = `"retryAfterMs":1000`
)

// converse speaks graphql-transport-ws with the client and returns why the
// conversation is over: a closure or errGone. Authorization is the header of
// the upgrade request.
func (c *socket) converse(ctx context.Context, authorization string) (over error) {
	defer func() {
		if cause := recover(); cause != nil {
			c.server.panicReply(ctx, cause)
			over = internalClosure(ctx)
		}
	}()
	c.conn.SetReadLimit(c.server.limits().Body)
	c.conn.SetPongHandler(func(string) error { c.alive(); return nil })
	c.alive()
	who, err := c.greet(ctx, authorization)
	if err != nil {
		return err
	}
	if !who.ExpiresAt.IsZero() {
		expiry := time.AfterFunc(time.Until(who.ExpiresAt), func() { c.end(errTokenExpired) })
		defer expiry.Stop()
	}
	return c.serveOperations(who.context(ctx), who.tenant)
}

// greet waits for connection_init and acknowledges it once it is known who
// calls; both within the init timeout. A token in its payload goes before the
// upgrade request's.
func (c *socket) greet(ctx context.Context, authorization string) (caller, error) {
	if c.conn.Subprotocol() != subprotocol {
		return caller{}, errSubprotocol
	}
	timeout := time.AfterFunc(c.server.timing.init, func() { c.end(errInitTimeout) })
	defer timeout.Stop()
	m, err := c.receive(ctx)
	if err != nil {
		return caller{}, err
	}
	if m.kind != typeInit {
		return caller{}, errNotAcknowledged
	}
	if value, ok, err := m.authorization(); err != nil {
		return caller{}, err
	} else if ok {
		authorization = value
	}
	who, err := c.server.identify(ctx, authorization)
	if err != nil {
		return caller{}, c.server.refusedInit(ctx, err)
	}
	c.send(ctx, plainFrame(typeAck, nil))
	return who, nil
}

func (c *socket) serveOperations(ctx context.Context, t tenant) error {
	for {
		m, err := c.receive(ctx)
		if err != nil {
			return err
		}
		switch m.kind {
		case typeInit:
			return errTooManyInits
		case typeComplete:
			c.operations.complete(m.id)
		case typeSubscribe:
			if err := c.subscribe(ctx, t, m); err != nil {
				return err
			}
		}
	}
}

// subscribe starts an operation, or tells the client that there are too many.
// Errors: a closure.
func (c *socket) subscribe(ctx context.Context, t tenant, m message) error {
	params, err := m.params()
	if err != nil {
		return err
	}
	opCtx, cancel := context.WithCancel(ctx)
	op := &operation{subscribe: m, cancel: cancel}
	switch err := c.operations.add(op); {
	case errors.Is(err, errTooManyOperations):
		cancel()
		c.send(ctx, m.frame(typeError, errorReply(codeQuotaExceeded, tooManyOperations, retryAfterQuota).Errors))
		return nil
	case err != nil:
		cancel()
		return err
	}
	c.operations.done.Go(func() {
		defer cancel()
		last := c.operate(opCtx, op, t, params)
		last.op, last.last = op, true
		c.send(opCtx, last)
	})
	return nil
}

// operate runs an operation to its end and sends its events. It answers the
// frame that ends it; the run is closed by then, so that a client which has
// read that frame finds room for another operation.
func (c *socket) operate(ctx context.Context, op *operation, t tenant, params executor.Params) frame {
	defer c.operations.closed()
	r := c.server.begin(ctx, t, params)
	defer r.Close()
	for {
		reply, ok := c.server.next(ctx, r)
		switch {
		case !ok:
			return op.subscribe.frame(typeComplete, nil)
		case reply.Errors != nil:
			return op.subscribe.frame(typeError, reply.Errors)
		}
		next := op.subscribe.frame(typeNext, reply.Envelope)
		next.op = op
		c.send(ctx, next)
	}
}
