package storetest

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"asyncgate/internal/asyncop"
)

// World is a store of which a test moves the clock.
type World struct {
	Store asyncop.Store
	// Pass lets time pass: every instant in the store is moved back.
	Pass func(d time.Duration) error
	// Empty removes all rows.
	Empty func() error
}

// The instants of a sequence lie 10 s apart, and what must happen between them
// in the middle: the real time that a sequence takes never decides.
const (
	tick       = 10 * time.Second
	half       = tick / 2
	staleAfter = tick + half
)

var modelRetention = asyncop.Retention{Result: 4*tick + half, Operation: 9*tick + half}

// usual is what CheckModel runs unless rapid's own flags say otherwise: so many
// sequences of about so many steps.
var usual = map[string]string{"rapid.checks": "500", "rapid.steps": "20"}

// CheckModel runs random sequences of all transitions, by several nodes that may
// be lost and late, on a store and on the model, and compares the two after each
// step. A sequence that fails is made shorter and printed with its seed.
func CheckModel(t *testing.T, world World) {
	t.Helper()
	for name, value := range usual {
		if f := flag.Lookup(name); f.Value.String() == f.DefValue {
			if err := f.Value.Set(value); err != nil {
				t.Fatal(err)
			}
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		if err := world.Empty(); err != nil {
			t.Fatal(err)
		}
		// Each sequence has tenants of its own: stores remember who has no room.
		names := []string{uuid.NewString(), uuid.NewString()}
		c := &check{World: world, t: t, tenants: names, model: &model{nodes: map[string]time.Duration{}}}
		t.Repeat(map[string]func(*rapid.T){
			"Submit":    c.submit,
			"Claim":     c.claim,
			"ClaimMore": c.claim, // most transitions are of what runs
			"Heartbeat": c.heartbeat,
			"Finish":    c.finish,
			"Retry":     c.retry,
			"Release":   c.release,
			"Recover":   c.recover,
			"Expire":    c.expire,
			"Cancel":    c.cancel,
			"Replay":    c.replay,
			"Sweep":     c.sweep,
			"NextDue":   c.nextDue,
			"Pass":      c.pass,
			"":          c.compare,
		})
	})
}

// check is one sequence.
type check struct {
	World
	t       *rapid.T
	tenants []string
	model   *model
}

var (
	modelNodes    = rapid.SampledFrom([]string{"node-1", "node-2", "node-3"})
	modelSubjects = rapid.SampledFrom([]string{"ada", "grace"})
	modelKeys     = rapid.SampledFrom([]string{"", "", "k"})
	modelPrints   = rapid.SampledFrom([]string{"a", "b"})
)

// beyond draws an instant between two ticks, from the next on.
func beyond(t *rapid.T, name string, most int) time.Duration {
	return time.Duration(rapid.IntRange(1, most).Draw(t, name))*tick - half
}

func must[T any](t *rapid.T, value T, err error) T {
	if err != nil {
		t.Fatal(err)
	}
	return value
}

func (c *check) drawSubmission(t *rapid.T) (asyncop.Submission, *modelled) {
	s := submission(of(c.tenants[rapid.IntRange(0, 1).Draw(t, "tenant")], modelSubjects.Draw(t, "subject")))
	s.IdempotencyKey = modelKeys.Draw(t, "key")
	s.Fingerprint = sha256.Sum256([]byte(modelPrints.Draw(t, "fingerprint")))
	s.Idempotent = rapid.Bool().Draw(t, "idempotent")
	s.MaxAttempts = rapid.IntRange(1, 3).Draw(t, "max attempts")
	s.Priority = rapid.IntRange(0, 2).Draw(t, "priority")
	op := &modelled{
		id: s.ID, tenant: s.Tenant, subject: s.Subject, key: s.IdempotencyKey, fingerprint: s.Fingerprint,
		idempotent: s.Idempotent, most: s.MaxAttempts, state: asyncop.Queued, revision: 1, notBefore: c.model.now,
	}
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
	return s, op
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
			c.model.operations = append(c.model.operations, holder)
		}
		switch {
		case holder == fresh[i] || holder == nil:
			if got.Err != nil || got.Replayed || got.Operation.ID != batch[i].ID {
				t.Fatalf("a fresh submission: %+v", got)
			}
			if holder == nil {
				c.model.operations = append(c.model.operations, fresh[i])
			}
		case holder.fingerprint == batch[i].Fingerprint:
			if got.Err != nil || !got.Replayed || got.Operation.ID != holder.id {
				t.Fatalf("a replayed submission: %+v, want %s", got, holder.id)
			}
		case !errors.Is(got.Err, asyncop.ErrKeyReused):
			t.Fatalf("a key that was used for something else: %+v", got)
		}
	}
}

