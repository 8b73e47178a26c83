package server

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"asyncgate/graph"
)

// client is a raw websocket client.
type client struct {
	t    *testing.T
	conn *websocket.Conn
}

// dial opens a socket; without protocols it offers ours. Header lines are
// "Name: value".
func (f *fixture) dial(t *testing.T, protocols []string, header ...string) client {
	t.Helper()
	if protocols == nil {
		protocols = []string{"graphql-ws", subprotocol}
	}
	headers := http.Header{}
	for _, line := range header {
		name, value, _ := strings.Cut(line, ": ")
		headers.Set(name, value)
	}
	dialer := websocket.Dialer{Subprotocols: protocols}
	conn, answer, err := dialer.DialContext(t.Context(), "ws"+strings.TrimPrefix(f.url, "http"), headers)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if answer.Header.Get("X-Request-Id") == "" {
		t.Error("the handshake has no request id")
	}
	_ = conn.SetReadDeadline(time.Now().Add(patience))
	return client{t, conn}
}

// greeted opens a socket for ada and sees it acknowledged.
func (f *fixture) greeted(t *testing.T) client {
	t.Helper()
	c := f.dial(t, nil, "Authorization: Bearer ada")
	c.say(`{"type":"connection_init"}`)
	c.hear(`{"type":"connection_ack"}`)
	return c
}

func (c client) say(messages ...string) {
	c.t.Helper()
	for _, text := range messages {
		if err := c.conn.WriteMessage(websocket.TextMessage, []byte(text)); err != nil {
			c.t.Fatal(err)
		}
	}
}

func (c client) read() string {
	c.t.Helper()
	_, text, err := c.conn.ReadMessage()
	if err != nil {
		c.t.Fatal(err)
	}
	return string(text)
}

// hear reads messages that must be exactly these.
func (c client) hear(messages ...string) {
	c.t.Helper()
	for _, want := range messages {
		if got := c.read(); got != want {
			c.t.Fatalf("heard %s, want %s", got, want)
		}
	}
}

// closed reads until the socket ends and checks how it does.
func (c client) closed(code int, reason string) {
	c.t.Helper()
	for {
		_, text, err := c.conn.ReadMessage()
		if err == nil {
			c.t.Errorf("heard %s before the close", text)
			continue
		}
		var end *websocket.CloseError
		if !errors.As(err, &end) || end.Code != code || !strings.Contains(end.Text, reason) {
			c.t.Errorf("ended with %v, want %d %s", err, code, reason)
		}
		return
	}
}

func subscribe(id, query string) string {
	return fmt.Sprintf(`{"id":%q,"type":"subscribe","payload":{"query":%q}}`, id, query)
}

func TestCloseCodesBeforeTheAcknowledgement(t *testing.T) {
	t.Parallel()
	f := start(t)
	init := func(payload string) string { return `{"type":"connection_init","payload":` + payload + `}` }
	cases := []struct {
		authorization, message string
		code                   int
		reason                 string
	}{
		{"", `{"type":"connection_init"}`, 4403, "Forbidden"},
		{"", init(`null`), 4403, "Forbidden"},
		{"", init(`{"Authorization":"ada"}`), 4403, "Forbidden"},
		{"Bearer secret", init(`{}`), 4403, "Forbidden"},
		{"Bearer ada", init(`{"Authorization":"Bearer secret"}`), 4403, "Forbidden"},
		{"Bearer homeless", init(`{}`), 4403, "TENANT_UNKNOWN"},
		{"Bearer patient", init(`{}`), 1013, "Try again later"},
		{"Bearer unlucky", init(`{}`), 1011, "Internal error, request id "},
		{"Bearer clumsy", init(`{}`), 1011, "Internal error, request id "},
		{"Bearer ada", init(`[1]`), 4400, "must be an object"},
		{"Bearer ada", init(`"secret"`), 4400, "must be an object"},
		{"Bearer ada", init(`{"Authorization":["Bearer ada"]}`), 4400, "must be a string"},
		{"Bearer ada", subscribe("1", "query who"), 4401, "Unauthorized"},
		{"Bearer ada", `secret`, 4400, "JSON object"},
	}
	for _, c := range cases {
		t.Run(c.authorization+c.message, func(t *testing.T) {
			t.Parallel()
			socket := f.dial(t, nil, "Authorization: "+c.authorization)
			socket.say(c.message)
			socket.closed(c.code, c.reason)
		})
	}
}

