package asyncop

import (
	"encoding/json"
	"time"

	"github.com/google/uuid"
)

// Submission is an admitted mutation on its way into the store. Admission has
// checked everything in it; the store checks the idempotency key alone.
type Submission struct {
	ID uuid.UUID // version 7, fresh

	Tenant  string // "" where there is no tenancy
	Issuer  string
	Subject string
	// Authority is the caller's stored security context, opaque to the store.
	// Claims only, never a token.
	Authority json.RawMessage

	Mutations     []string
	Lane          string // see Backlog; Room.Lane answers it
	OperationName string
	Document      string
	Variables     json.RawMessage // nil where there are none
	Label         string

	Idempotent     bool
	IdempotencyKey string // "" where there is none
	// Fingerprint is over document, operation name and variables: two
	// submissions with one key are the same if and only if it is equal.
	Fingerprint [32]byte

	Priority    int
	MaxAttempts int
	NotBefore   *time.Time // nil: at once
	// StartBefore is the client's own deadline; nil: StartWithin, counted
	// from the later of creation and NotBefore.
	StartBefore *time.Time
	StartWithin time.Duration

	TraceContext string // W3C traceparent of the submitting request, "" where there is none
	RetryOf      *uuid.UUID
}

// Submitted is the fate of one submission of a batch.
type Submitted struct {
	Operation Operation
	// Replayed: the idempotency key was known with the same fingerprint, and
	// Operation is the one submitted first, as it is now.
	Replayed bool
	// Err is ErrKeyReused, or what the database refused of this item, or nil.
	Err error
}
