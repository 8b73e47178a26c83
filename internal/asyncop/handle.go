package asyncop

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
)

// readTimeout bounds each read of a handle: a store that hangs must not hold
// a client for longer than it asked to wait, plus this.
const readTimeout = 5 * time.Second

// Handle waits for one operation, within a scope. Making one costs no I/O.
type Handle struct {
	hub    *Hub
	reader Reader
	scope  Scope
	id     uuid.UUID
}

// Handle makes a handle on an operation that may or may not exist.
func (h *Hub) Handle(reader Reader, scope Scope, id uuid.UUID) Handle {
	return Handle{hub: h, reader: reader, scope: scope, id: id}
}

// Await answers the operation once it is done, or as it is when wait is over.
// A wait of zero is one read. Errors: ErrNotFound; the cause of ctx; the
// store's, if the first read fails. A store that is away later on does not end
// the wait.
func (h Handle) Await(ctx context.Context, wait time.Duration) (Operation, error) {
	if wait <= 0 {
		return h.read(ctx)
	}
	w, cancel := h.hub.subscribe(h.id)
	defer cancel()
	waiting, over := context.WithTimeout(ctx, wait)
	defer over()
	op, err := h.read(ctx)
	if err != nil {
		return Operation{}, err
	}
	for !op.Done() {
		h.hub.saw(w, op.Revision)
		select {
		case <-w.wake:
			op, err = h.again(waiting, op)
		case <-h.hub.closed:
			return op, nil
		case <-waiting.Done():
			if ctx.Err() != nil {
				return op, context.Cause(ctx)
			}
			return h.again(ctx, op) // the deadline may have cut a read off, or come with a change
		}
		if err != nil {
			return Operation{}, err
		}
	}
	return op, nil
}

// Updates sends the operation now and after changes, some of which may be
// skipped, the terminal one last and exactly once, and closes the channel. Each
// is sent as what as makes of it. The channel is closed early when ctx or the
// hub's Run ends, or when the operation vanishes. Errors: as Await.
func Updates[T any](ctx context.Context, h Handle, as func(Operation) T) (<-chan T, error) {
	w, cancel := h.hub.subscribe(h.id)
	op, err := h.read(ctx)
	if err != nil {
		cancel()
		return nil, err
	}
	updates := make(chan T)
	streaming := h.hub.stream(func() {
		defer cancel()
		defer close(updates)
		h.each(ctx, w, op, func(op Operation) bool {
			select {
			case updates <- as(op):
				return true
			case <-h.hub.closed:
			case <-ctx.Done():
			}
			return false
		})
	})
	if !streaming {
		cancel()
		close(updates)
	}
	return updates, nil
}

// each yields the operation now and after changes until it is done.
func (h Handle) each(ctx context.Context, w *waiter, op Operation, yield func(Operation) bool) {
	yielded := int64(-1)
	for {
		if op.Revision != yielded && !yield(op) {
			return
		}
		if yielded = op.Revision; op.Done() {
			return
		}
		h.hub.saw(w, op.Revision)
		select {
		case <-w.wake:
		case <-h.hub.closed:
			return
		case <-ctx.Done():
			return
		}
		var err error
		if op, err = h.again(ctx, op); err != nil {
			return
		}
	}
}

// again reads once more. A store that is away answers what was known before:
// the hub's poll wakes the waiter again.
func (h Handle) again(ctx context.Context, known Operation) (Operation, error) {
	op, err := h.read(ctx)
	switch {
	case err == nil, errors.Is(err, ErrNotFound):
		return op, err
	default:
		return known, nil
	}
}

func (h Handle) read(ctx context.Context) (Operation, error) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	return h.reader.Get(ctx, h.scope, h.id)
}
