package asyncop_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"asyncgate/internal/asyncop"
)

func TestPollAfterGrowsWithAgeWithinBounds(t *testing.T) {
	t.Parallel()
	created := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	op := asyncop.Operation{State: asyncop.Running, CreatedAt: created, NotBefore: created}
	last := time.Duration(0)
	for age := -time.Minute; age < time.Hour; age += 100 * time.Millisecond {
		got := op.PollAfter(created.Add(age))
		if age >= 0 && got < last {
			t.Fatalf("it falls from %s to %s at %s", last, got, age)
		}
		if last = got; got < 500*time.Millisecond || got > 10*time.Second {
			t.Fatalf("%s at %s", got, age)
		}
	}
	if last != 10*time.Second {
		t.Errorf("it ends at %s", last)
	}
}

func TestPollAfterReachesTheScheduledInstant(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	op := asyncop.Operation{State: asyncop.Queued, CreatedAt: now.Add(-time.Hour)}
	for in, want := range map[time.Duration]time.Duration{
		time.Hour: 10 * time.Second, 3 * time.Second: 3 * time.Second,
		time.Millisecond: 500 * time.Millisecond, -time.Second: 500 * time.Millisecond,
	} {
		op.NotBefore = now.Add(in)
		if got := op.PollAfter(now); got != want {
			t.Errorf("due in %s: %s, want %s", in, got, want)
		}
	}
}

func TestADoneOperationIsNotPolled(t *testing.T) {
	t.Parallel()
	if after := (asyncop.Operation{State: asyncop.Failed}).PollAfter(time.Now()); after != 0 {
		t.Errorf("after %s", after)
	}
}

func TestRetryableIsWhatCannotDoTheWorkTwice(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		op   asyncop.Operation
		want bool
	}{
		"Idempotent":        {asyncop.Operation{Idempotent: true, State: asyncop.Failed, Execution: asyncop.Executed}, true},
		"NeverReached":      {asyncop.Operation{State: asyncop.Failed, Execution: asyncop.NotExecuted}, true},
		"CancelledInTime":   {asyncop.Operation{State: asyncop.Cancelled, Execution: asyncop.NotExecuted}, true},
		"PerhapsReached":    {asyncop.Operation{State: asyncop.Failed, Execution: asyncop.UnknownExecution}, false},
		"Executed":          {asyncop.Operation{State: asyncop.Failed, Execution: asyncop.Executed}, false},
		"MayStillBeReached": {asyncop.Operation{State: asyncop.Queued, Execution: asyncop.NotExecuted}, false},
	} {
		if got := c.op.Retryable(); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestALoggedOperationHidesWhatItCarries(t *testing.T) {
	t.Parallel()
	const canary = "correct horse battery staple"
	op := asyncop.Operation{
		ID: uuid.New(), State: asyncop.Running, Mutations: []string{"pay"}, Attempts: 2,
		Document: canary, Variables: json.RawMessage(canary), Result: json.RawMessage(canary),
		Label: canary, OperationName: canary, IdempotencyKey: canary, Subject: canary,
		Failure: &asyncop.Failure{Message: canary},
	}
	var text bytes.Buffer
	slog.New(slog.NewJSONHandler(&text, nil)).Info("told", "operation", op)
	if line := text.String(); strings.Contains(line, canary) {
		t.Errorf("logged %s", line)
	}
	want := `"operation":{"id":"` + op.ID.String() + `","mutations":["pay"],"state":"RUNNING","attempt":2}`
	if !strings.Contains(text.String(), want) {
		t.Errorf("logged %s, want %s", text.String(), want)
	}
}
