package postgres_test

import (
	"encoding/json"
	"testing"

	"github.com/google/uuid"

	"asyncgate/internal/asyncop"
	"asyncgate/internal/asyncop/postgres"
	"asyncgate/test/pgtest"
)

// BenchmarkLife leads operations from submission to their end in batches of
// 100, with a backlog that is deep from the start.
func BenchmarkLife(b *testing.B) {
	const batchSize, backlog = 100, 20_000
	store, err := postgres.Open(b.Context(), pgtest.URL(b), postgres.Options{Migrate: true})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(store.Close)
	submit := func(n int) {
		batch := make([]asyncop.Submission, n)
		for i := range batch {
			batch[i] = submission()
			batch[i].IdempotencyKey = uuid.NewString()
		}
		if _, err := store.Submit(b.Context(), batch); err != nil {
			b.Fatal(err)
		}
	}
	for range backlog / batchSize {
		submit(batchSize)
	}
	if _, err := store.Heartbeat(b.Context(), "node", nil); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		submit(batchSize)
		claimed, err := store.Claim(b.Context(), asyncop.Intake{Node: "node", Limit: batchSize, Look: true})
		claims := claimed.Claims
		if err != nil || len(claims) != batchSize {
			b.Fatalf("%d claims, %v", len(claims), err)
		}
		finished := make([]asyncop.Finished, len(claims))
		for i, claim := range claims {
			finished[i] = asyncop.Finished{Claim: claim.Ref(), Outcome: asyncop.Succeed(json.RawMessage(`{"data":{"pay":true}}`))}
		}
		if _, err := store.Finish(b.Context(), finished); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N*batchSize)/b.Elapsed().Seconds(), "operations/s")
}
