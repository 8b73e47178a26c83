package asyncop

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
)

var (
	// ErrNotFound: there is no such operation within the scope. A stranger's
	// operation reads the same as none.
	ErrNotFound = errors.New("operation not found")
	// ErrKeyReused: the submitter used this idempotency key before, for a
	// different document, operation name or variables.
	ErrKeyReused = errors.New("idempotency key reused for a different submission")
	// ErrClaimLost: the claim went stale and someone else has, or had, the
	// operation. The holder must stop and must not report an outcome.
	ErrClaimLost = errors.New("claim lost")
	// ErrBadCursor: the text is no cursor that this gateway wrote.
	ErrBadCursor = errors.New("malformed cursor")
	// ErrSchemaOld: the database's schema is older, or newer, than this
	// program's, and migrating was not asked for.
	ErrSchemaOld = errors.New("database schema is not this version's")
)

// Store keeps operations. Every method is one atomic step per row, safe for
// concurrent use, and durable when it returns nil. Batches are answered in
// order, one answer an item, and one item's conflict fails no other; an error
// of the method itself means that the database could not be asked, and that
// the batch may or may not have been applied. After each change the store
// tells its Waker. Package storetest is the contract.
type Store interface {
	// Submit makes each submission a QUEUED row, unless its idempotency key
	// is taken: see Submitted. Keys are unique over (tenant, issuer, subject,
	// key), among concurrent submissions and within one batch too.
	Submit(ctx context.Context, batch []Submission) ([]Submitted, error)

	// Replay answers the operation that a submitter's idempotency key stands
	// for, as it is now. Errors: ErrNotFound (the key is free), ErrKeyReused.
	Replay(ctx context.Context, submitter Scope, key string, fingerprint [32]byte) (Operation, error)

	// Get answers one operation within the scope. Errors: ErrNotFound.
	Get(ctx context.Context, scope Scope, id uuid.UUID) (Operation, error)

	// List answers a page of the operations within the scope.
	List(ctx context.Context, list List) (Page, error)

	// Revisions answers the revisions of the operations that exist among ids.
	Revisions(ctx context.Context, ids []uuid.UUID) (map[uuid.UUID]int64, error)

	// Claim moves due rows from QUEUED to RUNNING, each under a fresh claim
	// token held by the node, and counts the attempt. Due: notBefore has come
	// and startBefore has not. Tenants take turns, and within one its
	// submitters, however deep their backlogs; a submitter's own go by
	// priority, notBefore, id. The bounds of a tenant's Room hold over all
	// nodes together. The node must have sent a heartbeat and not have been
	// recovered since; else nothing is claimed. Two claims never share a row.
	// What a claim took whose answer was lost, the store gives back uncounted
	// at the node's next one.
	Claim(ctx context.Context, intake Intake) (Claimed, error)

	// Heartbeat proves that node lives, and with it all its claims, and
	// answers a Pulse for each claim, in order. One lost claim fails no other.
	Heartbeat(ctx context.Context, node string, claims []ClaimRef) ([]Pulse, error)

	// Finish ends operations: RUNNING under that claim token → the outcome's
	// state. Fates: ErrClaimLost.
	Finish(ctx context.Context, batch []Finished) ([]Settled, error)

	// Retry gives operations back: RUNNING under that claim token → QUEUED,
	// due after the backoff. Cancellation requested meanwhile → CANCELLED. No
	// attempt left (a counted one that reached maxAttempts) → FAILED with the
	// failure. Fates: ErrClaimLost.
	Retry(ctx context.Context, batch []Retried) ([]Settled, error)

	// Release gives back claims of which nothing was sent, as though they had
	// never been claimed: the attempt is not counted and not logged.
	// Cancellation requested meanwhile → CANCELLED. Fates: ErrClaimLost.
	Release(ctx context.Context, claims []ClaimRef) ([]Settled, error)

	// Recover takes the claims of every node silent for staleAfter:
	// cancellation requested → CANCELLED; idempotent with attempts left →
	// QUEUED; otherwise FAILED, OUTCOME_UNKNOWN. It answers the operations
	// that it took. It checks the silence in the statement that takes.
	Recover(ctx context.Context, staleAfter time.Duration) ([]uuid.UUID, error)

	// Expire ends up to limit QUEUED rows whose startBefore has passed:
	// FAILED, START_DEADLINE_EXCEEDED. It answers their ids.
	Expire(ctx context.Context, limit int) ([]uuid.UUID, error)

	// Cancel ends a QUEUED operation at once and asks for the cancellation of
	// a RUNNING one. Errors: ErrNotFound.
	Cancel(ctx context.Context, scope Scope, id uuid.UUID) (Cancellation, error)

	// NextDue answers how long until the earliest QUEUED row that is not due
	// yet comes due, or one expires, by the database's clock; ok is false
	// where there is none. What is due already does not count.
	NextDue(ctx context.Context) (in time.Duration, ok bool, err error)

	// Sweep purges results and deletes operations whose retention, counted
	// from their end, is over, up to limit of each.
	Sweep(ctx context.Context, retention Retention, limit int) (Swept, error)

	// Ping answers nil while the store can be used.
	Ping(ctx context.Context) error
}

// CancelOutcome is what a cancellation did.
type CancelOutcome string

// The three outcomes of a cancellation.
const (
	// CancelledNow: it was QUEUED, and the upstream sees nothing more of it.
	CancelledNow CancelOutcome = "CANCELLED"
	// CancelRequested: it is RUNNING; no further attempt is made, and the true
	// outcome of the running one stands.
	CancelRequested CancelOutcome = "CANCEL_REQUESTED"
	// AlreadyDone: it had ended before.
	AlreadyDone CancelOutcome = "ALREADY_DONE"
)

// Cancellation is the answer to Cancel: what it did, and the operation after it.
type Cancellation struct {
	Outcome   CancelOutcome
	Operation Operation
}

// Retention is how long ended operations are kept, counted from their end.
type Retention struct {
	Result    time.Duration // then the result is purged
	Operation time.Duration // then the row, its key and its log are deleted
}

// Swept counts what a sweep did.
type Swept struct {
	Purged  int
	Deleted int
}

// Waker is told of changes. A wake is a hint: it carries ids only, it may be
// lost or repeated, and no method blocks.
type Waker interface {
	// Due: there may be a row to claim.
	Due()
	// Changed: these operations changed in a way that a subscriber can see.
	Changed(ids ...uuid.UUID)
	// Missed: wakes may have been lost, look again at everything.
	Missed()
}

// Wakers tells several.
type Wakers []Waker

// Due tells all.
func (w Wakers) Due() {
	for _, waker := range w {
		waker.Due()
	}
}

// Changed tells all.
func (w Wakers) Changed(ids ...uuid.UUID) {
	for _, waker := range w {
		waker.Changed(ids...)
	}
}

// Missed tells all.
func (w Wakers) Missed() {
	for _, waker := range w {
		waker.Missed()
	}
}
