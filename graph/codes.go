package graph

import (
	"context"
	"errors"
	"log/slog"
	"runtime/debug"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"asyncgate/graph/shape"
	"asyncgate/internal/asyncop"
	"asyncgate/internal/auth"
	"asyncgate/internal/executor"
)

// The codes that the server gives by name.
const (
	CodeUnauthenticated = "UNAUTHENTICATED"
	CodeBadUserInput    = "BAD_USER_INPUT"
	CodePayloadTooLarge = "PAYLOAD_TOO_LARGE"
	CodeInternal        = "INTERNAL"
)

// codes is the one table from an error to the code and the sentence that a
// client reads. What is not in it is INTERNAL, told in two words and logged in
// full.
var codes = []struct {
	err     error
	code    string
	message string
}{
	{auth.ErrUnauthenticated, CodeUnauthenticated, "Send a valid token as Authorization: Bearer."},
	{auth.ErrForbidden, "FORBIDDEN", "Your roles do not allow this."},
	{auth.ErrTenantUnknown, "TENANT_UNKNOWN", "The token names no tenant that this gateway serves."},
	{executor.ErrTenantUnknown, "TENANT_UNKNOWN", "The token names no tenant that this gateway serves."},
	{executor.ErrUnavailable, "UNAVAILABLE", "This cannot be served at the moment. Try again shortly."},
	{executor.ErrWaitTimeout, "WAIT_TIMEOUT", "The operation is not done yet. Ask again, or wait longer."},
	{asyncop.ErrNotFound, "NOT_FOUND", "There is no such operation."},
	{asyncop.ErrKeyReused, "IDEMPOTENCY_KEY_REUSED", "This idempotency key was used before, for a different document, operation name or variables."},
	{asyncop.ErrBadCursor, CodeBadUserInput, "after is not a cursor of this list."},
}

// Explain answers the code and the sentence for an error. internal is true for
// what is not meant for clients.
func Explain(err error) (code, message string, internal bool) {
	var refusal *executor.RefusalError
	if errors.As(err, &refusal) {
		return refusal.Code, refusal.Message, false
	}
	var input shape.BadInputError
	if errors.As(err, &input) {
		return CodeBadUserInput, input.Error(), false
	}
	for _, known := range codes {
		if !errors.Is(err, known.err) {
			continue
		}
		if reason, ok := reasonOf(err, auth.ErrUnauthenticated); ok {
			return known.code, known.message + " This one was refused: " + reason + ".", false
		}
		return known.code, known.message, false
	}
	return CodeInternal, "Something went wrong in the gateway.", true
}

// reasonOf is what an error says beyond the sentinel that it wraps first. Only
// for those of package auth, whose texts are for the caller.
func reasonOf(err, sentinel error) (string, bool) {
	return strings.CutPrefix(err.Error(), sentinel.Error()+": ")
}

// Code answers the code for an error.
func Code(err error) string {
	code, _, _ := Explain(err)
	return code
}

// Presenter makes the errors that clients read in responses.
func Presenter(log *slog.Logger) graphql.ErrorPresenterFunc {
	return func(ctx context.Context, err error) *gqlerror.Error {
		var located *gqlerror.Error
		if !errors.As(err, &located) {
			located = gqlerror.Wrap(err)
		}
		if cause := located.Unwrap(); cause == nil {
			return ours(located) // gqlgen's own: parsing, validation, null in a non-null field
		}
		code, message, internal := Explain(err)
		if internal && argumentFailed(ctx) {
			code, message, internal = CodeBadUserInput, located.Message, false
		}
		presented := &gqlerror.Error{
			Message: message, Path: located.Path, Locations: located.Locations,
			Extensions: map[string]any{"code": code},
		}
		switch {
		case internal && ctx.Err() == nil:
			presented.Message = InternalMessage(ctx)
			log.ErrorContext(ctx, "resolver failed", "request_id", RequestID(ctx), "error", err)
		case errors.Is(err, executor.ErrUnavailable):
			log.WarnContext(ctx, "unavailable", "request_id", RequestID(ctx), "error", err)
		}
		return presented
	}
}

// argumentFailed reports whether the current field could not read its
// arguments: gqlgen sets them before it calls the resolver.
func argumentFailed(ctx context.Context) bool {
	field := graphql.GetFieldContext(ctx)
	return field != nil && field.Field.Field != nil && field.Field.Definition != nil &&
		len(field.Field.Definition.Arguments) > 0 && field.Args == nil
}

// ours gives a code to an error of gqlgen's that has none: a value that did
// not fit an argument.
func ours(err *gqlerror.Error) *gqlerror.Error {
	if _, ok := err.Extensions["code"]; !ok {
		err.Extensions = map[string]any{"code": CodeBadUserInput}
	}
	return err
}

// Recover makes a resolver's panic INTERNAL, and logs it.
func Recover(log *slog.Logger) graphql.RecoverFunc {
	return func(ctx context.Context, fault any) error {
		log.ErrorContext(ctx, "resolver panicked", "request_id", RequestID(ctx), "stack", string(debug.Stack()))
		return errPanicked
	}
}

var errPanicked = errors.New("a resolver panicked")
