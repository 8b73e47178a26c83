package server

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/vektah/gqlparser/v2/ast"

	"asyncgate/internal/executor"
)

// stream answers a request as server-sent events, GraphQL over SSE's distinct
// connections: a next for each reply, then complete. A subscription ends
// without complete when the server stops or the caller's token expires, so
// that the client connects again; a query or mutation is let finish. When
// stream returns, no one uses the run any more.
func (s *Server) stream(ctx context.Context, cancel context.CancelFunc, w http.ResponseWriter, r run, expiresAt time.Time) {
	replies := s.replies(ctx, r)
	defer func() {
		cancel()
		for range replies {
			continue // until the run is left alone
		}
	}()
	events := s.openEvents(w)
	var over <-chan struct{}
	var expired <-chan time.Time
	if r.Kind() == ast.Subscription {
		over = s.life.stopping
		expired = after(expiresAt)
	}
	err := events.comment()
	keepAlive := time.NewTicker(s.timing.keepAlive)
	defer keepAlive.Stop()
	for err == nil {
		select {
		case reply, ok := <-replies:
			if over != nil && s.life.isStopping() {
				return // what ended the subscription may be the stop
			}
			if !ok {
				if ctx.Err() == nil {
					_ = events.send("complete", nil)
				}
				return
			}
			err = events.send("next", reply.Envelope)
		case <-keepAlive.C:
			err = events.comment()
		case <-over:
			return
		case <-expired:
			return
		}
	}
}

// replies hands out the replies of a run until it or ctx ends.
func (s *Server) replies(ctx context.Context, r run) <-chan executor.Reply {
	replies := make(chan executor.Reply)
	go func() {
		defer close(replies)
		for {
			reply, ok := s.next(ctx, r)
			if !ok {
				return
			}
			select {
			case replies <- reply:
			case <-ctx.Done():
				return
			}
			if reply.Errors != nil {
				return // nothing follows a failure
			}
		}
	}()
	return replies
}

// after is time.After for an instant; never for the zero one.
func after(instant time.Time) <-chan time.Time {
	if instant.IsZero() {
		return nil
	}
	return time.After(time.Until(instant))
}

// eventStream writes events, each of which the client has to take in time.
type eventStream struct {
	w       http.ResponseWriter
	control *http.ResponseController
	timeout time.Duration
}

func (s *Server) openEvents(w http.ResponseWriter) eventStream {
	w.Header().Set("Content-Type", mediaEvents+"; charset=utf-8")
	w.Header().Set("X-Accel-Buffering", "no") // nginx would hold events back
	w.WriteHeader(http.StatusOK)
	return eventStream{w: w, control: http.NewResponseController(w), timeout: s.timing.write}
}

// send writes an event. An event's data is a line each, and JSON may have line
// breaks between its tokens.
func (e eventStream) send(event string, data json.RawMessage) error {
	text := make([]byte, 0, len(data)+64)
	text = append(text, "event: "+event+"\n"...)
	if len(data) == 0 {
		text = append(text, "data:\n"...)
	}
	for line := range bytes.FieldsFuncSeq(data, isLineBreak) {
		text = append(text, "data: "...)
		text = append(text, line...)
		text = append(text, '\n')
	}
	return e.write(append(text, '\n'))
}

// comment writes what clients ignore and what keeps proxies from hanging up.
func (e eventStream) comment() error { return e.write([]byte(":\n\n")) }

func (e eventStream) write(text []byte) error {
	_ = e.control.SetWriteDeadline(time.Now().Add(e.timeout))
	if _, err := e.w.Write(text); err != nil {
		return err
	}
	return e.control.Flush()
}

func isLineBreak(r rune) bool { return r == '\n' || r == '\r' }
