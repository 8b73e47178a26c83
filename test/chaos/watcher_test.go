package chaos

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"
)

// watcher subscribes to operations on one socket after another, each at another
// node. Like a client of graphql-ws it subscribes again to all that has not
// ended when its socket ends.
type watcher struct {
	client *client

	mu     sync.Mutex
	conn   *websocket.Conn     // guarded by mu; nil while there is none
	open   map[string]bool     // guarded by mu: operations whose end is awaited
	ends   map[string][]ending // guarded by mu, by operation: its terminal events
	faults []string            // guarded by mu
}

// ending is one terminal event.
type ending struct {
	state string
	at    time.Time
}

// watch starts a watcher that has nothing to watch yet. Its first socket is at
// the ith node. It ends with the test.
func (c *client) watch(t *testing.T, i int) *watcher {
	t.Helper()
	w := &watcher{client: c, open: map[string]bool{}, ends: map[string][]ending{}}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	var running sync.WaitGroup
	running.Go(func() { w.run(ctx, i) })
	t.Cleanup(func() {
		cancel()
		running.Wait()
	})
	return w
}

func (w *watcher) run(ctx context.Context, i int) {
	for ; ctx.Err() == nil; i++ {
		w.connect(ctx, i)
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
		}
	}
}

// connect serves one socket to its end.
func (w *watcher) connect(ctx context.Context, i int) {
	dialer := websocket.Dialer{HandshakeTimeout: hurry, Subprotocols: []string{"graphql-transport-ws"}}
	conn, response, err := dialer.DialContext(ctx, "ws"+strings.TrimPrefix(w.client.cluster.node(i).URL, "http"), nil)
	if err != nil {
		return
	}
	response.Body.Close()
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	if err := conn.WriteJSON(map[string]any{
		"type": "connection_init", "payload": map[string]any{"Authorization": "Bearer " + w.client.token},
	}); err != nil {
		return
	}
	defer w.disconnected()
	for {
		var m message
		if err := conn.ReadJSON(&m); err != nil || !w.received(conn, m) {
			return
		}
	}
}

// message is what a server sends.
type message struct {
	Type    string
	ID      string
	Payload json.RawMessage
}

// received takes a message in, and reports whether the socket is of further
// use.
func (w *watcher) received(conn *websocket.Conn, m message) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch m.Type {
	case "connection_ack":
		w.conn = conn
		for id := range w.open {
			w.subscribe(id)
		}
	case "ping":
		_ = conn.WriteJSON(map[string]any{"type": "pong"}) // reading tells of the socket's end
	case "next":
		w.event(m)
	case "complete":
		if w.open[m.ID] {
			w.faults = append(w.faults, fmt.Sprintf("the subscription to %s completed without a terminal event", m.ID))
			delete(w.open, m.ID)
		}
	case "error":
		return false // the store is away: begin again
	}
	return true
}

// event takes an event in. w.mu is held.
func (w *watcher) event(m message) {
	var payload struct {
		Data struct {
			OperationUpdates *struct {
				State string
				Done  bool
			}
		}
	}
	if err := json.Unmarshal(m.Payload, &payload); err != nil || payload.Data.OperationUpdates == nil {
		w.faults = append(w.faults, fmt.Sprintf("the event of %s is %s", m.ID, m.Payload))
		return
	}
	if op := payload.Data.OperationUpdates; op.Done {
		w.ends[m.ID] = append(w.ends[m.ID], ending{op.State, time.Now()})
		delete(w.open, m.ID)
	} else if !w.open[m.ID] {
		w.faults = append(w.faults, fmt.Sprintf("%s is %s after its end", m.ID, op.State))
	}
}

func (w *watcher) disconnected() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.conn = nil
}

// watch subscribes to an operation until it has ended.
func (w *watcher) watch(id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.open[id] = true
	if w.conn != nil {
		w.subscribe(id)
	}
}

// subscribe sends a subscription. w.mu is held. What cannot be sent is sent on
// the next socket.
func (w *watcher) subscribe(id string) {
	_ = w.conn.SetWriteDeadline(time.Now().Add(hurry))
	_ = w.conn.WriteJSON(map[string]any{"type": "subscribe", "id": id, "payload": map[string]any{
		"query": `subscription ($id: ID!) { operationUpdates(id: $id) { state done } }`, "variables": map[string]any{"id": id},
	}})
}

// waiting is how many operations have not told it of their end.
func (w *watcher) waiting() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.open)
}

// read answers the terminal events by operation, and what was wrong.
func (w *watcher) read() (ends map[string][]ending, faults []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return maps.Clone(w.ends), w.faults
}
