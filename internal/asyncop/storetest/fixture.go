package storetest

import (
	"crypto/sha256"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"asyncgate/internal/asyncop"
)

const (
	tenant  = "acme"
	issuer  = "https://id.example/"
	subject = "ada"
	node    = "node-1"

	// patience bounds every wait. Reaching it fails the rule.
	patience = 20 * time.Second
)

var (
	ada        = asyncop.SubmitterScope(tenant, issuer, subject)
	everything = asyncop.EverythingScope()

	unknown  = asyncop.Failure{Code: asyncop.CodeOutcomeUnknown, Message: "It is unknown.", Execution: asyncop.UnknownExecution}
	unsent   = asyncop.Failure{Code: asyncop.CodeUpstreamUnavailable, Message: "Nothing was sent.", Execution: asyncop.NotExecuted}
	envelope = json.RawMessage(`{"data":{"generateReport":{"id":"1"}}}`)
)

// fixture is a fresh store and the waker that it tells. Its methods fail the
// test where the store fails.
type fixture struct {
	store asyncop.Store
	wakes *wakes
}

// submission is one that every store accepts, changed by edits.
func submission(edits ...func(*asyncop.Submission)) asyncop.Submission {
	document := "mutation { generateReport { id } }"
	s := asyncop.Submission{
		ID:     uuid.Must(uuid.NewV7()),
		Tenant: tenant, Issuer: issuer, Subject: subject,
		Authority:   json.RawMessage(`{"sub":"ada"}`),
		Mutations:   []string{"generateReport"},
		Document:    document,
		Fingerprint: sha256.Sum256([]byte(document)),
		Priority:    4, MaxAttempts: 3,
		StartWithin: time.Hour,
	}
	for _, edit := range edits {
		edit(&s)
	}
	return s
}

func (f fixture) submitAll(t *testing.T, batch ...asyncop.Submission) []asyncop.Submitted {
	t.Helper()
	submitted, err := f.store.Submit(t.Context(), batch)
	if err != nil {
		t.Fatalf("submit: %v", err)
	}
	if len(submitted) != len(batch) {
		t.Fatalf("%d answers to %d submissions", len(submitted), len(batch))
	}
	return submitted
}

func (f fixture) submit(t *testing.T, edits ...func(*asyncop.Submission)) asyncop.Operation {
	t.Helper()
	submitted := f.submitAll(t, submission(edits...))[0]
	if submitted.Err != nil {
		t.Fatalf("submit: %v", submitted.Err)
	}
	return submitted.Operation
}

func (f fixture) get(t *testing.T, id uuid.UUID) asyncop.Operation {
	t.Helper()
	op, err := f.store.Get(t.Context(), everything, id)
	if err != nil {
		t.Fatalf("get %s: %v", id, err)
	}
	return op
}

func (f fixture) beat(t *testing.T, node string, claims ...asyncop.ClaimRef) []asyncop.Pulse {
	t.Helper()
	pulses, err := f.store.Heartbeat(t.Context(), node, claims)
	if err != nil {
		t.Fatalf("heartbeat: %v", err)
	}
	if len(pulses) != len(claims) {
		t.Fatalf("%d pulses for %d claims", len(pulses), len(claims))
	}
	return pulses
}

// claim claims as a node that has just sent a heartbeat.
func (f fixture) claim(t *testing.T, node string, limit int) []asyncop.Claim {
	t.Helper()
	f.beat(t, node)
	return f.claimed(t, asyncop.Intake{Node: node, Limit: limit, Look: true}).Claims
}

func (f fixture) claimed(t *testing.T, intake asyncop.Intake) asyncop.Claimed {
	t.Helper()
	claimed, err := f.store.Claim(t.Context(), intake)
	if err != nil {
		t.Fatalf("claim: %v", err)
	}
	return claimed
}

// claimOne claims the only due operation.
func (f fixture) claimOne(t *testing.T) asyncop.Claim {
	t.Helper()
	claims := f.claim(t, node, 2)
	if len(claims) != 1 {
		t.Fatalf("%d claims, want 1", len(claims))
	}
	return claims[0]
}