func TestCloseCodesAfterTheAcknowledgement(t *testing.T) {
	t.Parallel()
	f := start(t)
	cases := []struct {
		message string
		code    int
		reason  string
	}{
		{`{"type":"connection_init"}`, 4429, "Too many"},
		{subscribe("taken", "query who"), 4409, "already exists"},
		{`secret`, 4400, "JSON object"},
		{`[]`, 4400, "JSON object"},
		{`null`, 4400, "JSON object"},
		{"{\"type\":\"ping\xff\"}", 4400, "UTF-8"},
		{`{}`, 4400, "Unknown"},
		{`{"type":"secret"}`, 4400, "Unknown"},
		{`{"type":7}`, 4400, "Unknown"},
		{`{"type":"start","id":"1","payload":{"query":"query who"}}`, 4400, "Unknown"},
		{`{"type":"connection_ack"}`, 4400, "server's to send"},
		{`{"type":"next","id":"1","payload":{}}`, 4400, "server's to send"},
		{`{"type":"error","id":"1","payload":{}}`, 4400, ""},
		{`{"type":"ping","payload":[]}`, 4400, "payload"},
		{`{"type":"complete"}`, 4400, "id"},
		{`{"type":"subscribe","payload":{"query":"query who"}}`, 4400, "id"},
		{`{"type":"subscribe","id":"","payload":{"query":"query who"}}`, 4400, "id"},
		{`{"type":"subscribe","id":7,"payload":{"query":"query who"}}`, 4400, "id"},
		{subscribe(strings.Repeat("x", 256), "query who"), 4400, "id"},
		{`{"type":"subscribe","id":"1"}`, 4400, "payload"},
		{`{"type":"subscribe","id":"1","payload":null}`, 4400, "payload"},
		{`{"type":"subscribe","id":"1","payload":"secret"}`, 4400, "payload"},
		{`{"type":"subscribe","id":"1","payload":{}}`, 4400, "query must be"},
		{`{"type":"subscribe","id":"1","payload":{"query":7}}`, 4400, "query must be"},
		{`{"type":"subscribe","id":"1","payload":{"query":"query who","variables":[]}}`, 4400, "variables must be"},
		{subscribe("1", strings.Repeat("x", 8<<10)), 1009, ""},
	}
	for _, c := range cases {
		t.Run(c.message[:min(len(c.message), 60)], func(t *testing.T) {
			t.Parallel()
			socket := f.greeted(t)
			socket.say(subscribe("taken", "subscription waits"))
			socket.say(c.message)
			socket.closed(c.code, c.reason)
		})
	}
}

func TestABinaryMessageCloses4400(t *testing.T) {
	t.Parallel()
	f := start(t)
	socket := f.greeted(t)
	if err := socket.conn.WriteMessage(websocket.BinaryMessage, []byte(`{"type":"ping"}`)); err != nil {
		t.Fatal(err)
	}
	socket.closed(4400, "Binary")
}

func TestAnUnknownSubprotocolCloses4406(t *testing.T) {
	t.Parallel()
	f := start(t)
	for _, protocols := range [][]string{{}, {"graphql-ws"}, {"mqtt"}} {
		f.dial(t, protocols, "Authorization: Bearer ada").closed(4406, subprotocol)
	}
}

func TestASilentClientCloses4408(t *testing.T) {
	t.Parallel()
	f := start(t, func(s *Server) { s.timing.init = 50 * time.Millisecond })
	f.dial(t, nil).closed(4408, "timeout")
}

func TestASocketOutlivesItsInitTimeout(t *testing.T) {
	t.Parallel()
	f := start(t, func(s *Server) { s.timing.init, s.timing.ping = time.Second, 10*time.Millisecond })
	socket := f.greeted(t)
	pings := make(chan struct{}, 1000)
	socket.conn.SetPingHandler(func(string) error { pings <- struct{}{}; return nil })
	go func() { _, _, _ = socket.conn.ReadMessage() }()
	awaits(t, pings, 150)
	socket.say(`{"type":"ping"}`)
}

func TestATokenThatExpiresCloses4403(t *testing.T) {
	t.Parallel()
	f := start(t)
	socket := f.dial(t, nil)
	socket.say(`{"type":"connection_init","payload":{"authorization":"Bearer brief"}}`)
	socket.hear(`{"type":"connection_ack"}`)
	socket.say(subscribe("1", "subscription waits"))
	socket.closed(4403, "Token expired")
	awaits(t, f.tenant.ended, 1)
}

