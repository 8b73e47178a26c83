package e2e

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
)

// socket is a client of graphql-transport-ws. It is for one goroutine.
type socket struct{ conn *websocket.Conn }

// message is what a server sends. Its payload is cut out byte for byte.
type message struct {
	Type    string
	ID      string
	payload json.RawMessage
}

// dial opens a socket on which nothing has been said.
func (c caller) dial(t *testing.T) *socket {
	t.Helper()
	dialer := websocket.Dialer{HandshakeTimeout: patience, Subprotocols: []string{"graphql-transport-ws"}}
	conn, response, err := dialer.DialContext(t.Context(), "ws"+strings.TrimPrefix(c.endpoint, "http"), nil)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	t.Cleanup(func() { conn.Close() })
	return &socket{conn}
}

// connect opens a socket, with the caller's token in connection_init.
func (c caller) connect(t *testing.T) *socket {
	t.Helper()
	s := c.dial(t)
	s.send(t, object("type", `"connection_init"`, "payload", object("Authorization", quote("Bearer "+c.token))))
	if got := s.receive(t); got.Type != "connection_ack" {
		t.Fatalf("got %+v, want connection_ack", got)
	}
	return s
}

// subscribe opens a socket and subscribes to an operation.
func (c caller) subscribe(t *testing.T, document, id string) *socket {
	t.Helper()
	s := c.connect(t)
	s.subscribe(t, document, object("id", quote(id)))
	return s
}

func (s *socket) subscribe(t *testing.T, document, variables string) {
	t.Helper()
	s.send(t, object("type", `"subscribe"`, "id", `"s"`, "payload", string(body(document, variables))))
}

func (s *socket) send(t *testing.T, text string) {
	t.Helper()
	_ = s.conn.SetWriteDeadline(time.Now().Add(patience))
	if err := s.conn.WriteMessage(websocket.TextMessage, []byte(text)); err != nil {
		t.Fatal(err)
	}
}

func (s *socket) receive(t *testing.T) (m message) {
	t.Helper()
	_ = s.conn.SetReadDeadline(time.Now().Add(patience))
	_, text, err := s.conn.ReadMessage()
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	m.payload, _ = inside(text, "payload")
	return m
}

// run answers the messages of the subscription to its end, and makes sure that
// nothing follows.
func (s *socket) run(t *testing.T) (all []message) {
	t.Helper()
	for {
		m := s.receive(t)
		all = append(all, m)
		if m.Type == "complete" || m.Type == "error" {
			break
		}
	}
	s.send(t, `{"type":"ping"}`)
	if after := s.receive(t); after.Type != "pong" {
		t.Errorf("after the end came %+v %s", after, after.payload)
	}
	return all
}

// result answers the one event that operationResult has.
func (s *socket) result(t *testing.T) operation {
	t.Helper()
	all := s.run(t)
	if len(all) != 2 || all[0].Type != "next" || all[1].Type != "complete" {
		t.Fatalf("got %+v, want one next and complete", all)
	}
	return operationAt(t, all[0].payload, "data", "operationResult")
}

// closed answers the code with which the server closes the socket.
func (s *socket) closed(t *testing.T) int {
	t.Helper()
	_ = s.conn.SetReadDeadline(time.Now().Add(patience))
	for {
		_, _, err := s.conn.ReadMessage()
		if closing, ok := err.(*websocket.CloseError); ok { //nolint:errorlint // gorilla never wraps it
			return closing.Code
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
