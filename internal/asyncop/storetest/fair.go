package storetest

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"asyncgate/internal/asyncop"
)

var fairRules = map[string]rule{
	"TenantsTakeTurnsHoweverDeepTheirBacklogs":     tenantsTakeTurns,
	"SubmittersTakeTurns":                          submittersTakeTurns,
	"ManySubmittersEachGetATurn":                   manySubmitters,
	"ASubmittersOwnGoByPriorityOverLanes":          priorityOverLanes,
	"ATenantsRunningNeverPassesItsRoom":            runningHasRoom,
	"AMutationsRunningNeverPassesItsBound":         mutationIsBounded,
	"ABoundMutationIsNotInTheWayOfOthers":          boundIsNotInTheWay,
	"ABoundThatCameLaterHolds":                     laterBound,
	"ABoundThatWentAwayHoldsNothingUp":             boundWentAway,
	"ATenantThatIsClosedIsLeft":                    closedTenant,
	"MostBoundsOneClaim":                           mostBounds,
	"WhatEndsMakesRoomAtOnce":                      roomAtOnce,
	"WhatEndsMakesRoomForItsMutationAtOnce":        mutationRoomAtOnce,
	"WhatIsReleasedRetriedOrRecoveredMakesRoomToo": roomAfterAnyEnd,
	"LeftTellsOfMore":                              leftTells,
	"NextTellsWhenARowComesDue":                    nextTells,
}

// of makes a submission another tenant's, or submitter's.
func of(tenant, subject string) func(*asyncop.Submission) {
	return func(s *asyncop.Submission) { s.Tenant, s.Subject = tenant, subject }
}

// doing makes a submission's mutations and its lane.
func doing(lane string, mutations ...string) func(*asyncop.Submission) {
	return func(s *asyncop.Submission) { s.Mutations, s.Lane = mutations, lane }
}

func (f fixture) submitMany(t *testing.T, n int, edits ...func(*asyncop.Submission)) {
	t.Helper()
	batch := make([]asyncop.Submission, n)
	for i := range batch {
		batch[i] = submission(edits...)
	}
	f.submitAll(t, batch...)
}

// within claims with the same room for every tenant, of what the store was told.
func (f fixture) within(t *testing.T, limit int, room asyncop.Room) asyncop.Claimed {
	t.Helper()
	f.beat(t, node)
	return f.claimed(t, asyncop.Intake{
		Node: node, Limit: limit, Room: func(string) asyncop.Room { return room },
	})
}

func tenantsTakeTurns(t *testing.T, f fixture) {
	f.submitMany(t, 300, of("deep", "ada"))
	f.submitMany(t, 40, of("shallow", "grace"))
	f.submitMany(t, 3, of("tiny", "joan"))
	counts := map[string]int{}
	for range 10 {
		for _, claim := range f.claim(t, node, 3) {
			counts[claim.Operation.Tenant]++
		}
	}
	expect(t, "tiny", counts["tiny"], 3)
	if d := counts["deep"] - counts["shallow"]; counts["deep"]+counts["shallow"] != 27 || d < -1 || d > 1 {
		t.Errorf("claimed %v: they do not take turns", counts)
	}
}

func submittersTakeTurns(t *testing.T, f fixture) {
	f.submitMany(t, 100, of("acme", "ada"), priority(9))
	f.submitMany(t, 5, of("acme", "grace"), priority(0))
	counts := map[string]int{}
	for range 4 {
		for _, claim := range f.claim(t, node, 2) {
			counts[claim.Operation.Subject]++
		}
	}
	expect(t, "claimed", counts, map[string]int{"ada": 4, "grace": 4})
}

func manySubmitters(t *testing.T, f fixture) {
	const submitters = 150 // more than are read at a time
	var batch []asyncop.Submission
	for i := range submitters {
		batch = append(batch, submission(of("acme", fmt.Sprint("subject-", i))), submission(of("acme", fmt.Sprint("subject-", i))))
	}
	f.submitAll(t, batch...)
	seen := map[string]int{}
	for range submitters / 10 {
		for _, claim := range f.claim(t, node, 10) {
			seen[claim.Operation.Subject]++
		}
	}
	expect(t, "submitters served in the first round", len(seen), submitters)
	expect(t, "the rest", len(f.claim(t, node, 2*submitters)), submitters)
}

