package storetest

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"asyncgate/internal/asyncop"
)

var keyRules = map[string]rule{
	"TheSameIsReplayedAsItIsNow":      sameIsReplayed,
	"ADifferentFingerprintIsRefused":  differentFingerprint,
	"TwoEqualKeysInOneBatchAreOneRow": equalKeysInOneBatch,
	"ConcurrentDuplicatesAreOneRow":   concurrentDuplicates,
	"AnotherSubmittersKeyIsFree":      anotherSubmittersKey,
	"ASweptKeyIsFreeAgain":            sweptKey,
	"AReplayFailsNoNeighbour":         replayFailsNoNeighbour,
	"OppositeBatchesDoNotDeadlock":    oppositeBatches,
	"ReplayFindsTheKey":               replayFindsKey,
}

func sameIsReplayed(t *testing.T, f fixture) {
	first := f.submit(t, keyed)
	f.finish(t, f.claimOne(t), asyncop.Succeed(envelope))
	again := f.submitAll(t, submission(keyed))[0]
	if again.Err != nil || !again.Replayed {
		t.Fatalf("replayed %v, %v", again.Replayed, again.Err)
	}
	expect(t, "replayed", again.Operation, f.get(t, first.ID))
	expect(t, "state", again.Operation.State, asyncop.Succeeded)
	if claims := f.claim(t, node, 1); len(claims) != 0 {
		t.Error("a replay made a second row")
	}
}

func differentFingerprint(t *testing.T, f fixture) {
	f.submit(t, keyed)
	again := f.submitAll(t, submission(keyed, otherPrint))[0]
	if !errors.Is(again.Err, asyncop.ErrKeyReused) {
		t.Errorf("got %v, want ErrKeyReused", again.Err)
	}
}

func equalKeysInOneBatch(t *testing.T, f fixture) {
	submitted := f.submitAll(t, submission(keyed), submission(keyed), submission(keyed, otherPrint))
	same, replays, reused := map[uuid.UUID]bool{}, 0, 0
	for _, s := range submitted {
		switch {
		case errors.Is(s.Err, asyncop.ErrKeyReused):
			reused++
			continue
		case s.Err != nil:
			t.Fatal(s.Err)
		case s.Replayed:
			replays++
		}
		same[s.Operation.ID] = true
	}
	// Which of them wins is the store's choice: the pair, or the odd one.
	if len(same) != 1 || (replays != 1 || reused != 1) && (replays != 0 || reused != 2) {
		t.Errorf("%d operations, %d replays, %d reused", len(same), replays, reused)
	}
	if claims := f.claim(t, node, 10); len(claims) != 1 {
		t.Errorf("%d rows, want 1", len(claims))
	}
}

func concurrentDuplicates(t *testing.T, f fixture) {
	const clients = 32
	answers := make([]asyncop.Submitted, clients)
	var wg sync.WaitGroup
	for i := range clients {
		wg.Go(func() {
			submitted, err := f.store.Submit(t.Context(), []asyncop.Submission{submission(keyed)})
			if err != nil {
				t.Errorf("submit: %v", err)
				return
			}
			answers[i] = submitted[0]
		})
	}
	wg.Wait()
	fresh := 0
	for _, answer := range answers {
		if answer.Err != nil {
			t.Fatal(answer.Err)
		}
		if !answer.Replayed {
			fresh++
		}
		expect(t, "id", answer.Operation.ID, answers[0].Operation.ID)
	}
	expect(t, "fresh ones", fresh, 1)
}

func anotherSubmittersKey(t *testing.T, f fixture) {
	first := f.submit(t, keyed)
	for name, other := range map[string]func(*asyncop.Submission){"subject": ofGrace, "tenant": ofGlobex, "issuer": ofOtherIDP} {
		again := f.submitAll(t, submission(keyed, other))[0]
		if again.Err != nil || again.Replayed || again.Operation.ID == first.ID {
			t.Errorf("another %s: replayed %v, %v", name, again.Replayed, again.Err)
		}
	}
}

func sweptKey(t *testing.T, f fixture) {
	first := f.submit(t, keyed)
	f.cancel(t, first.ID)
	f.sweepUntil(t, asyncop.Retention{Result: time.Hour, Operation: time.Microsecond}, asyncop.Swept{Deleted: 1})
	again := f.submitAll(t, submission(keyed, otherPrint))[0]
	if again.Err != nil || again.Replayed {
		t.Errorf("replayed %v, %v", again.Replayed, again.Err)
	}
}

func replayFailsNoNeighbour(t *testing.T, f fixture) {
	f.submit(t, keyed)
	submitted := f.submitAll(t, submission(), submission(keyed), submission(keyed, otherPrint), submission())
	for _, i := range []int{0, 3} {
		if submitted[i].Err != nil || submitted[i].Replayed {
			t.Errorf("neighbour %d: replayed %v, %v", i, submitted[i].Replayed, submitted[i].Err)
		}
	}
	if !submitted[1].Replayed || !errors.Is(submitted[2].Err, asyncop.ErrKeyReused) {
		t.Errorf("replay: %+v, reuse: %v", submitted[1].Replayed, submitted[2].Err)
	}
}

func oppositeBatches(t *testing.T, f fixture) {
	batch := func(reverse bool) []asyncop.Submission {
		batch := make([]asyncop.Submission, 20)
		for i := range batch {
			place := i
			if reverse {
				place = len(batch) - 1 - i
			}
			batch[place] = submission(keyed)
			batch[place].IdempotencyKey += string(rune('a' + i))
		}
		return batch
	}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			if _, err := f.store.Submit(t.Context(), batch(i%2 == 0)); err != nil {
				t.Errorf("submit: %v", err)
			}
		})
	}
	wg.Wait()
	if claims := f.claim(t, node, 100); len(claims) != 20 {
		t.Errorf("%d rows, want 20", len(claims))
	}
}

func replayFindsKey(t *testing.T, f fixture) {
	s := submission(keyed)
	f.submitAll(t, s)
	op, err := f.store.Replay(t.Context(), ada, s.IdempotencyKey, s.Fingerprint)
	if err != nil {
		t.Fatal(err)
	}
	expect(t, "replayed", op, f.get(t, s.ID))

	if _, err := f.store.Replay(t.Context(), ada, s.IdempotencyKey, submission(otherPrint).Fingerprint); !errors.Is(err, asyncop.ErrKeyReused) {
		t.Errorf("another fingerprint: %v, want ErrKeyReused", err)
	}
	strangers := map[string]asyncop.Scope{
		"subject": asyncop.SubmitterScope(tenant, issuer, "grace"),
		"tenant":  asyncop.SubmitterScope("globex", issuer, subject),
		"issuer":  asyncop.SubmitterScope(tenant, "https://other.example/", subject),
		"nothing": {},
	}
	for name, scope := range strangers {
		if _, err := f.store.Replay(t.Context(), scope, s.IdempotencyKey, s.Fingerprint); !errors.Is(err, asyncop.ErrNotFound) {
			t.Errorf("another %s: %v, want ErrNotFound", name, err)
		}
	}
	if _, err := f.store.Replay(t.Context(), ada, "key-2", s.Fingerprint); !errors.Is(err, asyncop.ErrNotFound) {
		t.Errorf("a free key: %v, want ErrNotFound", err)
	}
}
