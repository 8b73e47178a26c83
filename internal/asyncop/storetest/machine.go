package storetest

import (
	"cmp"
	"fmt"
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
	names      []string                 // of what was ever made, each after its id
}

// add adds an operation, and names it after its place.
func (m *model) add(op *modelled) {
	op.name = fmt.Sprintf("operation-%d", len(m.names)/2)
	m.names = append(m.names, op.id.String(), op.name)
	m.operations = append(m.operations, op)
}

// modelled is one operation. Instants are on the model's clock.
type modelled struct {
	name            string
	id              uuid.UUID
	tenant, subject string
	key             string
	fingerprint     [32]byte
	idempotent      bool
	bounded         bool // it names the mutation that rooms bound
	priority        int
	attempts, most  int

	state      asyncop.State
	execution  asyncop.Execution
	failure    *asyncop.Failure // the last; hidden while it runs
	cancelling bool
	result     string
	purged     bool
	revision   int64
	log        []modelAttempt // whole; the running attempt last

	created, notBefore, startBy, finished time.Duration
	// waits for notBefore, and no claim has looked since.
	waits bool
	// due is notBefore as the store has it, for the order of claims alone:
	// what the model holds equal came some microseconds apart.
	due time.Time

	token uuid.UUID
	node  string
}

// modelAttempt is an entry of an attempt log. Finished is 0 while it runs.
type modelAttempt struct {
	Node              string
	Code              asyncop.Code
	Execution         asyncop.Execution
	Started, Finished time.Duration
}

// GoString is how a draw is printed.
func (op *modelled) GoString() string { return op.name }

// modelClaim is a claim that was made, whether it is still held or not.
type modelClaim struct {
	op   *modelled
	node string
	ref  asyncop.ClaimRef
	made time.Duration
}

// GoString is how a draw is printed.
func (c modelClaim) GoString() string {
	return fmt.Sprintf("of %s by %s at %s", c.op.name, c.node, c.made)
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

// due answers what may be claimed now, as far as the operations go.
func (m *model) due() (due []*modelled) {
	for _, op := range m.operations {
		if op.state == asyncop.Queued && op.notBefore <= m.now && op.startBy > m.now {
			due = append(due, op)
		}
	}
	return due
}

// running counts what runs of a tenant, and how much of it is bounded.
func (m *model) running(tenant string) (all, bounded int) {
	for _, op := range m.operations {
		if op.tenant != tenant || op.state != asyncop.Running {
			continue
		}
		if all++; op.bounded {
			bounded++
		}
	}
	return all, bounded
}

// before reports whether op is claimed before another of its submitter.
func (op *modelled) before(other *modelled) bool {
	return cmp.Or(
		cmp.Compare(other.priority, op.priority), op.due.Compare(other.due), slices.Compare(op.id[:], other.id[:])) < 0
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
	op.state, op.node, op.token = asyncop.Running, node, token
	op.attempts++
	op.log = append(op.log, modelAttempt{Node: node, Started: m.now})
	op.revision++
	m.claims = append(m.claims, modelClaim{op, node, asyncop.ClaimRef{ID: op.id, Token: token}, m.now})
}

// attempted ends the running attempt. The operation's execution never falls.
func (m *model) attempted(op *modelled, code asyncop.Code, execution asyncop.Execution) {
	last := &op.log[len(op.log)-1]
	last.Code, last.Execution, last.Finished = code, execution, m.now
	op.execution = max(op.execution, execution)
}

// become moves an operation on from QUEUED or RUNNING. One that is CANCELLED
// has no other failure.
func (m *model) become(op *modelled, state asyncop.State, failure *asyncop.Failure) {
	op.state, op.token, op.node, op.failure = state, uuid.Nil, "", failure
	op.revision++
	if state == asyncop.Cancelled {
		op.failure = &asyncop.Failure{Code: asyncop.CodeCancelled, Message: asyncop.MessageCancelled}
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
	m.attempted(op, code, outcome.Execution())
	op.result = string(outcome.Result())
	m.become(op, outcome.State(), outcome.Failure())
}

func (m *model) retry(op *modelled, r asyncop.Retried) {
	m.attempted(op, r.Failure.Code, r.Failure.Execution)
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
	m.become(op, next, &r.Failure)
}

func (m *model) release(op *modelled) {
	op.attempts--
	op.log = op.log[:len(op.log)-1]
	next := asyncop.Queued
	if op.cancelling {
		next = asyncop.Cancelled
	}
	m.become(op, next, op.failure)
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
		m.attempted(op, asyncop.CodeOutcomeUnknown, asyncop.UnknownExecution)
		next := asyncop.Failed
		switch {
		case op.cancelling:
			next = asyncop.Cancelled
		case op.idempotent && op.attempts < op.most:
			next = asyncop.Queued
		}
		m.become(op, next, &asyncop.Failure{Code: asyncop.CodeOutcomeUnknown, Message: asyncop.MessageWorkerLost})
		taken = append(taken, op.id)
	}
	return taken
}

// overdue answers what must expire now.
func (m *model) overdue() (overdue []*modelled) {
	for _, op := range m.operations {
		if op.state == asyncop.Queued && op.startBy <= m.now {
			overdue = append(overdue, op)
		}
	}
	return overdue
}

func (m *model) expire(op *modelled) {
	m.become(op, asyncop.Failed, &asyncop.Failure{Code: asyncop.CodeStartDeadlineExceeded, Message: asyncop.MessageStartDeadline})
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
	m.become(op, asyncop.Cancelled, nil)
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
		if op.result != "" && m.now-op.finished >= retention.Result {
			op.result, op.purged = "", true
			op.revision++
			swept.Purged++
		}
	}
	return swept
}

// nextScheduled is how long until a row comes due that no claim has made due.
func (m *model) nextScheduled() (in time.Duration, ok bool) {
	for _, op := range m.operations {
		if op.state == asyncop.Queued && op.waits && (!ok || op.notBefore-m.now < in) {
			in, ok = op.notBefore-m.now, true
		}
	}
	return in, ok
}

// nextDue is how long until a row comes due or expires.
func (m *model) nextDue() (in time.Duration, ok bool) {
	in, ok = m.nextScheduled()
	for _, op := range m.operations {
		if op.state == asyncop.Queued && (!ok || op.startBy-m.now < in) {
			in, ok = op.startBy-m.now, true
		}
	}
	return in, ok
}
