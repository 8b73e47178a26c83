package executor

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"asyncgate/internal/executor/raw"
	"asyncgate/internal/executor/schema"
)

// The bounds of asking for a schema.
const (
	introspection = 30 * time.Second // for all requests that it takes
	reading       = 10 * time.Second // of one answer, so that a slow one does not hold up the others
	largestAnswer = 64 << 20
	answersAtOnce = 2 // in memory: those of large schemas are megabytes
)

// ask introspects an upstream. Errors: those of schema.Introspect and of of.
func (e Engines) ask(ctx context.Context, remote *Remote) (*engine, error) {
	ctx, cancel := context.WithTimeout(ctx, introspection)
	defer cancel()
	turn := turn{room: e.answers}
	defer turn.leave()
	answer, err := schema.Introspect(ctx, func(ctx context.Context, body []byte) ([]byte, error) {
		turn.leave() // the answer before is read; while waiting for an upstream no one else waits
		return remote.introspect(ctx, body, turn.take)
	})
	if err != nil {
		return nil, err
	}
	return e.of(SchemaText{text: answer})
}

// turn is leave to hold one answer in memory, and a buffer to hold it. It is
// for one goroutine.
type turn struct {
	room   chan struct{} // holds one for each turn that is taken
	buffer *bytes.Buffer // nil: not taken
}

// take waits for a turn. The buffer is the caller's until leave.
func (t *turn) take(ctx context.Context) (*bytes.Buffer, error) {
	select {
	case t.room <- struct{}{}:
		t.buffer = emptyBuffer()
		return t.buffer, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (t *turn) leave() {
	if t.buffer != nil {
		giveBack(t.buffer)
		t.buffer = nil
		<-t.room
	}
}

// errSlowAnswer: the schema came too slowly.
var errSlowAnswer = fmt.Errorf("it took longer than %s: give the schema as a file", reading)

// introspect asks the upstream with its configured headers and no identity.
// Its answer is not limited by MaxAnswer but by 64 MiB. Once there is one, it is
// read into a buffer that room gives.
func (r *Remote) introspect(ctx context.Context, body []byte, room func(context.Context) (*bytes.Buffer, error)) ([]byte, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, r.url.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	for name, value := range r.options.Headers {
		request.Header.Set(name, value)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json")
	response, err := r.transport.RoundTrip(request)
	if err != nil {
		return nil, fmt.Errorf("reach the upstream: %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	buffer, err := room(ctx)
	if err != nil {
		return nil, err
	}
	slow := time.AfterFunc(reading, func() { cancel(errSlowAnswer) })
	defer slow.Stop()
	_, err = buffer.ReadFrom(io.LimitReader(response.Body, largestAnswer+1))
	text := buffer.Bytes()
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the upstream's answer: %w", cmp.Or(context.Cause(ctx), err))
	case len(text) > largestAnswer:
		return nil, fmt.Errorf("the upstream's answer is larger than %d bytes: give its schema as a file", largestAnswer)
	case response.StatusCode != http.StatusOK && raw.Kind(text) != '{':
		return nil, fmt.Errorf("the upstream answered HTTP status %d without a GraphQL response: check its url", response.StatusCode)
	}
	return text, nil
}
