package server

import (
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gorilla/websocket"
	"github.com/vektah/gqlparser/v2/ast"

	"asyncgate/graph"
	"asyncgate/internal/executor"
)

const graphqlMethods = "GET, POST, OPTIONS"

// graphql serves /graphql over all transports.
func (s *Server) graphql(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	switch {
	case websocket.IsWebSocketUpgrade(r):
		s.upgrade(w, r)
	case r.Method == http.MethodPost, r.Method == http.MethodGet:
		s.request(w, r)
	default:
		s.otherMethod(w, r, graphqlMethods)
	}
}

// otherMethod tells which methods are served.
func (s *Server) otherMethod(w http.ResponseWriter, r *http.Request, served string) {
	if r.Method != http.MethodOptions {
		s.refuse(w, r, mediaJSON, methodNotAllowed(served))
		return
	}
	w.Header().Set("Allow", served)
	w.WriteHeader(http.StatusNoContent)
}

// request serves one request by POST or GET.
func (s *Server) request(w http.ResponseWriter, r *http.Request) {
	accepts, err := negotiate(r.Header.Values("Accept"))
	if err != nil {
		s.refuse(w, r, mediaJSON, err)
		return
	}
	who, params, err := s.readRequest(w, r)
	if err != nil {
		s.refuse(w, r, accepts.forErrors(), err)
		return
	}
	ctx, cancel := context.WithCancel(who.context(r.Context()))
	defer cancel()
	begun := who.tenant.Begin(ctx, params)
	defer begun.Close()
	switch streamed, err := route(r.Method, begun.Kind(), accepts); {
	case err != nil:
		s.refuse(w, r, accepts.forErrors(), err)
	case streamed:
		s.stream(ctx, cancel, w, begun, who.ExpiresAt)
	case s.deferred(ctx, w, r, begun, params, accepts.single):
	default:
		s.answer(ctx, w, begun, accepts.single)
	}
}

// readRequest finds out who calls before it reads what they want: a stranger
// cannot make the server read a body.
func (s *Server) readRequest(w http.ResponseWriter, r *http.Request) (caller, executor.Params, error) {
	who, err := s.identify(r.Context(), r.Header.Get("Authorization"))
	if err != nil {
		return caller{}, executor.Params{}, err
	}
	params, err := s.readParams(w, r)
	if reason, ok := errors.AsType[invalid](err); ok {
		err = badRequest(reason.Error())
	}
	return who, params, err
}

// readParams reads the request itself. Errors: invalid, a refusal.
func (s *Server) readParams(w http.ResponseWriter, r *http.Request) (executor.Params, error) {
	if r.Method == http.MethodGet {
		return parseURLParams(r.URL.RawQuery)
	}
	if err := checkContent(r.Header); err != nil {
		return executor.Params{}, err
	}
	body, err := s.readBody(w, r)
	if err != nil {
		return executor.Params{}, err
	}
	return parseParams(body)
}

func (s *Server) readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	body := r.Body
	limit := s.limits().Body
	if limit > 0 {
		body = http.MaxBytesReader(w, body, limit)
	}
	text, err := io.ReadAll(body)
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return nil, &refusal{
			status: http.StatusRequestEntityTooLarge, code: graph.CodePayloadTooLarge,
			message: "The body is larger than the " + strconv.FormatInt(limit, 10) + " bytes of limits.body.",
		}
	}
	if err != nil {
		return nil, badRequest("The body could not be read to its end. Send the request again.")
	}
	// The connection is watched for the client's going away from here on, and
	// that must not end at the body's deadline.
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
	return text, nil
}

// checkContent refuses what is not plain JSON in UTF-8 with 415.
func checkContent(header http.Header) error {
	unsupported := &refusal{status: http.StatusUnsupportedMediaType, code: graph.CodeBadUserInput}
	mediaType, params, err := mime.ParseMediaType(header.Get("Content-Type"))
	charset := params["charset"]
	switch {
	case mediaType == "multipart/form-data":
		unsupported.message = "Multipart requests (file uploads) are not served. Send Content-Type: application/json."
	case err != nil, mediaType != mediaJSON, charset != "" && !strings.EqualFold(charset, "utf-8"):
		unsupported.message = "Send the request as Content-Type: application/json, in UTF-8."
	case header.Get("Content-Encoding") != "":
		unsupported.message = "Compressed requests are not served. Leave Content-Encoding out."
	default:
		return nil
	}
	return unsupported
}

// route decides how a request that has begun is answered, and refuses what its
// method or transport cannot carry. Nothing has been executed yet.
func route(method string, kind ast.Operation, accepts accepted) (streamed bool, err error) {
	switch {
	case method == http.MethodGet && kind == ast.Mutation:
		return false, &refusal{
			status: http.StatusMethodNotAllowed, code: graph.CodeBadUserInput,
			message: "A mutation must be sent by POST.", allow: http.MethodPost,
		}
	case method == http.MethodGet && (kind == ast.Subscription || accepts.single == ""):
		return false, badRequest("GET is for queries with one response. Ask for an event stream by POST, or use a websocket.")
	case kind == ast.Subscription && !accepts.events:
		return false, badRequest("A subscription needs Accept: text/event-stream, or a websocket with the subprotocol " + subprotocol + ".")
	}
	return kind == ast.Subscription || accepts.eventsFirst || accepts.single == "", nil
}

// forErrors is the media type for a request that is not executed.
func (a accepted) forErrors() string {
	if a.single == "" {
		return mediaJSON
	}
	return a.single
}

// answer executes a query or a mutation and writes its one reply.
func (s *Server) answer(ctx context.Context, w http.ResponseWriter, r run, mediaType string) {
	reply, ok := r.Next()
	switch {
	case !ok && ctx.Err() != nil:
		// The client is gone, or the server's grace is over and nothing true
		// can be said: a cut connection is the honest answer.
		panic(http.ErrAbortHandler)
	case !ok:
		panic("a run ended without a reply")
	}
	status := http.StatusOK
	if reply.Errors != nil && mediaType == mediaGraphQL {
		status = http.StatusBadRequest
	}
	s.write(w, status, mediaType, reply.Envelope)
}

// write writes a whole response to a client that has to take it in time.
func (s *Server) write(w http.ResponseWriter, status int, mediaType string, body []byte) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(s.timing.response))
	w.Header().Set("Content-Type", mediaType+"; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) //nolint:gosec // never HTML, and nosniff; an error is the client's going away
}