// submitAndClaim makes a RUNNING operation.
func (f fixture) submitAndClaim(t *testing.T, edits ...func(*asyncop.Submission)) asyncop.Claim {
	t.Helper()
	f.submit(t, edits...)
	return f.claimOne(t)
}

func (f fixture) finish(t *testing.T, claim asyncop.Claim, outcome asyncop.Outcome) asyncop.Settled {
	t.Helper()
	settled, err := f.store.Finish(t.Context(), []asyncop.Finished{{Claim: claim.Ref(), Outcome: outcome}})
	return one(t, settled, err)
}

// retry gives the claim back, due at once.
func (f fixture) retry(t *testing.T, claim asyncop.Claim, failure asyncop.Failure, edits ...func(*asyncop.Retried)) asyncop.Settled {
	t.Helper()
	retried := asyncop.Retried{Claim: claim.Ref(), Failure: failure}
	for _, edit := range edits {
		edit(&retried)
	}
	settled, err := f.store.Retry(t.Context(), []asyncop.Retried{retried})
	return one(t, settled, err)
}

func (f fixture) release(t *testing.T, claim asyncop.Claim) asyncop.Settled {
	t.Helper()
	settled, err := f.store.Release(t.Context(), []asyncop.ClaimRef{claim.Ref()})
	return one(t, settled, err)
}

func (f fixture) cancel(t *testing.T, id uuid.UUID) asyncop.Cancellation {
	t.Helper()
	cancellation, err := f.store.Cancel(t.Context(), ada, id)
	if err != nil {
		t.Fatalf("cancel: %v", err)
	}
	return cancellation
}

// recover takes the claims of every node, since all have been silent for a
// microsecond by now, and waits until id is among them.
func (f fixture) recover(t *testing.T, id uuid.UUID) asyncop.Operation {
	t.Helper()
	eventually(t, "recovered", func() bool {
		taken, err := f.store.Recover(t.Context(), time.Microsecond)
		if err != nil {
			t.Fatalf("recover: %v", err)
		}
		return slices.Contains(taken, id)
	})
	return f.get(t, id)
}

func one(t *testing.T, settled []asyncop.Settled, err error) asyncop.Settled {
	t.Helper()
	if err != nil {
		t.Fatalf("settle: %v", err)
	}
	if len(settled) != 1 {
		t.Fatalf("%d fates of 1 claim", len(settled))
	}
	return settled[0]
}

func uncounted(r *asyncop.Retried)     { r.Uncounted = true }
func idempotent(s *asyncop.Submission) { s.Idempotent = true }
func singleShot(s *asyncop.Submission) { s.MaxAttempts = 1 }
func overdue(s *asyncop.Submission)    { s.StartBefore = at(-time.Minute) }
func notYet(s *asyncop.Submission)     { s.NotBefore = at(time.Hour) }
func hundredTry(s *asyncop.Submission) { s.MaxAttempts = 100 }
func keyed(s *asyncop.Submission)      { s.IdempotencyKey = "key-1" }
func ofGrace(s *asyncop.Submission)    { s.Subject = "grace" }
func ofGlobex(s *asyncop.Submission)   { s.Tenant = "globex" }
func ofOtherIDP(s *asyncop.Submission) { s.Issuer = "https://other.example/" }
func otherPrint(s *asyncop.Submission) { s.Fingerprint = sha256.Sum256([]byte("another")) }
func priority(p int) func(*asyncop.Submission) {
	return func(s *asyncop.Submission) { s.Priority = p }
}

// at is an instant relative to now, in the precision that stores keep.
func at(d time.Duration) *time.Time {
	instant := time.Now().UTC().Add(d).Truncate(time.Microsecond)
	return &instant
}

// eventually polls until done, and fails the test when patience is over.
func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-tick.C:
		case <-deadline.C:
			t.Fatalf("not %s within %s", what, patience)
		}
	}
}
