package postgres

import (
	"slices"
	"testing"

	"github.com/google/uuid"
)

func TestPayloadsFitAndComeBack(t *testing.T) {
	t.Parallel()
	sent := wakes{due: true, missed: true}
	for range 3*idsPerPayload + 1 {
		sent.changed = append(sent.changed, uuid.New())
	}
	var got wakes
	for _, payload := range payloads(newTag(), sent) {
		if len(payload) >= 8000 {
			t.Errorf("a payload of %d bytes", len(payload))
		}
		_, kind, ids := parsePayload(payload)
		got.due = got.due || kind == kindDue
		got.missed = got.missed || kind == kindMissed
		got.changed = append(got.changed, ids...)
	}
	if !got.due || !got.missed || !slices.Equal(got.changed, sent.changed) {
		t.Errorf("due %v, missed %v, %d of %d ids", got.due, got.missed, len(got.changed), len(sent.changed))
	}
}

func TestFullHintsBecomeMissed(t *testing.T) {
	t.Parallel()
	h := newHints()
	for range 3 {
		h.add(wakes{changed: make([]uuid.UUID, hintLimit/2+1)})
	}
	taken := h.take()
	if !taken.missed || len(taken.changed) > hintLimit {
		t.Errorf("missed %v with %d ids", taken.missed, len(taken.changed))
	}
	if again := h.take(); again.missed || again.due || len(again.changed) > 0 {
		t.Errorf("taken twice: %+v", again)
	}
}

func FuzzParsePayload(f *testing.F) {
	f.Add("tag c " + uuid.Nil.String())
	f.Add("tag d")
	f.Fuzz(func(t *testing.T, payload string) {
		tag, kind, ids := parsePayload(payload)
		if len(ids) > 0 && (kind != kindChanged && kind != kindEcho || len(tag)+len(ids) > len(payload)) {
			t.Fatalf("read %q, %q and %d ids from %q", tag, kind, len(ids), payload)
		}
	})
}
