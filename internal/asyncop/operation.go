package asyncop

import (
	"encoding/json"
	"log/slog"
	"time"

	"github.com/google/uuid"
)

// Operation is one accepted mutation. It is a copy of its row at one moment.
//
// Document, Variables and Result are text, byte for byte what was submitted
// and what the upstream answered; Variables and Result are nil where there are
// none. Times are UTC and come from the database's clock.
type Operation struct {
	ID    uuid.UUID // version 7
	State State
	// Revision grows with every change that a subscriber can see.
	Revision int64

	Tenant  string // "" where there is no tenancy
	Issuer  string // issuer and subject are the submitter
	Subject string

	Mutations     []string // root field names of the document
	OperationName string
	Document      string
	Variables     json.RawMessage
	Label         string
	// Idempotent: every mutation of the document is configured idempotent, so
	// an attempt whose execution is unknown may be followed by another.
	Idempotent     bool
	IdempotencyKey string
	RetryOf        *uuid.UUID

	Priority    int
	Attempts    int // attempts that may have reached the upstream
	MaxAttempts int
	Execution   Execution // the greatest over all attempts

	CancellationRequested bool
	Result                json.RawMessage // the GraphQL response envelope
	// Failure is why it FAILED or was CANCELLED; between attempts, the last
	// attempt's. Its Execution is the operation's.
	Failure    *Failure
	AttemptLog []Attempt // oldest first, the running attempt last
	Purged     bool      // Result was removed when its retention ended

	CreatedAt   time.Time
	NotBefore   time.Time
	StartBefore time.Time
	StartedAt   *time.Time // start of the latest attempt
	FinishedAt  *time.Time
}

// Done reports whether the operation is terminal: it never changes again,
// except that its result may be purged.
func (o Operation) Done() bool { return o.State.Terminal() }

// Retryable reports whether submitting the operation's mutation once more
// cannot do its work twice: it is idempotent, or it ended without having
// reached the upstream's resolvers.
func (o Operation) Retryable() bool {
	return o.Idempotent || (o.Done() && o.Execution == NotExecuted)
}

// PollAfter is how long a client should wait before it asks again, and 0 once
// the operation is done. It grows with the operation's age, from 500 ms to 10 s.
func (o Operation) PollAfter(now time.Time) time.Duration {
	const least, most = 500 * time.Millisecond, 10 * time.Second
	if o.Done() {
		return 0
	}
	since := o.CreatedAt
	if o.NotBefore.After(now) {
		return min(max(o.NotBefore.Sub(now), least), most)
	}
	if o.NotBefore.After(since) {
		since = o.NotBefore
	}
	return min(max(now.Sub(since)/4, least), most)
}

// LogValue keeps documents, variables and results out of every log line.
func (o Operation) LogValue() slog.Value {
	return slog.GroupValue(
		slog.String("id", o.ID.String()),
		slog.Any("mutations", o.Mutations),
		slog.String("state", string(o.State)),
		slog.Int("attempt", o.Attempts))
}
