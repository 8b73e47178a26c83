package sqlite

import (
	"encoding/json"
	"fmt"
	"testing"

	"asyncgate/internal/asyncop"
)

// One operation a b.N, in batches as large as the name says.
func BenchmarkSubmitClaimFinish(b *testing.B) {
	for _, size := range []int{1, 10, 100} {
		b.Run(fmt.Sprintf("batch=%d", size), func(b *testing.B) {
			store := fresh(b, Options{})
			beat(b, store)
			for done := 0; b.Loop(); done++ {
				if done%size == 0 {
					runBatch(b, store, size)
				}
			}
		})
	}
}

func runBatch(b *testing.B, store *Store, size int) {
	b.Helper()
	batch := make([]asyncop.Submission, size)
	for i := range batch {
		batch[i] = submission()
	}
	if _, err := store.Submit(b.Context(), batch); err != nil {
		b.Fatal(err)
	}
	claimed, err := store.Claim(b.Context(), asyncop.Intake{Node: node, Limit: size, Look: true})
	claims := claimed.Claims
	if err != nil || len(claims) != size {
		b.Fatalf("%d claims, %v", len(claims), err)
	}
	finished := make([]asyncop.Finished, size)
	for i, claim := range claims {
		finished[i] = asyncop.Finished{Claim: claim.Ref(), Outcome: asyncop.Succeed(json.RawMessage(`{"data":{"pay":{"id":"1"}}}`))}
	}
	if _, err := store.Finish(b.Context(), finished); err != nil {
		b.Fatal(err)
	}
}

// Point reads beside an idle writer.
func BenchmarkGet(b *testing.B) {
	store := fresh(b, Options{})
	op := submit(b, store)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := store.Get(b.Context(), asyncop.EverythingScope(), op.ID); err != nil {
			b.Fatal(err)
		}
	}
}
