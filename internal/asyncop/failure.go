package asyncop

import "time"

// Code names why an operation failed or was cancelled: the values of
// AsyncError.code.
type Code string

// The codes of an attempt's failure and of an operation's end.
const (
	// CodeExecutionFailed: the upstream answered a GraphQL body with errors.
	CodeExecutionFailed Code = "EXECUTION_FAILED"
	// CodeUpstreamUnavailable: no byte of the request was written, or 429.
	CodeUpstreamUnavailable Code = "UPSTREAM_UNAVAILABLE"
	// CodeUpstreamRejected: a redirect, or a 4xx without a GraphQL body.
	CodeUpstreamRejected Code = "UPSTREAM_REJECTED"
	// CodeOutcomeUnknown: cut off after a byte was written, answered without
	// a GraphQL body, or the worker was lost.
	CodeOutcomeUnknown Code = "OUTCOME_UNKNOWN"
	// CodeTimeout: the mutation's timeout passed while the upstream worked.
	CodeTimeout Code = "TIMEOUT"
	// CodeResultTooLarge: the answer was cut at limits.result.
	CodeResultTooLarge Code = "RESULT_TOO_LARGE"
	// CodeStartDeadlineExceeded: not started before startBefore.
	CodeStartDeadlineExceeded Code = "START_DEADLINE_EXCEEDED"
	// CodeCredentialExpired: the authority of the submission is too old.
	CodeCredentialExpired Code = "CREDENTIAL_EXPIRED"
	// CodeDocumentInvalid: the document no longer fits the schema.
	CodeDocumentInvalid Code = "DOCUMENT_INVALID"
	// CodeMutationNotAllowed: no longer allowed for the submitter.
	CodeMutationNotAllowed Code = "MUTATION_NOT_ALLOWED"
	// CodeTenantUnknown: the tenant is no longer served.
	CodeTenantUnknown Code = "TENANT_UNKNOWN"
	// CodeForbidden: the identity cannot be told to the upstream.
	CodeForbidden Code = "FORBIDDEN"
	// CodeCancelled: cancelled by its submitter or an admin.
	CodeCancelled Code = "CANCELLED"
)

// Failure is why an attempt did not succeed. Message is for the submitter: it
// never holds an address, a header or another system's text.
type Failure struct {
	Code      Code
	Message   string
	Execution Execution
}

// What a submitter reads of an operation that a store ended by itself.
const (
	MessageWorkerLost    = "The worker was lost while the upstream may have been working."
	MessageStartDeadline = "The operation was not started before its start deadline."
	MessageCancelled     = "The operation was cancelled."
)

// Attempt is an entry of an operation's attempt log. FinishedAt is nil and
// Code empty while the attempt runs; Code is empty for one that succeeded.
type Attempt struct {
	StartedAt  time.Time
	FinishedAt *time.Time
	Node       string
	Code       Code
	Execution  Execution
}

// The attempt log keeps the first AttemptLogHead and the last AttemptLogTail
// entries.
const (
	AttemptLogHead = 3
	AttemptLogTail = 20
)