func priorityOverLanes(t *testing.T, f fixture) {
	bounded := asyncop.Room{Mutations: map[string]int{"import": 10}}
	low := f.submit(t, priority(1), doing("import", "import"))
	middle := f.submit(t, priority(4))
	high := f.submit(t, priority(7), doing("import", "import"))
	last := f.submit(t, priority(0))
	for _, want := range []asyncop.Operation{high, middle, low, last} {
		claims := f.within(t, 1, bounded).Claims
		if len(claims) != 1 || claims[0].Operation.ID != want.ID {
			t.Fatalf("claimed %v, want the one of priority %d", claims, want.Priority)
		}
	}
}

func runningHasRoom(t *testing.T, f fixture) {
	const room = 5
	f.submitMany(t, 40)
	f.beat(t, node)
	f.beat(t, "node-2")
	var mu sync.Mutex
	running := 0
	var wg sync.WaitGroup
	for _, name := range []string{node, "node-2", node, "node-2"} {
		wg.Go(func() {
			claimed, err := f.store.Claim(t.Context(), asyncop.Intake{
				Node: name, Limit: 4, Look: true, Room: func(string) asyncop.Room { return asyncop.Room{Running: room} },
			})
			if err != nil {
				t.Errorf("claim: %v", err)
			}
			mu.Lock()
			running += len(claimed.Claims)
			mu.Unlock()
		})
	}
	wg.Wait()
	expect(t, "running", running, room)
	expect(t, "more", len(f.within(t, 10, asyncop.Room{Running: room}).Claims), 0)
}

func mutationIsBounded(t *testing.T, f fixture) {
	room := asyncop.Room{Mutations: map[string]int{"import": 2, "export": 1}}
	for _, subject := range []string{"ada", "grace", "joan"} {
		f.submitMany(t, 3, of("acme", subject), doing("import", "import"))
		f.submitMany(t, 1, of("acme", subject), doing("export,import", "import", "export"))
	}
	f.submitMany(t, 3, of("globex", "ada"), doing("import", "import"))
	counts := map[string]int{}
	for range 3 {
		for _, claim := range f.within(t, 10, room).Claims {
			for _, mutation := range claim.Operation.Mutations {
				counts[claim.Operation.Tenant+" "+mutation]++
			}
		}
	}
	if counts["acme import"] != 2 || counts["acme export"] > 1 || counts["globex import"] != 2 {
		t.Errorf("running: %v", counts)
	}
}

func boundIsNotInTheWay(t *testing.T, f fixture) {
	f.submitMany(t, 50, priority(9), doing("import", "import"))
	other := f.submit(t, priority(0))
	room := asyncop.Room{Mutations: map[string]int{"import": 1}}
	expect(t, "first", len(f.within(t, 1, room).Claims), 1)
	claims := f.within(t, 5, room).Claims
	if len(claims) != 1 || claims[0].Operation.ID != other.ID {
		t.Errorf("claimed %v, want the other one alone", claims)
	}
}

func laterBound(t *testing.T, f fixture) {
	f.submitMany(t, 20, doing("", "import"))
	other := f.submit(t, priority(0))
	room := asyncop.Room{Mutations: map[string]int{"import": 2}}
	var claims []asyncop.Claim
	for range 5 {
		claims = append(claims, f.within(t, 10, room).Claims...)
	}
	expect(t, "running", len(claims), 3)
	if !slices.ContainsFunc(claims, func(c asyncop.Claim) bool { return c.Operation.ID == other.ID }) {
		t.Error("what has no bound waits behind what has one")
	}
	for _, claim := range claims {
		f.finish(t, claim, asyncop.Succeed(envelope))
	}
	expect(t, "next", len(f.within(t, 10, room).Claims), 2)
}

