package server

import (
	"context"
	"sync"
)

// operation is one subscribe of a socket, from then until its last frame is
// sent or its client completes it.
type operation struct {
	subscribe message
	cancel    context.CancelFunc
}

// operations are those of one socket. Its methods are safe for concurrent use.
type operations struct {
	limit int
	done  sync.WaitGroup // one for each goroutine that runs an operation

	mu      sync.Mutex
	active  map[string]*operation // guarded by mu, by id
	running int                   // guarded by mu: runs not closed yet
}

// add makes op active. Errors: errDuplicate, errTooManyOperations.
func (o *operations) add(op *operation) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.active[op.subscribe.id] != nil {
		return errDuplicate
	}
	// A run whose client has completed it counts until it has really ended:
	// else a client could pile up any number of them.
	if max(len(o.active), o.running) >= o.limit {
		return errTooManyOperations
	}
	if o.active == nil {
		o.active = make(map[string]*operation)
	}
	o.active[op.subscribe.id] = op
	o.running++
	return nil
}

// closed tells that an operation's run has ended.
func (o *operations) closed() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.running--
}

// complete cancels the operation that the client no longer wants. Nothing more
// of it is sent, and its id is free.
func (o *operations) complete(id string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if op := o.active[id]; op != nil {
		op.cancel()
		delete(o.active, id)
	}
}

// admit reports whether a frame may still be sent, right before it is. The
// last one frees the id: a client that has read it may use the id again.
func (o *operations) admit(f frame) bool {
	if f.op == nil {
		return true
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	id := f.op.subscribe.id
	if o.active[id] != f.op {
		return false
	}
	if f.last {
		delete(o.active, id)
	}
	return true
}
