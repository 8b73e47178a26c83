package asyncop

import (
	"encoding/json"
	"time"

	"github.com/google/uuid"
)

// Claim is the right to make one attempt, held by one node under a token that
// no one else has. It ends with Finish, Retry or Release, or when the node has
// been silent for the stale time and another node recovers it.
type Claim struct {
	// Operation is the row as claimed: RUNNING, Attempts counting this one.
	Operation    Operation
	Token        uuid.UUID
	Authority    json.RawMessage // the stored security context
	TraceContext string
}

// Ref names the claim in Heartbeat, Finish, Retry and Release.
func (c Claim) Ref() ClaimRef { return ClaimRef{ID: c.Operation.ID, Token: c.Token} }

// ClaimRef names a claim: an operation and the claim token it is held under.
type ClaimRef struct {
	ID    uuid.UUID
	Token uuid.UUID
}

// Pulse is what a heartbeat brings back for one claim.
type Pulse int8

// The three pulses.
const (
	// PulseHeld: go on.
	PulseHeld Pulse = iota
	// PulseCancel: held, and cancellation was requested.
	PulseCancel
	// PulseLost: someone else has, or had, the operation. Report no outcome.
	PulseLost
)

// Finished is the end of an operation: an outcome reported under a claim.
type Finished struct {
	Claim   ClaimRef
	Outcome Outcome
}

// Retried gives an operation back to the queue after an attempt that failed.
type Retried struct {
	Claim   ClaimRef
	Failure Failure
	// After is the backoff: the operation is due this long from now.
	After time.Duration
	// Uncounted takes the attempt back: nothing of it reached the upstream.
	Uncounted bool
}

// Settled is the fate of one Finished, Retried or released claim of a batch.
type Settled struct {
	// State is what the operation is now: after a retry or a release it is
	// QUEUED, FAILED (no attempt left) or CANCELLED (requested meanwhile).
	State State
	// Err is ErrClaimLost, or what the database refused of this item, or nil.
	Err error
}
