package server

import (
	"encoding/json"
	"errors"
	"testing"
	"unicode/utf8"
)

// maxReason is what fits into a close frame.
const maxReason = 123

// Whatever is sent, it is a message whose answer is JSON, or the socket closes
// with 4400.
func FuzzWebsocketMessage(f *testing.F) {
	for _, seed := range []string{
		`{"type":"connection_init","payload":{"Authorization":"Bearer x"}}`, `{"type":"connection_init","payload":{"authorization":7}}`,
		`{"type":"subscribe","id":"1","payload":{"query":"{ a }","variables":{"n":1.10}}}`,
		`{"type":"subscribe","id":"\ud800","payload":[]}`, `{"type":"complete","id":"<\u0000"}`,
		`{"type":"ping","payload":{}}`, `{"type":"next","id":"1"}`, `{"type":null}`, `[]`, ``, "{\"type\":\"\xff\"}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := parseMessage(text)
		if err == nil {
			switch m.kind {
			case typeSubscribe:
				_, err = m.params()
			case typeInit:
				_, _, err = m.authorization()
			}
		}
		if err != nil {
			end, ok := errors.AsType[closure](err)
			if !ok || end.code != closeBadRequest || len(end.reason) > maxReason || !utf8.ValidString(end.reason) {
				t.Errorf("%q ends with %#v", text, err)
			}
			return
		}
		answer := plainFrame(typePong, m.payload)
		if m.id != "" {
			answer = m.frame(typeNext, json.RawMessage(awkward))
		}
		if whole := answer.head + string(answer.payload) + tail; !json.Valid([]byte(whole)) {
			t.Errorf("%q is answered with %q", text, whole)
		}
	})
}

func TestCloseReasonsFitIntoTheirFrame(t *testing.T) {
	t.Parallel()
	for _, end := range []closure{
		errNotAcknowledged, errTokenExpired, errSubprotocol, errInitTimeout, errDuplicate, errTooManyInits, errRestart,
		errTooBig, errBinary, errInitNoObject, errInitNotText, errMessageNoObject, errMessageID, errMessagePayload,
		errMessageType, errMessageDirection, internalClosure(t.Context()),
	} {
		if len(end.reason) > maxReason-26 { // a request id is 26 bytes
			t.Errorf("%d: %d bytes: %s", end.code, len(end.reason), end.reason)
		}
	}
}