func TestASocketWithoutASignOfLifeEnds(t *testing.T) {
	t.Parallel()
	f := start(t, func(s *Server) { s.timing.pong = time.Second })
	socket := f.greeted(t)
	socket.say(subscribe("1", "subscription waits"))
	awaits(t, f.tenant.ended, 1)
}

func TestTheInitPayloadsTokenWins(t *testing.T) {
	t.Parallel()
	f := start(t)
	socket := f.dial(t, nil, "Authorization: Bearer secret")
	socket.say(`{"type":"connection_init","payload":{"Authorization":"Bearer ada"}}`)
	socket.hear(`{"type":"connection_ack"}`)
	socket.say(subscribe("1", "query who"))
	socket.hear(`{"id":"1","type":"next","payload":{"data":"ada"}}`, `{"id":"1","type":"complete"}`)
}

func TestAnotherOriginIsRefused(t *testing.T) {
	t.Parallel()
	f := start(t)
	upgrade := []string{
		"Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13",
		"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==", "Sec-WebSocket-Protocol: " + subprotocol,
	}
	f.call(t, http.MethodGet, "/graphql", "", append(upgrade, "Origin: http://evil.test")...).mustRefuse(t, 403, codeForbidden)
	f.call(t, http.MethodGet, "/graphql", "", append(upgrade, "Sec-WebSocket-Version: 12")...).mustRefuse(t, 400, graph.CodeBadUserInput)
	f.dial(t, nil, "Origin: "+strings.TrimSuffix(f.url, "/graphql"))
}

func TestMessagesOfEachKindOfOperation(t *testing.T) {
	t.Parallel()
	f := start(t)
	socket := f.greeted(t)
	complete := `{"id":"1","type":"complete"}`
	next := func(payload string) string { return `{"id":"1","type":"next","payload":` + payload + `}` }
	cases := map[string][]string{
		"query who":            {next(`{"data":"ada"}`), complete},
		"mutation awkward":     {next(awkward), complete},
		"subscription awkward": {next(awkward), complete},
		"subscription three":   {next(`{"data":1}`), next(`{"data":2}`), next(`{"data":3}`), complete},
		"subscription fails":   {`{"id":"1","type":"error","payload":` + noField + `}`},
		"x refused":            {`{"id":"1","type":"error","payload":` + noField + `}`},
	}
	for query, messages := range cases {
		socket.say(subscribe("1", query))
		socket.hear(messages...)
	}
	socket.say(`{"type":"ping"}`) // and nothing more came
	socket.hear(`{"type":"pong"}`)
}

func TestPingIsAnsweredWithItsPayload(t *testing.T) {
	t.Parallel()
	f := start(t)
	early := f.dial(t, nil)
	early.say(`{"type":"ping"}`)
	early.hear(`{"type":"pong"}`)
	socket := f.greeted(t)
	socket.say(`{"type":"ping","payload": {"n":1.10,"s":"<"} }`, `{"type":"pong","payload":{}}`, `{"type":"ping","payload":null}`)
	socket.hear(`{"type":"pong","payload":{"n":1.10,"s":"<"}}`, `{"type":"pong"}`)
}

func TestAnIDComesBackAsItWasWritten(t *testing.T) {
	t.Parallel()
	f := start(t)
	socket := f.greeted(t)
	socket.say(`{"id":"<\u0061\"}","type":"subscribe","payload":{"query":"query who"}}`)
	socket.hear(`{"id":"<\u0061\"}","type":"next","payload":{"data":"ada"}}`, `{"id":"<\u0061\"}","type":"complete"}`)
}

func TestAPanicEndsItsOperationAlone(t *testing.T) {
	t.Parallel()
	f := start(t)
	socket := f.greeted(t)
	for _, query := range []string{"query panics", "query panics at once"} {
		socket.say(subscribe("1", query))
		text := socket.read()
		if !strings.HasPrefix(text, `{"id":"1","type":"error","payload":[{"message":"Something went wrong`) || strings.Contains(text, "secret") {
			t.Errorf("heard %s", text)
		}
	}
	socket.say(subscribe("1", "query who"))
	socket.hear(`{"id":"1","type":"next","payload":{"data":"ada"}}`, `{"id":"1","type":"complete"}`)
	if !strings.Contains(f.log.String(), "secret-cause") {
		t.Error("the log does not have the cause")
	}
}

