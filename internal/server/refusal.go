package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"

	"asyncgate/graph"
	"asyncgate/internal/executor"
	"asyncgate/internal/executor/raw"
)

// The codes that are given here, beside those of package graph.
const (
	codeForbidden     = "FORBIDDEN"
	codeKeyReused     = "IDEMPOTENCY_KEY_REUSED"
	codeNotFound      = "NOT_FOUND"
	codeQuotaExceeded = "QUOTA_EXCEEDED"
	codeTenantUnknown = "TENANT_UNKNOWN"
	codeUnavailable   = "UNAVAILABLE"
)

// retryAfterSeconds is what a client is told to wait when something is away.
const retryAfterSeconds = "5"

// refusal is a request that ends before it is executed: an HTTP status, and a
// code and a message for the client.
type refusal struct {
	status  int
	code    string
	message string
	allow   string // the Allow header of a 405
	// extensions are further ones of the error: see errorReply.
	extensions []string
}

func (f *refusal) Error() string { return f.code + ": " + f.message }

func badRequest(message string) *refusal {
	return &refusal{status: http.StatusBadRequest, code: graph.CodeBadUserInput, message: message}
}

func methodNotAllowed(allow string) *refusal {
	return &refusal{
		status: http.StatusMethodNotAllowed, code: graph.CodeBadUserInput,
		message: "This method is not served here. Use one of " + allow + ".", allow: allow,
	}
}

// statuses are those of the codes for which 400 is not the status.
var statuses = map[string]int{
	graph.CodeUnauthenticated: http.StatusUnauthorized,
	codeForbidden:             http.StatusForbidden,
	codeTenantUnknown:         http.StatusForbidden,
	codeNotFound:              http.StatusNotFound,
	codeKeyReused:             http.StatusUnprocessableEntity,
	graph.CodePayloadTooLarge: http.StatusRequestEntityTooLarge,
	codeQuotaExceeded:         http.StatusTooManyRequests,
	codeUnavailable:           http.StatusServiceUnavailable,
}

// refusalOf makes a refusal of any error. What is not meant for clients is
// logged here, and the client is told the request's id.
func (s *Server) refusalOf(ctx context.Context, err error) *refusal {
	if f, ok := errors.AsType[*refusal](err); ok {
		return f
	}
	code, message, internal := graph.Explain(err)
	status, ok := statuses[code]
	switch {
	case internal:
		if ctx.Err() == nil { // else the client is gone, and that is all
			s.logger.LogAttrs(ctx, slog.LevelError, "request failed",
				slog.String("request_id", graph.RequestID(ctx)), slog.Any("error", err))
		}
		status, message = http.StatusInternalServerError, graph.InternalMessage(ctx)
	case !ok:
		status = http.StatusBadRequest
	}
	return &refusal{status: status, code: code, message: message}
}

// refuse answers a request that was not executed.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, mediaType string, err error) {
	f := s.refusalOf(r.Context(), err)
	header := w.Header()
	switch {
	case errors.Is(err, errNoToken):
		header.Set("WWW-Authenticate", "Bearer")
	case f.status == http.StatusUnauthorized:
		header.Set("WWW-Authenticate", `Bearer error="invalid_token"`)
	case f.status == http.StatusServiceUnavailable:
		header.Set("Retry-After", retryAfterSeconds)
	case f.allow != "":
		header.Set("Allow", f.allow)
	}
	s.write(w, f.status, mediaType, errorReply(f.code, f.message, f.extensions...).Envelope)
}

// errorReply is the reply with one error and no data. Extensions are further
// members of the error's extensions, as JSON text: `"name":value`.
func errorReply(code, message string, extensions ...string) executor.Reply {
	var list bytes.Buffer
	list.WriteString(`[{"message":`)
	list.Write(raw.Quote(message))
	list.WriteString(`,"extensions":{"code":`)
	list.Write(raw.Quote(code))
	for _, extension := range extensions {
		list.WriteByte(',')
		list.WriteString(extension)
	}
	list.WriteString(`}}]`)
	return executor.Reply{
		Envelope: fmt.Appendf(nil, `{"errors":%s}`, list.Bytes()),
		Errors:   list.Bytes(),
	}
}
