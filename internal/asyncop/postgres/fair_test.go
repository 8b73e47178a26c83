package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"asyncgate/internal/asyncop"
	"asyncgate/test/pgtest"
)

// node is a store of its own in a database that others share.
type node struct {
	*Store
	name string
}

func newNode(t *testing.T, url, name string) node {
	t.Helper()
	store, err := Open(t.Context(), url, Options{Migrate: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	if _, err := store.Heartbeat(t.Context(), name, nil); err != nil {
		t.Fatal(err)
	}
	return node{store, name}
}

func (n node) submit(t *testing.T, count int, tenant, mutation, lane string) {
	t.Helper()
	batch := make([]asyncop.Submission, count)
	for i := range batch {
		batch[i] = asyncop.Submission{
			ID: uuid.Must(uuid.NewV7()), Tenant: tenant, Issuer: "issuer", Subject: "ada", Authority: json.RawMessage(`{}`),
			Mutations: []string{mutation}, Lane: lane, Document: "mutation", MaxAttempts: 3, StartWithin: time.Hour,
		}
	}
	if _, err := n.Submit(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
}

// claim claims up to limit, looking first.
func (n node) claim(t *testing.T, limit int, room asyncop.Room) []asyncop.Claim {
	t.Helper()
	claimed, err := n.Claim(t.Context(), asyncop.Intake{
		Node: n.name, Limit: limit, Look: true, Room: func(string) asyncop.Room { return room },
	})
	if err != nil {
		t.Errorf("claim: %v", err)
	}
	return claimed.Claims
}

func (n node) finish(t *testing.T, claims []asyncop.Claim) {
	t.Helper()
	finished := make([]asyncop.Finished, len(claims))
	for i, claim := range claims {
		finished[i] = asyncop.Finished{Claim: claim.Ref(), Outcome: asyncop.Succeed(json.RawMessage(`{}`))}
	}
	if _, err := n.Finish(t.Context(), finished); err != nil {
		t.Errorf("finish: %v", err)
	}
}

func (n node) count(t *testing.T, where string) int {
	t.Helper()
	var count int
	if err := n.pool.QueryRow(t.Context(), "SELECT count(*) FROM async_operations WHERE "+where).Scan(&count); err != nil {
		t.Fatal(err)
	}
	return count
}

// drain runs all operations on two nodes, each with several claims at a time,
// and answers the most that was seen RUNNING at once.
func drain(t *testing.T, url string, operations int, room asyncop.Room, running string) (most int) {
	t.Helper()
	nodes := []node{newNode(t, url, "one"), newNode(t, url, "two")}
	var ended atomic.Int64
	var wg sync.WaitGroup
	for i := range 6 {
		wg.Go(func() {
			n := nodes[i%2]
			for ended.Load() < int64(operations) && !t.Failed() {
				claims := n.claim(t, 3, room)
				n.finish(t, claims)
				ended.Add(int64(len(claims)))
			}
		})
	}
	for ended.Load() < int64(operations) && !t.Failed() {
		most = max(most, nodes[0].count(t, running))
	}
	wg.Wait()
	return most
}

func TestTwoNodesNeverRunMoreOfATenantThanItsBound(t *testing.T) {
	t.Parallel()
	url, room := pgtest.URL(t), asyncop.Room{Running: 5}
	newNode(t, url, "submitter").submit(t, 300, "acme", "pay", "")
	most := drain(t, url, 300, room, "state = 'RUNNING'")
	if most > room.Running || most == 0 {
		t.Errorf("%d ran at once, want up to %d", most, room.Running)
	}
}

func TestTwoNodesNeverRunMoreOfAMutationThanItsBound(t *testing.T) {
	t.Parallel()
	url, room := pgtest.URL(t), asyncop.Room{Mutations: map[string]int{"pay": 2}}
	n := newNode(t, url, "submitter")
	n.submit(t, 200, "acme", "pay", "pay")
	n.submit(t, 100, "acme", "ship", "")
	most := drain(t, url, 300, room, "state = 'RUNNING' AND 'pay' = ANY (mutations)")
	if most > 2 || most == 0 {
		t.Errorf("%d ran at once, want up to 2", most)
	}
}

// TestNodesThatAskAtOnceKeepTheBoundWithoutFinishing leaves everything RUNNING,
// so that each claim too many stays visible.
func TestNodesThatAskAtOnceKeepTheBoundWithoutFinishing(t *testing.T) {
	t.Parallel()
	url, room := pgtest.URL(t), asyncop.Room{Running: 5}
	nodes := []node{newNode(t, url, "one"), newNode(t, url, "two"), newNode(t, url, "three")}
	const tenants = 20
	for i := range tenants {
		nodes[0].submit(t, 10, fmt.Sprint("tenant-", i), "pay", "")
	}
	var wg sync.WaitGroup
	for _, n := range nodes {
		wg.Go(func() {
			for range 20 {
				n.claim(t, 7, room)
			}
		})
	}
	wg.Wait()
	if running := nodes[0].count(t, "state = 'RUNNING'"); running != tenants*room.Running {
		t.Errorf("%d run, want %d of each of %d tenants", running, room.Running, tenants)
	}
}

func TestABoundThatCameLaterMovesRowsAndHolds(t *testing.T) {
	t.Parallel()
	n := newNode(t, pgtest.URL(t), "node")
	n.submit(t, 3000, "acme", "pay", "") // queued when there was no bound
	n.submit(t, 5, "acme", "ship", "")
	room := asyncop.Room{Mutations: map[string]int{"pay": 2}}
	var names []string
	for range 20 {
		for _, claim := range n.claim(t, 10, room) {
			names = append(names, claim.Operation.Mutations...)
		}
	}
	slices.Sort(names)
	if want := []string{"pay", "pay", "ship", "ship", "ship", "ship", "ship"}; !slices.Equal(names, want) {
		t.Errorf("claimed %v, want %v", names, want)
	}
}

// fill queues rows of a tenant, far faster than Submit.
func (n node) fill(t *testing.T, tenant string, rows int) {
	t.Helper()
	const sql = `
INSERT INTO async_operations (id, tenant, issuer, subject, authority, mutations, document, idempotent,
    fingerprint, priority, max_attempts, created_at, not_before, start_before)
SELECT gen_random_uuid(), $1, 'issuer', 'ada', '{}', '{pay}', 'mutation { pay }', true,
    sha256(n::text::bytea), 4, 3, now(), now() - n * interval '1 ms', now() + interval '1 day'
FROM generate_series(1, $2::integer) AS n`
	if _, err := n.pool.Exec(t.Context(), sql, tenant, rows); err != nil {
		t.Fatal(err)
	}
}

func TestOneRowIsNextBesideABacklogOf200000(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	n, other := newNode(t, url, "node"), newNode(t, url, "other")
	n.fill(t, "deep", 200_000)
	if claims := n.claim(t, 1, asyncop.Room{}); len(claims) != 1 {
		t.Fatalf("%d claims", len(claims))
	}
	other.submit(t, 1, "other", "pay", "")
	tenants := map[string]int{}
	for _, claim := range n.claim(t, 2, asyncop.Room{}) {
		tenants[claim.Operation.Tenant]++
	}
	if tenants["deep"] != 1 || tenants["other"] != 1 {
		t.Errorf("claimed %v, want one of each", tenants)
	}
}

func TestAHundredTenantsGetEqualShares(t *testing.T) {
	t.Parallel()
	n := newNode(t, pgtest.URL(t), "node")
	const tenants, claims, limit = 100, 50, 20
	for i := range tenants {
		n.fill(t, fmt.Sprint("tenant-", i), 20+10*i)
	}
	shares := map[string]int{}
	for range claims {
		for _, claim := range n.claim(t, limit, asyncop.Room{}) {
			shares[claim.Operation.Tenant]++
		}
	}
	for i := range tenants {
		if got := shares[fmt.Sprint("tenant-", i)]; got != claims*limit/tenants {
			t.Errorf("tenant %d got %d, want %d", i, got, claims*limit/tenants)
		}
	}
}

// TestANodeThatStandsStillLetsItsTenantsGo stops a node in the middle of a
// claim: the database ends its transaction.
func TestANodeThatStandsStillLetsItsTenantsGo(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	still, n := newNode(t, url, "still"), newNode(t, url, "node")
	n.submit(t, 1, "acme", "pay", "")
	claimed := make(chan int, 1)
	_, err := desk{still.Store}.Within(t.Context(), asyncop.Intake{Node: "still"}, []string{"acme"}, func(ctx context.Context, tx asyncop.Transaction) ([]asyncop.Claim, error) {
		if _, err := tx.Running(ctx, nil); err != nil {
			return nil, err
		}
		go func() { claimed <- len(n.claim(t, 1, asyncop.Room{})) }()
		if got := <-claimed; got != 1 {
			t.Errorf("%d claims, want 1", got)
		}
		_, err := tx.Candidates(ctx, []asyncop.Turn{{Backlog: backlog("acme", "issuer", "ada", ""), Most: 1}})
		return nil, err
	})
	if err == nil {
		t.Error("the transaction outlived its locks")
	}
}
