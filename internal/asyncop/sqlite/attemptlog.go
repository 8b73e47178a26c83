package sqlite

import (
	"encoding/json"
	"slices"

	"asyncgate/internal/asyncop"
)

// attempt is an entry of the attempt_log column. claim.sql appends it; the
// statements that end an attempt complete it.
type attempt struct {
	StartedAt  int64             `json:"started_at"`
	FinishedAt *int64            `json:"finished_at"`
	Node       string            `json:"node"`
	Code       asyncop.Code      `json:"code"`
	Execution  asyncop.Execution `json:"execution"`
}

// readAttemptLog reads the column and keeps its first and its last entries: it
// may hold one too many.
func readAttemptLog(column []byte) ([]asyncop.Attempt, error) {
	var stored []attempt
	if err := json.Unmarshal(column, &stored); err != nil {
		return nil, err
	}
	if excess := len(stored) - asyncop.AttemptLogHead - asyncop.AttemptLogTail; excess > 0 {
		stored = slices.Delete(stored, asyncop.AttemptLogHead, asyncop.AttemptLogHead+excess)
	}
	var log []asyncop.Attempt
	for _, a := range stored {
		entry := asyncop.Attempt{StartedAt: instant(a.StartedAt), Node: a.Node, Code: a.Code, Execution: a.Execution}
		if a.FinishedAt != nil {
			entry.FinishedAt = new(instant(*a.FinishedAt))
		}
		log = append(log, entry)
	}
	return log, nil
}
