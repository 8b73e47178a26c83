package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"asyncgate/internal/asyncop"
	"asyncgate/internal/auth"
	"asyncgate/internal/executor"
)

// The ids of ada's operations, by what they are.
const (
	queuedID    = "01890a5d-ac96-774b-bcce-b302099a8001"
	runningID   = "01890a5d-ac96-774b-bcce-b302099a8002"
	succeededID = "01890a5d-ac96-774b-bcce-b302099a8003"
	failedID    = "01890a5d-ac96-774b-bcce-b302099a8004" // without an envelope
	purgedID    = "01890a5d-ac96-774b-bcce-b302099a8005"
	soonID      = "01890a5d-ac96-774b-bcce-b302099a8006" // succeeds for who waits
	awayID      = "01890a5d-ac96-774b-bcce-b302099a8007" // the store is away
	nobodysID   = "01890a5d-ac96-774b-bcce-b302099a8009"
)

// scriptedOperations are ada's.
type scriptedOperations map[string]asyncop.Operation

func newScriptedOperations() scriptedOperations {
	finished := time.Date(2030, 1, 31, 12, 0, 0, 0, time.UTC)
	all := scriptedOperations{
		queuedID:    {State: asyncop.Queued, Revision: 1},
		runningID:   {State: asyncop.Running, Revision: 2, Attempts: 1},
		soonID:      {State: asyncop.Running, Revision: 2, Attempts: 1},
		succeededID: {State: asyncop.Succeeded, Revision: 3, Result: json.RawMessage(awkward)},
		failedID: {State: asyncop.Failed, Revision: 3, Failure: &asyncop.Failure{
			Code: asyncop.CodeTimeout, Message: "It took too long.", Execution: asyncop.UnknownExecution,
		}},
		purgedID: {State: asyncop.Succeeded, Revision: 4, Purged: true},
	}
	for id, op := range all {
		op.ID, op.Issuer, op.Subject, op.Tenant = uuid.MustParse(id), "https://id.test", "ada", "acme"
		op.Document, op.Mutations, op.MaxAttempts = "mutation { run }", []string{"run"}, 5
		op.CreatedAt = time.Now().Add(-6 * time.Second) // pollAfterMs is 1500
		op.NotBefore, op.StartBefore = op.CreatedAt, op.CreatedAt.Add(time.Hour)
		if op.Done() {
			op.FinishedAt = &finished
		}
		all[id] = op
	}
	return all
}

func (s scriptedOperations) Get(ctx context.Context, id uuid.UUID, waitMs *int) (asyncop.Operation, error) {
	caller, err := auth.FromContext(ctx)
	if err != nil {
		return asyncop.Operation{}, err
	}
	op, ok := s[id.String()]
	switch {
	case id.String() == awayID:
		return asyncop.Operation{}, fmt.Errorf("secret-cause: %w", executor.ErrUnavailable)
	case !ok, caller.Subject != "ada":
		return asyncop.Operation{}, asyncop.ErrNotFound
	case waitMs != nil && (*waitMs < 0 || *waitMs > 60_000):
		return asyncop.Operation{}, errors.New("the wait is out of bounds")
	case waitMs != nil && *waitMs > 0 && id.String() == soonID:
		return s[succeededID], nil
	}
	return op, nil
}

func (s scriptedOperations) Cancel(ctx context.Context, id uuid.UUID) (asyncop.Cancellation, error) {
	op, err := s.Get(ctx, id, nil)
	if err != nil {
		return asyncop.Cancellation{}, err
	}
	outcome := asyncop.AlreadyDone
	switch op.State {
	case asyncop.Queued:
		outcome, op.State = asyncop.CancelledNow, asyncop.Cancelled
	case asyncop.Running:
		outcome, op.CancellationRequested = asyncop.CancelRequested, true
	}
	return asyncop.Cancellation{Outcome: outcome, Operation: op}, nil
}

// Submit answers by the request's script, and Replay only for keys that are
// known.
func (s scriptedOperations) Submit(ctx context.Context, r executor.Request) (asyncop.Operation, error) {
	_, script, _ := strings.Cut(r.Document, " ")
	switch script {
	case "allowed refused":
		return asyncop.Operation{}, &executor.RefusalError{Code: "GRAPHQL_VALIDATION_FAILED", Message: "n is no Int"}
	case "allowed quota":
		return asyncop.Operation{}, &executor.RefusalError{Code: codeQuotaExceeded, Message: "too many"}
	}
	if r.IdempotencyKey != nil && *r.IdempotencyKey == "reused" {
		return asyncop.Operation{}, asyncop.ErrKeyReused
	}
	id, ok := map[string]string{
		"allowed runs": runningID, "allowed soon": soonID, "allowed fails": failedID,
		"allowed purged": purgedID, "allowed done": succeededID, "allowed away": awayID,
	}[script]
	if !ok {
		return asyncop.Operation{}, fmt.Errorf("secret-cause: %s was submitted", r.Document)
	}
	op, err := s.Get(ctx, uuid.MustParse(id), r.WaitMs)
	if r.IdempotencyKey != nil {
		op.IdempotencyKey = *r.IdempotencyKey
	}
	op.Document, op.OperationName, op.Variables = r.Document, *r.OperationName, r.Variables
	return op, err
}

func (s scriptedOperations) Replay(ctx context.Context, r executor.Request) (asyncop.Operation, error) {
	switch *r.IdempotencyKey {
	case "known":
		return s.Get(ctx, uuid.MustParse(succeededID), r.WaitMs)
	case "away":
		return asyncop.Operation{}, fmt.Errorf("secret-cause: %w", executor.ErrUnavailable)
	case "reused":
		return asyncop.Operation{}, asyncop.ErrKeyReused
	}
	return asyncop.Operation{}, asyncop.ErrNotFound
}
