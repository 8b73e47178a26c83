package server

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"asyncgate/graph"
	"asyncgate/graph/shape"
	"asyncgate/internal/asyncop"
	"asyncgate/internal/executor"
)

// Operations is what callers can do with operations without GraphQL:
// executor.Operations, as with it. The caller is in the context.
type Operations interface {
	Submit(ctx context.Context, r executor.Request) (asyncop.Operation, error)
	Replay(ctx context.Context, r executor.Request) (asyncop.Operation, error)
	Get(ctx context.Context, id uuid.UUID, waitMs *int) (asyncop.Operation, error)
	Cancel(ctx context.Context, id uuid.UUID) (asyncop.Cancellation, error)
}

// The resources of operations, and what they serve.
const (
	operationsPath   = "/operations/"
	operationMethods = "GET, HEAD, DELETE, OPTIONS"
	resultMethods    = "GET, HEAD, OPTIONS"
)

var (
	errPurged = &refusal{
		status: http.StatusGone, code: codeNotFound,
		message: "The result was removed when its retention ended.",
	}
	errNoResult = &refusal{
		status: http.StatusNotFound, code: codeNotFound,
		message: "The operation ended without a result. Its error says why.",
	}
)

// operation serves /operations/{id}.
func (s *Server) operation(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	switch r.Method {
	case http.MethodGet, http.MethodHead:
		s.serveOperation(w, r, s.readOperation)
	case http.MethodDelete:
		s.serveOperation(w, r, s.cancelOperation)
	default:
		s.otherMethod(w, r, operationMethods)
	}
}

// result serves /operations/{id}/result.
func (s *Server) result(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	switch r.Method {
	case http.MethodGet, http.MethodHead:
		s.serveOperation(w, r, s.readResult)
	default:
		s.otherMethod(w, r, resultMethods)
	}
}

// serveOperation finds out who calls about which operation, and refuses where
// serve answers an error.
func (s *Server) serveOperation(w http.ResponseWriter, r *http.Request, serve func(w http.ResponseWriter, r *http.Request, id uuid.UUID) error) {
	who, err := s.identify(r.Context(), r.Header.Get("Authorization"))
	switch {
	case err == nil && who.anonymous:
		err = errNoToken // nobody has operations
	case err == nil:
		r = r.WithContext(who.context(r.Context()))
		err = s.ofOperation(w, r, serve)
	}
	if err != nil {
		s.refuse(w, r, mediaJSON, err)
	}
}

// ofOperation reads the id: what is none is the id of nobody's operation.
func (s *Server) ofOperation(w http.ResponseWriter, r *http.Request, serve func(w http.ResponseWriter, r *http.Request, id uuid.UUID) error) error {
	id, err := shape.UnmarshalID(r.PathValue("id"))
	if err != nil {
		return asyncop.ErrNotFound
	}
	err = serve(w, r, id)
	s.warnUnavailable(r.Context(), err)
	return err
}

// warnUnavailable logs why an operation could not be served.
func (s *Server) warnUnavailable(ctx context.Context, err error) {
	if errors.Is(err, executor.ErrUnavailable) {
		s.logger.LogAttrs(ctx, slog.LevelWarn, "unavailable",
			slog.String("request_id", graph.RequestID(ctx)), slog.Any("error", err))
	}
}

func (s *Server) readOperation(w http.ResponseWriter, r *http.Request, id uuid.UUID) error {
	op, err := s.get(w, r, id)
	if err != nil || s.unchanged(w, r, op) {
		return err
	}
	return s.writeOperation(w, r, http.StatusOK, op)
}

func (s *Server) readResult(w http.ResponseWriter, r *http.Request, id uuid.UUID) error {
	op, err := s.get(w, r, id)
	switch {
	case err != nil:
		return err
	case !op.Done():
		return s.writeOperation(w, r, http.StatusAccepted, op)
	case op.Purged:
		return errPurged
	case op.Result == nil:
		return errNoResult
	case !s.unchanged(w, r, op):
		s.write(w, http.StatusOK, mediaGraphQL, op.Result)
	}
	return nil
}

// get answers an operation once it is done, or what the client would wait is
// over.
func (s *Server) get(w http.ResponseWriter, r *http.Request, id uuid.UUID) (asyncop.Operation, error) {
	preferred := parsePrefer(r.Header.Values("Prefer"))
	preferred.async = false // there is nothing to submit
	op, err := s.operations.Get(r.Context(), id, preferred.milliseconds())
	if err == nil && preferred.wait != nil {
		w.Header().Set("Preference-Applied", preferred.applied())
	}
	return op, err
}

func (s *Server) cancelOperation(w http.ResponseWriter, r *http.Request, id uuid.UUID) error {
	cancellation, err := s.operations.Cancel(r.Context(), id)
	if err != nil {
		return err
	}
	shaped := shape.Of(cancellation.Operation)
	text, err := s.encoder.Encode(r.Context(), shaped)
	if err != nil {
		return err
	}
	status := http.StatusOK
	switch cancellation.Outcome {
	case asyncop.AlreadyDone:
		return &refusal{
			status: http.StatusConflict, code: string(asyncop.AlreadyDone),
			message:    "The operation was done before it could be cancelled.",
			extensions: []string{`"operation":` + string(text)},
		}
	case asyncop.CancelRequested:
		status = http.StatusAccepted
		setRetryAfter(w.Header(), shaped)
	}
	body := `{"outcome":"` + string(cancellation.Outcome) + `","operation":` + string(text) + `}`
	s.write(w, status, mediaJSON, []byte(body))
	return nil
}

// writeOperation answers an operation, and when to ask again.
func (s *Server) writeOperation(w http.ResponseWriter, r *http.Request, status int, op asyncop.Operation) error {
	shaped := shape.Of(op)
	text, err := s.encoder.Encode(r.Context(), shaped)
	if err != nil {
		return err
	}
	setRetryAfter(w.Header(), shaped)
	s.write(w, status, mediaJSON, text)
	return nil
}

// setRetryAfter tells pollAfterMs in whole seconds.
func setRetryAfter(header http.Header, op *shape.Operation) {
	if op.PollAfterMs != nil {
		header.Set("Retry-After", strconv.Itoa((*op.PollAfterMs+999)/1000))
	}
}

// unchanged tells which revision of an operation is answered, and answers 304
// where the client has it already. The tag is weak: pollAfterMs is a matter of
// the moment.
func (s *Server) unchanged(w http.ResponseWriter, r *http.Request, op asyncop.Operation) bool {
	tag := `"` + string(op.State) + "." + strconv.FormatInt(op.Revision, 10) + `"`
	w.Header().Set("ETag", "W/"+tag)
	if !holds(r.Header.Values("If-None-Match"), tag) {
		return false
	}
	setRetryAfter(w.Header(), shape.Of(op))
	w.WriteHeader(http.StatusNotModified)
	return true
}

// holds reports whether an If-None-Match header names a tag, weak or not.
func holds(header []string, tag string) bool {
	for given := range strings.SplitSeq(strings.Join(header, ","), ",") {
		given = strings.Trim(given, " \t")
		if given == "*" || strings.TrimPrefix(given, "W/") == tag {
			return true
		}
	}
	return false
}
