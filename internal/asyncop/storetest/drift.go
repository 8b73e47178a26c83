package storetest

import (
	"reflect"
	"slices"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"asyncgate/internal/asyncop"
)

// slack is for the clocks: those of a store and a test are read one after the
// other, and kept in microseconds.
const slack = 100 * time.Millisecond

// row is all of an operation that a transition can change, and what keeps it
// the same operation. Instants are on the model's clock, and a multiple of half.
type row struct {
	Tenant, Subject, Key                               string
	State                                              asyncop.State
	Revision                                           int64
	Attempts                                           int
	Execution                                          asyncop.Execution
	Failure                                            *asyncop.Failure
	Cancelling                                         bool
	Result                                             string
	Purged                                             bool
	Log                                                []modelAttempt
	Created, NotBefore, StartBefore, Started, Finished time.Duration
}

// compare holds all rows against the model.
func (c *check) compare(t *rapid.T) {
	page, err := c.Store.List(c.t.Context(), asyncop.List{Scope: everything, First: 1000})
	must(t, 0, err)
	if len(page.Operations) != len(c.model.operations) {
		c.failf(t, "%d rows, want %d", len(page.Operations), len(c.model.operations))
	}
	for _, op := range page.Operations {
		want := c.model.find(op.ID)
		if want == nil {
			c.failf(t, "%s is a row of nobody", op.ID)
		}
		c.sameRow(t, op, want)
		want.due = op.NotBefore
	}
}

// sameRow holds an operation that a store answered against the model.
func (c *check) sameRow(t *rapid.T, op asyncop.Operation, want *modelled) {
	c.same(t, op.ID.String(), c.rowOf(op), want.row())
}

func (c *check) same(t *rapid.T, what string, got, want any) {
	if reflect.DeepEqual(got, want) { // much the faster
		return
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		c.failf(t, "%s (-want +got):\n%s", what, diff)
	}
}

// rowOf is what a store holds.
func (c *check) rowOf(op asyncop.Operation) row {
	got := row{
		Tenant: op.Tenant, Subject: op.Subject, Key: op.IdempotencyKey,
		State: op.State, Revision: op.Revision, Attempts: op.Attempts, Execution: op.Execution,
		Failure: op.Failure, Cancelling: op.CancellationRequested, Result: string(op.Result), Purged: op.Purged,
		Created: c.instant(&op.CreatedAt), NotBefore: c.instant(&op.NotBefore), StartBefore: c.instant(&op.StartBefore),
		Started: c.instant(op.StartedAt), Finished: c.instant(op.FinishedAt),
	}
	for _, a := range op.AttemptLog {
		got.Log = append(got.Log, modelAttempt{a.Node, a.Code, a.Execution, c.instant(&a.StartedAt), c.instant(a.FinishedAt)})
	}
	return got
}

// instant is when something happened on the model's clock. It happened earlier
// by the real time that has passed since, so the next half is meant.
func (c *check) instant(at *time.Time) time.Duration {
	if at == nil {
		return 0
	}
	seen := c.model.now - time.Since(*at)
	return (seen - slack + half - 1) / half * half
}

// row is what a store must hold.
func (op *modelled) row() row {
	want := row{
		Tenant: op.tenant, Subject: op.subject, Key: op.key,
		State: op.state, Revision: op.revision, Attempts: op.attempts, Execution: op.execution,
		Cancelling: op.cancelling, Result: op.result, Purged: op.purged, Log: op.keptLog(),
		Created: op.created, NotBefore: op.notBefore, StartBefore: op.startBy, Finished: op.finished,
	}
	if op.failure != nil && op.state != asyncop.Running {
		want.Failure = &asyncop.Failure{Code: op.failure.Code, Message: op.failure.Message, Execution: op.execution}
	}
	if n := len(op.log); n > 0 {
		want.Started = op.log[n-1].Started
	}
	return want
}

// keptLog is the first and the last entries of the log.
func (op *modelled) keptLog() []modelAttempt {
	if over := len(op.log) - asyncop.AttemptLogHead - asyncop.AttemptLogTail; over > 0 {
		return slices.Delete(slices.Clone(op.log), asyncop.AttemptLogHead, asyncop.AttemptLogHead+over)
	}
	if len(op.log) == 0 {
		return nil
	}
	return op.log
}
