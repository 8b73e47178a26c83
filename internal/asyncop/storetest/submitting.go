package storetest

import (
	"crypto/sha256"
	"errors"
	"slices"
	"time"

	"pgregory.net/rapid"

	"asyncgate/internal/asyncop"
)

// bounded is the mutation that rooms bound.
const bounded = "importCatalog"

var (
	modelSubjects = rapid.SampledFrom([]string{"ada", "grace"})
	modelKeys     = rapid.SampledFrom([]string{"", "", "k"})
	modelPrints   = rapid.SampledFrom([]string{"a", "b"})
)

// beyond draws an instant between two ticks, from the next on.
func beyond(t *rapid.T, name string, most int) time.Duration {
	return time.Duration(rapid.IntRange(1, most).Draw(t, name))*tick - half
}

func (c *check) drawSubmission(t *rapid.T) (asyncop.Submission, *modelled) {
	s := submission(of(rapid.SampledFrom(c.tenants).Draw(t, "tenant"), modelSubjects.Draw(t, "subject")))
	s.IdempotencyKey = modelKeys.Draw(t, "key")
	s.Fingerprint = sha256.Sum256([]byte(modelPrints.Draw(t, "fingerprint")))
	s.Idempotent = rapid.Bool().Draw(t, "idempotent")
	s.MaxAttempts = rapid.SampledFrom([]int{1, 2, 3, 3}).Draw(t, "max attempts")
	s.Priority = rapid.IntRange(0, 2).Draw(t, "priority")
	op := &modelled{
		id: s.ID, tenant: s.Tenant, subject: s.Subject, key: s.IdempotencyKey, fingerprint: s.Fingerprint,
		idempotent: s.Idempotent, most: s.MaxAttempts, priority: s.Priority,
		state: asyncop.Queued, revision: 1, created: c.model.now, notBefore: c.model.now,
	}
	if op.bounded = rapid.IntRange(0, 2).Draw(t, "bounded") == 0; op.bounded {
		doing(bounded, "generateReport", bounded)(&s)
	}
	c.drawSchedule(t, &s, op)
	return s, op
}

// drawSchedule draws when it may start, and by when it must.
func (c *check) drawSchedule(t *rapid.T, s *asyncop.Submission, op *modelled) {
	if rapid.IntRange(0, 3).Draw(t, "scheduled") == 0 {
		in := beyond(t, "not before", 3)
		s.NotBefore, op.notBefore, op.waits = at(in), c.model.now+in, true
	}
	s.StartWithin = 1000 * tick
	if rapid.IntRange(0, 2).Draw(t, "in a hurry") == 0 {
		s.StartWithin = time.Duration(rapid.IntRange(1, 6).Draw(t, "start within")) * tick
		if s.NotBefore == nil {
			s.StartWithin -= half
		}
	}
	op.startBy = op.notBefore + s.StartWithin
	if rapid.IntRange(0, 3).Draw(t, "deadline of its own") == 0 {
		in := beyond(t, "start before", 6)
		s.StartBefore, op.startBy = at(in), c.model.now+in
	}
}

func (c *check) submit(t *rapid.T) {
	var batch []asyncop.Submission
	var fresh []*modelled
	for range rapid.IntRange(1, 3).Draw(t, "submissions") {
		s, op := c.drawSubmission(t)
		batch, fresh = append(batch, s), append(fresh, op)
	}
	submitted, err := c.Store.Submit(c.t.Context(), batch)
	must(t, 0, err)
	for i, got := range submitted {
		holder := c.model.keyed(batch[i])
		// Which of two in one batch comes first is the store's affair.
		if other := slices.IndexFunc(batch, func(s asyncop.Submission) bool { return s.ID == got.Operation.ID }); holder == nil && other > i {
			holder = fresh[other]
			c.model.add(holder)
		}
		if holder == nil {
			holder = fresh[i]
			c.model.add(holder)
		}
		c.submitted(t, batch[i], got, holder)
	}
}