func (c *check) replay(t *rapid.T) {
	s, _ := c.drawSubmission(t)
	if s.IdempotencyKey == "" {
		return
	}
	op, err := c.Store.Replay(c.t.Context(), asyncop.SubmitterScope(s.Tenant, s.Issuer, s.Subject), s.IdempotencyKey, s.Fingerprint)
	holder := c.model.keyed(s)
	switch {
	case holder == nil:
		if !errors.Is(err, asyncop.ErrNotFound) {
			t.Fatalf("a free key: %v", err)
		}
	case holder.fingerprint != s.Fingerprint:
		if !errors.Is(err, asyncop.ErrKeyReused) {
			t.Fatalf("a key that was used for something else: %v", err)
		}
	case err != nil || op.ID != holder.id:
		t.Fatalf("the key stands for %s, %v, want %s", op.ID, err, holder.id)
	}
}

func (c *check) claim(t *rapid.T) {
	node, limit := modelNodes.Draw(t, "node"), rapid.IntRange(1, 4).Draw(t, "limit")
	if rapid.Bool().Draw(t, "heartbeat first") {
		_, err := c.Store.Heartbeat(c.t.Context(), node, nil)
		must(t, 0, err)
		c.model.nodes[node] = c.model.now
	}
	room := asyncop.Room{Running: rapid.IntRange(0, 2).Draw(t, "room")}
	claimed, err := c.Store.Claim(c.t.Context(), asyncop.Intake{
		Node: node, Limit: limit, Look: true, Room: func(string) asyncop.Room { return room },
	})
	must(t, 0, err)
	c.model.look()
	want := 0
	if _, alive := c.model.nodes[node]; alive {
		want = min(limit, c.claimable(room))
	}
	for _, claim := range claimed.Claims {
		op := c.model.find(claim.Operation.ID)
		if op == nil || !op.due(c.model.now) {
			t.Fatalf("claimed %s, which is not due", claim.Operation.ID)
		}
		c.model.claim(op, node, claim.Token)
	}
	for _, tenant := range c.tenants {
		if n := c.running(tenant); room.Running > 0 && n > room.Running && len(claimed.Claims) > 0 && slices.ContainsFunc(claimed.Claims,
			func(claim asyncop.Claim) bool { return claim.Operation.Tenant == tenant }) {
			t.Fatalf("%d of %s are running, want %d at most", n, tenant, room.Running)
		}
	}
	if len(claimed.Claims) != want {
		t.Fatalf("%d claims, want %d", len(claimed.Claims), want)
	}
}

func (c *check) running(tenant string) (n int) {
	for _, op := range c.model.operations {
		if op.tenant == tenant && op.state == asyncop.Running {
			n++
		}
	}
	return n
}

// claimable is how many operations may be claimed now.
func (c *check) claimable(room asyncop.Room) (n int) {
	due := map[string]int{}
	for _, op := range c.model.operations {
		if op.due(c.model.now) {
			due[op.tenant]++
		}
	}
	for tenant, most := range due {
		if room.Running > 0 {
			most = min(most, max(room.Running-c.running(tenant), 0))
		}
		n += most
	}
	return n
}

func (c *check) heartbeat(t *rapid.T) {
	node := modelNodes.Draw(t, "node")
	var refs []asyncop.ClaimRef
	for _, claim := range c.model.claims {
		if claim.node == node {
			refs = append(refs, claim.ref)
		}
	}
	pulses, err := c.Store.Heartbeat(c.t.Context(), node, refs)
	must(t, 0, err)
	c.model.nodes[node] = c.model.now
	for i, pulse := range pulses {
		want := asyncop.PulseLost
		if op := c.model.held(refs[i]); op != nil && op.cancelling {
			want = asyncop.PulseCancel
		} else if op != nil {
			want = asyncop.PulseHeld
		}
		if pulse != want {
			t.Fatalf("the pulse of %s is %d, want %d", refs[i].ID, pulse, want)
		}
	}
}

