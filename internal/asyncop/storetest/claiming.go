package storetest

import (
	"encoding/json"
	"errors"
	"slices"

	"pgregory.net/rapid"

	"asyncgate/internal/asyncop"
)

var (
	nodeNames  = []string{"node-1", "node-2", "node-3"}
	modelNodes = rapid.SampledFrom(nodeNames)
)

// drawRooms draws what may run of each tenant.
func (c *check) drawRooms(t *rapid.T) map[string]asyncop.Room {
	rooms := map[string]asyncop.Room{}
	for _, tenant := range c.tenants {
		rooms[tenant] = asyncop.Room{
			Closed:    rapid.IntRange(0, 9).Draw(t, "closed") == 9,
			Running:   rapid.SampledFrom([]int{0, 0, 0, 1, 2, 3}).Draw(t, "running"),
			Most:      rapid.SampledFrom([]int{0, 0, 0, 0, 1}).Draw(t, "most"),
			Mutations: map[string]int{bounded: rapid.IntRange(1, 2).Draw(t, "of the mutation")},
		}
	}
	return rooms
}

func (c *check) claim(t *rapid.T) {
	intake := asyncop.Intake{Node: modelNodes.Draw(t, "node"), Limit: rapid.IntRange(1, 4).Draw(t, "limit"), Look: true}
	if rapid.Bool().Draw(t, "heartbeat first") {
		c.beat(t, intake.Node)
	}
	rooms := c.drawRooms(t)
	intake.Room = func(tenant string) asyncop.Room { return rooms[tenant] }
	claimed, err := c.Store.Claim(c.t.Context(), intake)
	must(t, 0, err)
	c.model.look()
	due := c.model.due()
	least, most := c.claimable(due, intake)
	if n := len(claimed.Claims); n < least || n > most {
		c.failf(t, "%d claims, want %d to %d", n, least, most)
	}
	// In the order of their ids, not of the answer: a seed means one sequence.
	slices.SortFunc(claimed.Claims, func(a, b asyncop.Claim) int {
		return slices.Compare(a.Operation.ID[:], b.Operation.ID[:])
	})
	for _, claim := range claimed.Claims {
		op := c.model.find(claim.Operation.ID)
		if op == nil || !slices.Contains(due, op) {
			c.failf(t, "claimed %s, which is not due", claim.Operation.ID)
		}
		c.model.claim(op, intake.Node, claim.Token)
		c.sameRow(t, claim.Operation, op)
	}
	c.inOrder(t, due)
	for tenant, room := range rooms {
		c.withinRoom(t, tenant, room, claimed.Claims)
	}
	c.claimedTells(t, claimed, intake.Node)
}

// claimable is how many operations a claim must and may take. It may take less
// of a tenant whose Most was reached a moment ago.
func (c *check) claimable(due []*modelled, intake asyncop.Intake) (least, most int) {
	if _, alive := c.model.nodes[intake.Node]; !alive {
		return 0, 0
	}
	for _, tenant := range c.tenants {
		room := intake.Room(tenant)
		n := c.takable(due, tenant, room)
		if room.Most == 0 {
			least += n
		}
		most += n
	}
	return min(least, intake.Limit), min(most, intake.Limit)
}

// takable is how many operations of a tenant there is room for.
func (c *check) takable(due []*modelled, tenant string, room asyncop.Room) int {
	if room.Closed {
		return 0
	}
	running, runningBounded := c.model.running(tenant)
	free, held := 0, 0
	for _, op := range due {
		switch {
		case op.tenant != tenant:
		case op.bounded:
			held++
		default:
			free++
		}
	}
	n := free + min(held, max(room.Mutations[bounded]-runningBounded, 0))
	if room.Running > 0 {
		n = min(n, max(room.Running-running, 0))
	}
	if room.Most > 0 {
		n = min(n, room.Most)
	}
	return n
}

// inOrder requires that no operation was left behind while a later one of its
// submitter was claimed, the bounded ones and the others each by themselves.
func (c *check) inOrder(t *rapid.T, due []*modelled) {
	for _, left := range due {
		for _, taken := range due {
			if left.state == asyncop.Queued && taken.state == asyncop.Running && left.tenant == taken.tenant &&
				left.subject == taken.subject && left.bounded == taken.bounded && left.before(taken) {
				c.failf(t, "claimed %s before %s of the same submitter", taken.id, left.id)
			}
		}
	}
}

// withinRoom requires that what was claimed of a tenant had room.
func (c *check) withinRoom(t *rapid.T, tenant string, room asyncop.Room, claims []asyncop.Claim) {
	taken, takenBounded := 0, 0
	for _, claim := range claims {
		if claim.Operation.Tenant == tenant {
			taken++
			if slices.Contains(claim.Operation.Mutations, bounded) {
				takenBounded++
			}
		}
	}
	running, runningBounded := c.model.running(tenant)
	if taken > 0 && (room.Closed || (room.Running > 0 && running > room.Running) || (room.Most > 0 && taken > room.Most)) {
		c.failf(t, "claimed %d of %s, of which %d run now, in a room of %+v", taken, tenant, running, room)
	}
	if takenBounded > 0 && runningBounded > room.Mutations[bounded] {
		c.failf(t, "%d of %s run of a mutation, in a room of %+v", runningBounded, tenant, room)
	}
}