func TestACompletedOperationIsCancelledInSilence(t *testing.T) {
	t.Parallel()
	f := start(t)
	socket := f.greeted(t)
	socket.say(subscribe("1", "subscription waits"))
	awaits(t, f.tenant.begun, 1)
	socket.say(`{"type":"complete","id":"1"}`, `{"type":"complete","id":"1"}`, `{"type":"complete","id":"never"}`)
	awaits(t, f.tenant.ended, 1)
	socket.say(`{"type":"ping"}`)
	socket.hear(`{"type":"pong"}`)
}

func TestAnIDIsFreeOnceItsLastMessageIsRead(t *testing.T) {
	t.Parallel()
	f := start(t)
	socket := f.greeted(t)
	for range 500 {
		socket.say(subscribe("1", "query who"))
		socket.hear(`{"id":"1","type":"next","payload":{"data":"ada"}}`, `{"id":"1","type":"complete"}`)
		socket.say(subscribe("1", "x refused"))
		socket.hear(`{"id":"1","type":"error","payload":` + noField + `}`)
	}
}

func TestAnIDThatIsUsedAgainHearsNothingOfItsPast(t *testing.T) {
	t.Parallel()
	f := start(t)
	socket := f.greeted(t)
	for round := range 50 {
		flood := fmt.Sprintf(`{"id":"1","type":"subscribe","payload":{"query":"subscription floods","variables":{"round":%d}}}`, round)
		want := fmt.Sprintf(`{"id":"1","type":"next","payload":{"data":{"round":%d}}}`, round)
		socket.say(flood)
		for socket.read() != want {
			continue // what was on its way before the id was used again
		}
		socket.hear(want, want, want)
		socket.say(`{"type":"complete","id":"1"}`)
	}
}

func TestASocketHasALimitOfOperations(t *testing.T) {
	t.Parallel()
	f := start(t)
	socket := f.greeted(t)
	for n := range maxOperations {
		socket.say(subscribe(fmt.Sprint("s", n), "subscription waits"))
	}
	awaits(t, f.tenant.begun, maxOperations)
	socket.say(subscribe("more", "query who"))
	text := socket.read()
	if !strings.HasPrefix(text, `{"id":"more","type":"error","payload":[{"message":"`) ||
		!strings.Contains(text, `"code":"QUOTA_EXCEEDED","retryAfterMs":1000}`) {
		t.Fatalf("heard %s", text)
	}
	socket.say(`{"type":"complete","id":"s7"}`)
	awaits(t, f.tenant.ended, 1)
	for text := ""; text != `{"id":"more","type":"complete"}`; text = socket.read() {
		if text == "" || strings.Contains(text, codeQuotaExceeded) { // the run may be about to be counted out
			socket.say(subscribe("more", "query who"))
		}
	}
	for range 200 { // there is room for one, and it is there as soon as it can be known
		socket.say(subscribe("more", "query who"))
		socket.hear(`{"id":"more","type":"next","payload":{"data":"ada"}}`, `{"id":"more","type":"complete"}`)
	}
}

func TestASlowReaderIsCutOffAndDelaysNoOne(t *testing.T) {
	t.Parallel()
	f := start(t, func(s *Server) { s.timing.write = 300 * time.Millisecond })
	slow := f.greeted(t)
	slow.say(subscribe("1", "subscription large"))
	quick := make([]client, 20)
	for n := range quick {
		quick[n] = f.greeted(t)
		quick[n].say(subscribe("1", "subscription ticks"))
	}
	awaits(t, f.tenant.begun, len(quick))
	for cutOff := false; !cutOff; {
		f.tenant.ticked()
		for _, socket := range quick {
			socket.hear(`{"id":"1","type":"next","payload":{"data":"tick"}}`)
		}
		select {
		case query := <-f.tenant.ended:
			cutOff = query == "subscription large"
		default:
		}
		awaits(t, f.tenant.begun, len(quick)) // all listen again
	}
}

func TestADroppedConnectionEndsItsOperations(t *testing.T) {
	t.Parallel()
	f := start(t)
	socket := f.greeted(t)
	for n := range 10 {
		socket.say(subscribe(fmt.Sprint(n), "subscription waits"))
	}
	awaits(t, f.tenant.begun, 10)
	socket.conn.NetConn().Close()
	awaits(t, f.tenant.ended, 10)
}