func boundWentAway(t *testing.T, f fixture) {
	f.submitMany(t, 5, doing("import", "import"))
	expect(t, "claimed", len(f.claim(t, node, 10)), 5)
}

func closedTenant(t *testing.T, f fixture) {
	f.submitMany(t, 3, of("acme", "ada"))
	other := f.submit(t, of("globex", "ada"))
	intake := asyncop.Intake{Node: node, Limit: 10, Look: true, Room: func(tenant string) asyncop.Room {
		return asyncop.Room{Closed: tenant == "acme"}
	}}
	f.beat(t, node)
	claims := f.claimed(t, intake).Claims
	if len(claims) != 1 || claims[0].Operation.ID != other.ID {
		t.Errorf("claimed %v, want the other tenant's alone", claims)
	}
	expect(t, "once it is open", len(f.claim(t, node, 10)), 3)
}

func mostBounds(t *testing.T, f fixture) {
	f.submitMany(t, 3)
	expect(t, "claimed", len(f.within(t, 10, asyncop.Room{Most: 1}).Claims), 1)
}

func roomAtOnce(t *testing.T, f fixture) {
	f.submitMany(t, 3)
	for range 3 {
		claims := f.within(t, 10, asyncop.Room{Running: 1}).Claims
		expect(t, "claimed", len(claims), 1)
		f.finish(t, claims[0], asyncop.Succeed(envelope))
	}
}

func mutationRoomAtOnce(t *testing.T, f fixture) {
	f.submitMany(t, 6, doing("import", "import"))
	f.submitMany(t, 6, of(tenant, "grace"), doing("import", "import"))
	for range 6 {
		claims := f.within(t, 10, asyncop.Room{Mutations: map[string]int{"import": 2}}).Claims
		expect(t, "claimed", len(claims), 2)
		for _, claim := range claims {
			f.finish(t, claim, asyncop.Succeed(envelope))
		}
	}
}

func roomAfterAnyEnd(t *testing.T, f fixture) {
	f.submitMany(t, 1, idempotent)
	one := asyncop.Room{Running: 1}
	for _, end := range []func(asyncop.Claim){
		func(c asyncop.Claim) { f.release(t, c) },
		func(c asyncop.Claim) { f.retry(t, c, unsent, uncounted) },
		func(c asyncop.Claim) { f.recover(t, c.Operation.ID) },
		func(asyncop.Claim) {},
	} {
		claims := f.within(t, 10, one).Claims
		if len(claims) != 1 {
			t.Fatalf("%d claims, want 1", len(claims))
		}
		end(claims[0])
	}
}

func leftTells(t *testing.T, f fixture) {
	f.submitMany(t, 3)
	expect(t, "behind the limit", f.within(t, 2, asyncop.Room{}).Left, true)
	claimed := f.within(t, 10, asyncop.Room{Running: 3})
	expect(t, "claimed", len(claimed.Claims), 1)
	f.submitMany(t, 1)
	expect(t, "behind the room", f.within(t, 10, asyncop.Room{Running: 3}).Left, true)
	f.finish(t, claimed.Claims[0], asyncop.Succeed(envelope))
	expect(t, "after all", f.within(t, 10, asyncop.Room{}).Left, false)
}

func nextTells(t *testing.T, f fixture) {
	if next := f.within(t, 1, asyncop.Room{}).Next; next >= 0 {
		t.Errorf("an empty store comes due in %s", next)
	}
	f.submit(t, notYet)
	if next := f.within(t, 1, asyncop.Room{}).Next; next < 50*time.Minute || next > time.Hour+time.Second {
		t.Errorf("next in %s, want an hour", next)
	}
	f.retry(t, f.submitAndClaim(t), unsent, after(10*time.Minute))
	if next := f.within(t, 1, asyncop.Room{}).Next; next < 5*time.Minute || next > 10*time.Minute+time.Second {
		t.Errorf("next in %s, want ten minutes", next)
	}
}