// submitted compares the fate of a submission whose place holder has.
func (c *check) submitted(t *rapid.T, s asyncop.Submission, got asyncop.Submitted, holder *modelled) {
	if holder.fingerprint != s.Fingerprint {
		if !errors.Is(got.Err, asyncop.ErrKeyReused) {
			c.failf(t, "a key that was used for something else: %s, %v", got.Operation.ID, got.Err)
		}
		return
	}
	if replayed := holder.id != s.ID; got.Err != nil || got.Replayed != replayed || got.Operation.ID != holder.id {
		c.failf(t, "submitted %s: %s, replayed %v, %v; want %s, replayed %v",
			s.ID, got.Operation.ID, got.Replayed, got.Err, holder.id, replayed)
	}
	c.sameRow(t, got.Operation, holder)
}

func (c *check) replay(t *rapid.T) {
	s, _ := c.drawSubmission(t)
	op, err := c.Store.Replay(c.t.Context(), asyncop.SubmitterScope(s.Tenant, s.Issuer, s.Subject), s.IdempotencyKey, s.Fingerprint)
	holder := c.model.keyed(s)
	switch {
	case holder == nil:
		if !errors.Is(err, asyncop.ErrNotFound) {
			c.failf(t, "a free key: %v", err)
		}
	case holder.fingerprint != s.Fingerprint:
		if !errors.Is(err, asyncop.ErrKeyReused) {
			c.failf(t, "a key that was used for something else: %v", err)
		}
	case err != nil || op.ID != holder.id:
		c.failf(t, "the key stands for %s, %v, want %s", op.ID, err, holder.id)
	default:
		c.sameRow(t, op, holder)
	}
}

// drawScope draws a scope, of an operation or of a stranger to it, and answers
// whether it reaches the operation.
func (c *check) drawScope(t *rapid.T, op *modelled) (asyncop.Scope, bool) {
	tenant := rapid.SampledFrom(append(c.tenants, op.tenant)).Draw(t, "caller's tenant")
	subject := rapid.SampledFrom([]string{"ada", "grace", op.subject, op.subject}).Draw(t, "caller")
	inTenant := tenant == op.tenant
	switch rapid.IntRange(0, 5).Draw(t, "scope") {
	case 0:
		return asyncop.TenantsScope(tenant), inTenant
	case 1:
		return everything, true
	case 2:
		return asyncop.SubmitterScope(tenant, "https://other.example/", subject), false
	case 3:
		return asyncop.Scope{}, false
	}
	return asyncop.SubmitterScope(tenant, issuer, subject), inTenant && subject == op.subject
}

func (c *check) cancel(t *rapid.T) {
	if len(c.model.operations) == 0 {
		t.Skip("nothing was submitted yet: another step")
	}
	op := rapid.SampledFrom(c.model.operations).Draw(t, "operation")
	scope, reaches := c.drawScope(t, op)
	got, err := c.Store.Cancel(c.t.Context(), scope, op.id)
	if !reaches {
		_, absent := c.Store.Get(c.t.Context(), scope, op.id)
		if !errors.Is(err, asyncop.ErrNotFound) || !errors.Is(absent, asyncop.ErrNotFound) {
			c.failf(t, "a stranger cancels %s: %s, %v; gets it: %v", op.id, got.Outcome, err, absent)
		}
		return
	}
	if want := c.model.cancel(op); must(t, got, err).Outcome != want {
		c.failf(t, "the cancellation's outcome is %s, want %s", got.Outcome, want)
	}
	c.sameRow(t, got.Operation, op)
}

func (c *check) expire(t *rapid.T) {
	limit := rapid.SampledFrom([]int{1, 100}).Draw(t, "limit")
	expired, err := c.Store.Expire(c.t.Context(), limit)
	if overdue := c.model.overdue(); len(must(t, expired, err)) != min(limit, len(overdue)) {
		c.failf(t, "expired %v of %d overdue, want %d at most", expired, len(overdue), limit)
	}
	for _, id := range expired {
		op := c.model.find(id)
		if !slices.Contains(c.model.overdue(), op) {
			c.failf(t, "expired %s, which is not overdue", id)
		}
		c.model.expire(op)
	}
}

var modelRetention = asyncop.Retention{Result: 4*tick + half, Operation: 9*tick + half}

func (c *check) sweep(t *rapid.T) {
	swept, err := c.Store.Sweep(c.t.Context(), modelRetention, 100)
	c.same(t, "swept", must(t, swept, err), c.model.sweep(modelRetention))
}
