package storetest

import (
	"slices"
	"time"

	"github.com/google/uuid"

	"asyncgate/internal/asyncop"
)

// model is what a store must hold, by the state machine alone: a list of
// operations, a clock and the nodes' last heartbeats. Its methods make the
// transitions; model check compares it with a store after each step.
type model struct {
	now        time.Duration // since it began
	operations []*modelled
	nodes      map[string]time.Duration // last heartbeat of those that are registered
	claims     []modelClaim             // all that were ever made
}

// modelled is one operation. Instants are on the model's clock.
type modelled struct {
	id                 uuid.UUID
	tenant, subject    string
	key                string
	fingerprint        [32]byte
	idempotent         bool
	attempts, most     int
	state              asyncop.State
	execution          asyncop.Execution
	code               asyncop.Code // of the last failure
	codeBefore         asyncop.Code // before the running attempt
	cancelling         bool
	result, purged     bool
	revision           int64
	logged             int
	notBefore, startBy time.Duration
	waits              bool // for notBefore, and no claim has looked since
	finished           time.Duration
	token              uuid.UUID
	node               string
}

// modelClaim is a claim that was made, whether it is still held or not.
type modelClaim struct {
	node string
	ref  asyncop.ClaimRef
}

func (m *model) find(id uuid.UUID) *modelled {
	for _, op := range m.operations {
		if op.id == id {
			return op
		}
	}
	return nil
}

// keyed is the operation that a submitter's key stands for.
func (m *model) keyed(s asyncop.Submission) *modelled {
	for _, op := range m.operations {
		if s.IdempotencyKey != "" && op.key == s.IdempotencyKey && op.tenant == s.Tenant && op.subject == s.Subject {
			return op
		}
	}
	return nil
}

func (op *modelled) due(now time.Duration) bool {
	return op.state == asyncop.Queued && op.notBefore <= now && op.startBy > now
}

// held is the operation that a claim still holds.
func (m *model) held(ref asyncop.ClaimRef) *modelled {
	if op := m.find(ref.ID); op != nil && op.state == asyncop.Running && op.token == ref.Token {
		return op
	}
	return nil
}

// look is what each claim does first.
func (m *model) look() {
	for _, op := range m.operations {
		op.waits = op.waits && op.notBefore > m.now
	}
}

func (m *model) claim(op *modelled, node string, token uuid.UUID) {
	op.state, op.node, op.token, op.codeBefore = asyncop.Running, node, token, op.code
	op.attempts++
	op.logged++
	op.revision++
	m.claims = append(m.claims, modelClaim{node, asyncop.ClaimRef{ID: op.id, Token: token}})
}

// leave ends an attempt. CANCELLED and FAILED are ends of the operation too.
func (m *model) leave(op *modelled, state asyncop.State, code asyncop.Code) {
	op.state, op.token, op.node = state, uuid.Nil, ""
	op.revision++
	if op.code = code; state == asyncop.Cancelled {
		op.code = asyncop.CodeCancelled
	}
	if state.Terminal() {
		op.finished = m.now
	}
}

func (m *model) finish(op *modelled, outcome asyncop.Outcome) {
	code := asyncop.Code("")
	if failure := outcome.Failure(); failure != nil {
		code = failure.Code
	}
	op.execution = max(op.execution, outcome.Execution())
	op.result = outcome.Result() != nil
	m.leave(op, outcome.State(), code)
}

func (m *model) retry(op *modelled, r asyncop.Retried) {
	op.execution = max(op.execution, r.Failure.Execution)
	next := asyncop.Queued
	switch {
	case op.cancelling:
		next = asyncop.Cancelled
	case op.attempts >= op.most && !r.Uncounted:
		next = asyncop.Failed
	}
	if r.Uncounted {
		op.attempts--
	}
	if next == asyncop.Queued {
		op.notBefore, op.waits = m.now+r.After, r.After > 0
	}
	m.leave(op, next, r.Failure.Code)
}

func (m *model) release(op *modelled) {
	op.attempts--
	op.logged--
	next := asyncop.Queued
	if op.cancelling {
		next = asyncop.Cancelled
		op.logged = max(op.logged, 0)
	}
	m.leave(op, next, op.codeBefore)
}

// recover answers what the claims of silent nodes come to.
func (m *model) recover(staleAfter time.Duration) (taken []uuid.UUID) {
	for node, last := range m.nodes {
		if m.now-last >= staleAfter {
			delete(m.nodes, node)
		}
	}
	for _, op := range m.operations {
		if _, alive := m.nodes[op.node]; op.state != asyncop.Running || alive {
			continue
		}
		op.execution = max(op.execution, asyncop.UnknownExecution)
		next := asyncop.Failed
		switch {
		case op.cancelling:
			next = asyncop.Cancelled
		case op.idempotent && op.attempts < op.most:
			next = asyncop.Queued
		}
		m.leave(op, next, asyncop.CodeOutcomeUnknown)
		taken = append(taken, op.id)
	}
	return taken
}

func (m *model) expire() (expired []uuid.UUID) {
	for _, op := range m.operations {
		if op.state == asyncop.Queued && op.startBy <= m.now {
			m.leave(op, asyncop.Failed, asyncop.CodeStartDeadlineExceeded)
			expired = append(expired, op.id)
		}
	}
	return expired
}

func (m *model) cancel(op *modelled) asyncop.CancelOutcome {
	switch {
	case op.state.Terminal():
		return asyncop.AlreadyDone
	case op.state == asyncop.Running:
		if !op.cancelling {
			op.revision++
		}
		op.cancelling = true
		return asyncop.CancelRequested
	}
	op.cancelling = true
	m.leave(op, asyncop.Cancelled, asyncop.CodeCancelled)
	return asyncop.CancelledNow
}

func (m *model) sweep(retention asyncop.Retention) (swept asyncop.Swept) {
	m.operations = slices.DeleteFunc(m.operations, func(op *modelled) bool {
		old := op.state.Terminal() && m.now-op.finished >= retention.Operation
		if old {
			swept.Deleted++
		}
		return old
	})
	for _, op := range m.operations {
		if op.result && m.now-op.finished >= retention.Result {
			op.result, op.purged = false, true
			op.revision++
			swept.Purged++
		}
	}
	return swept
}

// nextDue is how long until a row comes due or expires.
func (m *model) nextDue() (in time.Duration, ok bool) {
	for _, op := range m.operations {
		if op.state != asyncop.Queued {
			continue
		}
		next := op.startBy
		if op.waits {
			next = min(next, op.notBefore)
		}
		if !ok || next-m.now < in {
			in, ok = next-m.now, true
		}
	}
	return in, ok
}
