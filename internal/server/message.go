package server

import (
	"encoding/json"
	"strings"

	"asyncgate/internal/executor"
)

// subprotocol is the one that websockets speak.
const subprotocol = "graphql-transport-ws"

// The message types of graphql-transport-ws.
const (
	typeInit      = "connection_init"
	typeAck       = "connection_ack"
	typePing      = "ping"
	typePong      = "pong"
	typeSubscribe = "subscribe"
	typeNext      = "next"
	typeError     = "error"
	typeComplete  = "complete"
)

// maxID bounds what a socket keeps of each operation.
const maxID = 255

// message is what a client sent.
type message struct {
	kind    string
	id      string          // "" where the type has none
	idText  json.RawMessage // id as the client wrote it, to be echoed
	payload json.RawMessage // an object, or nil
}

// parseMessage reads a message of a client and checks what can be checked
// without knowing what was said before. Errors: closure.
func parseMessage(text []byte) (message, error) {
	members, err := parseObject(text)
	if err != nil {
		return message{}, errMessageNoObject
	}
	m := message{idText: members["id"]}
	if err := json.Unmarshal(orNull(members["type"]), &m.kind); err != nil {
		return message{}, errMessageType
	}
	if m.payload, err = objectOrNull(members["payload"]); err != nil {
		if m.kind == typeInit {
			return message{}, errInitNoObject
		}
		return message{}, errMessagePayload
	}
	switch m.kind {
	case typeInit, typePing, typePong:
		return m, nil
	case typeSubscribe, typeComplete:
		if err := json.Unmarshal(orNull(m.idText), &m.id); err != nil || m.id == "" || len(m.id) > maxID {
			return message{}, errMessageID
		}
		return m, nil
	case typeAck, typeNext, typeError:
		return message{}, errMessageDirection
	default:
		return message{}, errMessageType
	}
}

// params reads the request of a subscribe. Errors: closure.
func (m message) params() (executor.Params, error) {
	if m.payload == nil {
		return executor.Params{}, malformed("subscribe needs a payload with a query")
	}
	params, err := parseParams(m.payload)
	if err != nil {
		return params, malformed("Bad payload: " + err.Error())
	}
	return params, nil
}

// authorization reads the token of a connection_init; ok is false where there
// is none. Both spellings are in use among clients. Errors: closure.
func (m message) authorization() (value string, ok bool, err error) {
	if m.payload == nil {
		return "", false, nil
	}
	members, err := parseObject(m.payload)
	if err != nil {
		return "", false, errInitNoObject
	}
	text, ok := members["Authorization"]
	if !ok {
		text, ok = members["authorization"]
	}
	if ok && json.Unmarshal(text, &value) != nil {
		return "", false, errInitNotText
	}
	return value, ok, nil
}

// frame is a message to a client. Its payload is written as it is: a reply is
// neither copied nor encoded again.
type frame struct {
	head    string // the message up to its payload
	payload json.RawMessage
	// op is the operation that the frame belongs to: it is dropped once the
	// client has completed it. nil: always sent.
	op *operation
	// last ends op: its id is free when the frame is sent.
	last bool
}

// tail closes the message that head began.
const tail = "}"

func plainFrame(kind string, payload json.RawMessage) frame {
	return newFrame(`{"type":"`+kind+`"`, payload)
}

func (m message) frame(kind string, payload json.RawMessage) frame {
	var head strings.Builder
	head.WriteString(`{"id":`)
	head.Write(m.idText)
	head.WriteString(`,"type":"` + kind + `"`)
	return newFrame(head.String(), payload)
}

func newFrame(head string, payload json.RawMessage) frame {
	if payload != nil {
		head += `,"payload":`
	}
	return frame{head: head, payload: payload}
}
