package shape

import (
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"asyncgate/internal/asyncop"
)

// Operation is an asyncop.Operation in the shape of the schema: what is absent
// is null.
type Operation struct {
	ID                    uuid.UUID
	State                 asyncop.State
	Done                  bool
	Mutations             []string
	OperationName         *string
	Document              string
	Variables             json.RawMessage
	Label                 *string
	Attempts              int
	MaxAttempts           int
	Priority              int
	Submitter             string
	SubmitterIssuer       string
	Tenant                *string
	CancellationRequested bool
	Result                json.RawMessage
	Error                 *OperationError
	AttemptLog            []Attempt
	Purged                bool
	RetryOf               *uuid.UUID
	IdempotencyKey        *string
	PollAfterMs           *int
	CreatedAt             time.Time
	NotBefore             time.Time
	StartBefore           time.Time
	StartedAt             *time.Time
	FinishedAt            *time.Time
}

// OperationError is why an operation failed.
type OperationError struct {
	Code      string
	Message   string
	Retryable bool
	Execution asyncop.Execution
}

// Attempt is an entry of the attempt log.
type Attempt struct {
	StartedAt  time.Time
	FinishedAt *time.Time
	Node       string
	Code       *string
	Execution  asyncop.Execution
}

// Mutation is an entry of the allowlist.
type Mutation struct {
	Name        string
	Idempotent  bool
	MaxAttempts int
	TimeoutMs   int
}

// Of maps the domain's operation.
func Of(op asyncop.Operation) *Operation {
	shaped := Operation{
		ID: op.ID, State: op.State, Done: op.Done(),
		Mutations: op.Mutations, OperationName: orNull(op.OperationName),
		Document: op.Document, Variables: op.Variables, Label: orNull(op.Label),
		Attempts: op.Attempts, MaxAttempts: op.MaxAttempts, Priority: op.Priority,
		Submitter: op.Subject, SubmitterIssuer: op.Issuer, Tenant: orNull(op.Tenant),
		CancellationRequested: op.CancellationRequested,
		Result:                op.Result, Purged: op.Purged, RetryOf: op.RetryOf,
		IdempotencyKey: orNull(op.IdempotencyKey),
		CreatedAt:      op.CreatedAt, NotBefore: op.NotBefore, StartBefore: op.StartBefore,
		StartedAt: op.StartedAt, FinishedAt: op.FinishedAt,
		AttemptLog: make([]Attempt, len(op.AttemptLog)),
	}
	for i, attempt := range op.AttemptLog {
		shaped.AttemptLog[i] = Attempt{
			StartedAt: attempt.StartedAt, FinishedAt: attempt.FinishedAt,
			Node: attempt.Node, Code: orNull(string(attempt.Code)), Execution: attempt.Execution,
		}
	}
	if f := op.Failure; f != nil {
		shaped.Error = &OperationError{
			Code: string(f.Code), Message: f.Message,
			Retryable: op.Retryable(), Execution: op.Execution,
		}
	}
	if !op.Done() {
		ms := int(op.PollAfter(time.Now()).Milliseconds())
		shaped.PollAfterMs = &ms
	}
	return &shaped
}

// orNull makes the domain's "absent" the schema's.
func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
