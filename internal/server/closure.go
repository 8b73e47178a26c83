package server

import (
	"context"
	"errors"
	"net/http"

	"github.com/gorilla/websocket"

	"asyncgate/graph"
)

// closure is the end of a websocket: the code and the reason that its client
// is told. Clients reconnect after 4403, 1012 and 1013, and never after the
// other codes here; 1000 would make them reconnect at once and for ever.
type closure struct {
	code   int
	reason string // at most 123 bytes, and nothing of the client's
}

func (c closure) Error() string { return c.reason }

// The close codes of graphql-transport-ws.
const (
	closeBadRequest    = 4400
	closeUnauthorized  = 4401
	closeForbidden     = 4403
	closeNoSubprotocol = 4406
	closeInitTimeout   = 4408
	closeDuplicate     = 4409
	closeTooManyInits  = 4429
)

var (
	errNotAcknowledged  = closure{closeUnauthorized, "Unauthorized: send connection_init and wait for connection_ack first"}
	errTokenExpired     = closure{closeForbidden, "Token expired"}
	errSubprotocol      = closure{closeNoSubprotocol, "Subprotocol not acceptable: offer " + subprotocol}
	errInitTimeout      = closure{closeInitTimeout, "Connection initialisation timeout"}
	errDuplicate        = closure{closeDuplicate, "Subscriber for this id already exists"}
	errTooManyInits     = closure{closeTooManyInits, "Too many initialisation requests"}
	errRestart          = closure{websocket.CloseServiceRestart, "Service restart"}
	errTooBig           = closure{websocket.CloseMessageTooBig, "Message too big"}
	errBinary           = malformed("Binary messages are not served: send JSON as text")
	errGone             = errors.New("the connection is gone")
	errInitNoObject     = malformed("connection_init's payload must be an object")
	errInitNotText      = malformed("connection_init's Authorization must be a string")
	errMessageNoObject  = malformed("A message must be a JSON object in UTF-8")
	errMessageID        = malformed("A message's id must be a string of 1 to 255 bytes")
	errMessagePayload   = malformed("A message's payload must be an object or null")
	errMessageType      = malformed("Unknown message type")
	errMessageDirection = malformed("This message type is the server's to send")
)

// malformed is the end of a socket whose client does not speak the protocol.
func malformed(reason string) closure { return closure{closeBadRequest, reason} }

// refusedInit is the end of a socket whose caller is not let in.
func (s *Server) refusedInit(ctx context.Context, err error) closure {
	switch f := s.refusalOf(ctx, err); f.status {
	case http.StatusUnauthorized:
		return closure{closeForbidden, "Forbidden"}
	case http.StatusServiceUnavailable:
		return closure{websocket.CloseTryAgainLater, "Try again later"}
	case http.StatusInternalServerError:
		return internalClosure(ctx)
	default:
		return closure{closeForbidden, "Forbidden: " + f.code}
	}
}

func internalClosure(ctx context.Context) closure {
	return closure{websocket.CloseInternalServerErr, "Internal error, request id " + graph.RequestID(ctx)}
}