// claimedTells compares what a claim tells of the rows that it did not take.
func (c *check) claimedTells(t *rapid.T, claimed asyncop.Claimed, node string) {
	if _, alive := c.model.nodes[node]; alive && len(c.model.due()) > 0 && !claimed.Left {
		c.failf(t, "%d due rows were left, and the claim does not tell", len(c.model.due()))
	}
	c.sameWait(t, "another row comes due", claimed.Next, claimed.Next >= 0, c.model.nextScheduled)
}

func (c *check) beat(t *rapid.T, node string) {
	_, err := c.Store.Heartbeat(c.t.Context(), node, nil)
	must(t, 0, err)
	c.model.nodes[node] = c.model.now
}

func (c *check) heartbeat(t *rapid.T) {
	node := modelNodes.Draw(t, "node")
	refs := make([]asyncop.ClaimRef, len(c.model.claims)) // those of others too, which read as lost
	for i, claim := range c.model.claims {
		refs[i] = claim.ref
	}
	pulses, err := c.Store.Heartbeat(c.t.Context(), node, refs)
	must(t, 0, err)
	c.model.nodes[node] = c.model.now
	for i, pulse := range pulses {
		want := asyncop.PulseLost
		if op := c.model.held(refs[i]); op != nil && op.node == node {
			if want = asyncop.PulseHeld; op.cancelling {
				want = asyncop.PulseCancel
			}
		}
		if pulse != want {
			c.failf(t, "the pulse of %s is %d, want %d", refs[i].ID, pulse, want)
		}
	}
}

// drawClaims draws claims that were made, held or lost, some of them twice.
func (c *check) drawClaims(t *rapid.T) (refs []asyncop.ClaimRef) {
	if len(c.model.claims) == 0 {
		t.Skip("nothing was claimed yet: another step")
	}
	var held []modelClaim
	for _, claim := range c.model.claims {
		if c.model.held(claim.ref) != nil {
			held = append(held, claim)
		}
	}
	for range rapid.IntRange(1, 2).Draw(t, "claims") {
		if len(held) > 0 && rapid.IntRange(0, 3).Draw(t, "any") > 0 {
			refs = append(refs, rapid.SampledFrom(held).Draw(t, "held").ref)
			continue
		}
		refs = append(refs, rapid.SampledFrom(c.model.claims).Draw(t, "claim").ref)
	}
	if len(refs) == 2 && rapid.IntRange(0, 9).Draw(t, "mixed up") == 0 {
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
				c.failf(t, "a lost claim of %s: %+v", ref.ID, fates[i])
			}
			continue
		}
		step(i, op)
		if fates[i].Err != nil || fates[i].State != op.state {
			c.failf(t, "the fate of %s: %+v, want %s", ref.ID, fates[i], op.state)
		}
	}
}

var modelFailures = rapid.SampledFrom([]asyncop.Failure{
	unknown, unsent, {Code: asyncop.CodeExecutionFailed, Message: "No.", Execution: asyncop.Executed},
})

func drawOutcome(t *rapid.T) asyncop.Outcome {
	switch rapid.IntRange(0, 3).Draw(t, "outcome") {
	case 0:
		return asyncop.Fail(modelFailures.Draw(t, "failure"), nil)
	case 1:
		return asyncop.Fail(modelFailures.Draw(t, "failure"), json.RawMessage(`{"errors":[{}]}`))
	case 2:
		return asyncop.Cancel(asyncop.UnknownExecution)
	}
	return asyncop.Succeed(envelope)
}

func (c *check) finish(t *rapid.T) {
	refs := c.drawClaims(t)
	batch := make([]asyncop.Finished, len(refs))
	for i, ref := range refs {
		batch[i] = asyncop.Finished{Claim: ref, Outcome: drawOutcome(t)}
	}
	fates, err := c.Store.Finish(c.t.Context(), batch)
	c.settled(t, refs, fates, err, func(i int, op *modelled) { c.model.finish(op, batch[i].Outcome) })
}

func (c *check) retry(t *rapid.T) {
	refs := c.drawClaims(t)
	batch := make([]asyncop.Retried, len(refs))
	for i, ref := range refs {
		batch[i] = asyncop.Retried{Claim: ref, Failure: modelFailures.Draw(t, "failure"), Uncounted: rapid.Bool().Draw(t, "uncounted")}
		if rapid.IntRange(0, 2).Draw(t, "later") == 2 {
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

// loseNode lets one node fall silent for the stale time while the others live.
// What it reports later is late.
func (c *check) loseNode(t *rapid.T) {
	lost := modelNodes.Draw(t, "lost")
	c.passed(t, 2*tick)
	for _, node := range nodeNames {
		if node != lost {
			c.beat(t, node)
		}
	}
	c.recover(t)
}