// drawClaims draws claims that were made, held or lost.
func (c *check) drawClaims(t *rapid.T) []asyncop.ClaimRef {
	if len(c.model.claims) == 0 {
		return nil
	}
	var held, refs []asyncop.ClaimRef
	for _, claim := range c.model.claims {
		if c.model.held(claim.ref) != nil {
			held = append(held, claim.ref)
		}
	}
	for range rapid.IntRange(1, 2).Draw(t, "claims") {
		if len(held) > 0 && rapid.IntRange(0, 3).Draw(t, "any") > 0 {
			refs = append(refs, rapid.SampledFrom(held).Draw(t, "held"))
			continue
		}
		refs = append(refs, rapid.SampledFrom(c.model.claims).Draw(t, "claim").ref)
	}
	if refs = slices.Compact(refs); len(refs) == 2 && rapid.IntRange(0, 9).Draw(t, "mixed up") == 0 {
		refs[0].Token, refs[1].Token = refs[1].Token, refs[0].Token
	}
	return refs
}

// settled compares fates, and makes the model's step for what was held.
func (c *check) settled(t *rapid.T, refs []asyncop.ClaimRef, fates []asyncop.Settled, err error, step func(int, *modelled)) {
	must(t, 0, err)
	for i, ref := range refs {
		op := c.model.held(ref)
		if op == nil {
			if !errors.Is(fates[i].Err, asyncop.ErrClaimLost) {
				t.Fatalf("a lost claim of %s: %+v", ref.ID, fates[i])
			}
			continue
		}
		step(i, op)
		if fates[i].Err != nil || fates[i].State != op.state {
			t.Fatalf("the fate of %s: %+v, want %s", ref.ID, fates[i], op.state)
		}
	}
}

var modelFailures = rapid.SampledFrom([]asyncop.Failure{
	unknown, unsent, {Code: asyncop.CodeExecutionFailed, Message: "No.", Execution: asyncop.Executed},
})

func (c *check) finish(t *rapid.T) {
	refs := c.drawClaims(t)
	batch := make([]asyncop.Finished, len(refs))
	for i, ref := range refs {
		outcome := asyncop.Succeed(envelope)
		switch rapid.IntRange(0, 3).Draw(t, "outcome") {
		case 0:
			outcome = asyncop.Fail(modelFailures.Draw(t, "failure"), nil)
		case 1:
			outcome = asyncop.Fail(modelFailures.Draw(t, "failure"), json.RawMessage(`{"errors":[{}]}`))
		case 2:
			outcome = asyncop.Cancel(asyncop.UnknownExecution)
		}
		batch[i] = asyncop.Finished{Claim: ref, Outcome: outcome}
	}
	fates, err := c.Store.Finish(c.t.Context(), batch)
	c.settled(t, refs, fates, err, func(i int, op *modelled) { c.model.finish(op, batch[i].Outcome) })
}

func (c *check) retry(t *rapid.T) {
	refs := c.drawClaims(t)
	batch := make([]asyncop.Retried, len(refs))
	for i, ref := range refs {
		batch[i] = asyncop.Retried{Claim: ref, Failure: modelFailures.Draw(t, "failure"), Uncounted: rapid.Bool().Draw(t, "uncounted")}
		if rapid.Bool().Draw(t, "later") {
			batch[i].After = beyond(t, "backoff", 3)
		}
	}
	fates, err := c.Store.Retry(c.t.Context(), batch)
	c.settled(t, refs, fates, err, func(i int, op *modelled) { c.model.retry(op, batch[i]) })
}

func (c *check) release(t *rapid.T) {
	refs := c.drawClaims(t)
	fates, err := c.Store.Release(c.t.Context(), refs)
	c.settled(t, refs, fates, err, func(_ int, op *modelled) { c.model.release(op) })
}

