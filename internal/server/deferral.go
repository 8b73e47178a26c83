package server

import (
	"context"
	"errors"
	"net/http"

	"github.com/vektah/gqlparser/v2/ast"

	"asyncgate/internal/asyncop"
	"asyncgate/internal/executor"
)

// errSynchronous: the preference for an asynchronous response does not apply.
var errSynchronous = errors.New("the request is executed now")

// deferred answers a request whose client prefers an asynchronous response:
// with a handle, or, where the client would wait and the operation is done by
// then, with the response that it would have had. It answers false, and
// nothing to the client, where the preference does not apply.
func (s *Server) deferred(ctx context.Context, w http.ResponseWriter, r *http.Request, begun run, params executor.Params, mediaType string) bool {
	preferred := parsePrefer(r.Header.Values("Prefer"))
	if kind := begun.Kind(); !preferred.async || kind == ast.Query || kind == ast.Subscription {
		return false
	}
	op, err := s.submit(ctx, r.Header, begun, params, preferred)
	if errors.Is(err, errSynchronous) {
		return false
	}
	if err == nil {
		w.Header().Set("Location", operationsPath+op.ID.String())
		w.Header().Set("Preference-Applied", preferred.applied())
		err = s.answerDeferred(w, r, begun, op, preferred.wait != nil, mediaType)
	}
	if err != nil {
		s.warnUnavailable(ctx, err)
		s.refuse(w, r, mediaType, err)
	}
	return true
}

// submit makes the request an operation. A key may stand for one that was
// submitted when it was still allowed, or still fitted the schema: executing
// it now would do its work twice, and a refusal would say that it was not
// done. Errors: errSynchronous.
func (s *Server) submit(ctx context.Context, header http.Header, begun run, params executor.Params, preferred preferences) (asyncop.Operation, error) {
	allowed := begun.Submittable()
	key, err := parseIdempotencyKey(header.Values("Idempotency-Key"))
	switch {
	case !allowed && (err != nil || key == nil):
		return asyncop.Operation{}, errSynchronous
	case err != nil:
		return asyncop.Operation{}, err
	}
	request := executor.Request{
		Document: params.Query, OperationName: &params.OperationName, Variables: params.Variables,
		IdempotencyKey: key, WaitMs: preferred.milliseconds(),
	}
	if allowed {
		return s.operations.Submit(ctx, request)
	}
	op, err := s.operations.Replay(ctx, request)
	if err != nil && !errors.Is(err, executor.ErrUnavailable) {
		err = errSynchronous // the key stands for nothing that this request was
	}
	return op, err
}

func (s *Server) answerDeferred(w http.ResponseWriter, r *http.Request, begun run, op asyncop.Operation, waited bool, mediaType string) error {
	if !waited || !op.Done() {
		return s.writeOperation(w, r, http.StatusAccepted, op)
	}
	reply, ok := begun.Ended(op)
	if !ok {
		return errPurged
	}
	s.write(w, http.StatusOK, mediaType, reply.Envelope)
	return nil
}
