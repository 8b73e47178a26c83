package executor

import (
	"errors"
	"fmt"
	"strings"

	"github.com/vektah/gqlparser/v2/gqlerror"
)

// RefusalError is why a request was not taken: a code of the schema and a sentence
// for the client. Nothing was stored and nothing sent.
type RefusalError struct {
	Code    string
	Message string
}

// Error is the message.
func (r *RefusalError) Error() string { return r.Message }

// Is makes errors.Is compare codes: errors.Is(err, &RefusalError{Code: …}).
func (r *RefusalError) Is(target error) bool {
	var other *RefusalError
	return errors.As(target, &other) && other.Code == r.Code
}

// The codes of refusals.
const (
	codeBadUserInput = "BAD_USER_INPUT"
	codeParse        = "GRAPHQL_PARSE_FAILED"
	codeValidation   = "GRAPHQL_VALIDATION_FAILED"
	codeNotAllowed   = "MUTATION_NOT_ALLOWED"
	codeKeyRequired  = "IDEMPOTENCY_KEY_REQUIRED"
)

func badInput(format string, args ...any) error {
	return &RefusalError{Code: codeBadUserInput, Message: fmt.Sprintf(format, args...)}
}

func invalid(format string, args ...any) error {
	return &RefusalError{Code: codeValidation, Message: fmt.Sprintf(format, args...)}
}

// notAllowed is one answer for a mutation that is not on the allowlist and for
// one whose role the caller lacks.
func notAllowed(mutation string) error {
	return &RefusalError{Code: codeNotAllowed, Message: fmt.Sprintf(
		"%s may not be submitted asynchronously: it is not on the allowlist, or you lack its role. See asyncMutations.", mutation)}
}

func keyRequired(mutations []string) error {
	return &RefusalError{Code: codeKeyRequired, Message: fmt.Sprintf(
		"%s may only be submitted with an idempotencyKey: make one up for each piece of work, and send it again with each repetition",
		strings.Join(mutations, ", "))}
}

// documentRefusal tells what is wrong with a stored document. Its positions
// are the document's own, so they are part of the text.
func documentRefusal(list gqlerror.List) error {
	const most = 5
	code := codeValidation
	var messages []string
	for _, e := range list {
		if e.Extensions["code"] == codeParse {
			code = codeParse
		}
		if len(messages) == most {
			messages = append(messages, fmt.Sprintf("and %d more", len(list)-most))
			break
		}
		message := e.Message
		if len(e.Locations) > 0 {
			message = fmt.Sprintf("line %d, column %d: %s", e.Locations[0].Line, e.Locations[0].Column, message)
		}
		messages = append(messages, message)
	}
	return &RefusalError{Code: code, Message: "The document was refused: " + strings.Join(messages, "; ")}
}