func (c *check) recover(t *rapid.T) {
	taken, err := c.Store.Recover(c.t.Context(), staleAfter)
	c.sameIDs(t, "recovered", must(t, taken, err), c.model.recover(staleAfter))
}

func (c *check) expire(t *rapid.T) {
	expired, err := c.Store.Expire(c.t.Context(), 100)
	c.sameIDs(t, "expired", must(t, expired, err), c.model.expire())
}

func (c *check) sameIDs(t *rapid.T, what string, got, want []uuid.UUID) {
	order := func(a, b uuid.UUID) int { return slices.Compare(a[:], b[:]) }
	slices.SortFunc(got, order)
	slices.SortFunc(want, order)
	if !slices.Equal(got, want) {
		t.Fatalf("%s %v, want %v", what, got, want)
	}
}

func (c *check) cancel(t *rapid.T) {
	if len(c.model.operations) == 0 {
		return
	}
	op := rapid.SampledFrom(c.model.operations).Draw(t, "operation")
	subject := modelSubjects.Draw(t, "canceller")
	got, err := c.Store.Cancel(c.t.Context(), asyncop.SubmitterScope(op.tenant, issuer, subject), op.id)
	if subject != op.subject {
		if !errors.Is(err, asyncop.ErrNotFound) {
			t.Fatalf("a stranger's cancellation: %+v, %v", got.Outcome, err)
		}
		return
	}
	if want := c.model.cancel(op); must(t, got, err).Outcome != want {
		t.Fatalf("the cancellation's outcome is %s, want %s", got.Outcome, want)
	}
}

func (c *check) sweep(t *rapid.T) {
	swept, err := c.Store.Sweep(c.t.Context(), modelRetention, 100)
	if want := c.model.sweep(modelRetention); must(t, swept, err) != want {
		t.Fatalf("swept %+v, want %+v", swept, want)
	}
}

func (c *check) nextDue(t *rapid.T) {
	in, ok, err := c.Store.NextDue(c.t.Context())
	must(t, 0, err)
	want, some := c.model.nextDue()
	if ok != some || (ok && max(in, 0) > max(want, 0)+time.Second) || (ok && max(in, 0) < max(want, 0)-tick) {
		t.Fatalf("next due in %s (%v), want %s (%v)", in, ok, want, some)
	}
}

func (c *check) pass(t *rapid.T) {
	d := time.Duration(rapid.IntRange(1, 4).Draw(t, "ticks")) * tick
	if err := c.World.Pass(d); err != nil {
		t.Fatal(err)
	}
	c.model.now += d
}

// compare holds all rows against the model.
func (c *check) compare(t *rapid.T) {
	page, err := c.Store.List(c.t.Context(), asyncop.List{Scope: everything, First: 1000})
	must(t, 0, err)
	if len(page.Operations) != len(c.model.operations) {
		t.Fatalf("%d rows, want %d", len(page.Operations), len(c.model.operations))
	}
	for _, op := range page.Operations {
		want := c.model.find(op.ID)
		if want == nil {
			t.Fatalf("%s is a row of nobody", op.ID)
		}
		if diff := want.differs(op); len(diff) > 0 {
			t.Fatalf("%s: got and want differ: %v", op.ID, diff)
		}
	}
}

// differs answers what a row has other than the model, with both values.
func (m *modelled) differs(op asyncop.Operation) map[string][2]any {
	code := asyncop.Code("")
	if op.Failure != nil {
		code = op.Failure.Code
	}
	want := m.code
	if m.state == asyncop.Running {
		want = "" // hidden while it runs
	}
	all := map[string][2]any{
		"state":     {op.State, m.state},
		"attempts":  {op.Attempts, m.attempts},
		"execution": {op.Execution, m.execution},
		"code":      {code, want},
		"cancelled": {op.CancellationRequested, m.cancelling},
		"result":    {op.Result != nil, m.result},
		"purged":    {op.Purged, m.purged},
		"revision":  {op.Revision, m.revision},
		"log":       {len(op.AttemptLog), min(m.logged, asyncop.AttemptLogHead+asyncop.AttemptLogTail)},
		"finished":  {op.FinishedAt != nil, m.state.Terminal()},
	}
	maps.DeleteFunc(all, func(_ string, values [2]any) bool { return values[0] == values[1] })
	return all
}
