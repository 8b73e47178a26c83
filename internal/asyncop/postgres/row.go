package postgres

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"asyncgate/internal/asyncop"
)

// scanOperation scans the columns that every statement answering operations
// lists, in the same order, and then those of its own into more.
func scanOperation(row pgx.CollectableRow, more ...any) (asyncop.Operation, error) {
	var (
		op                                                 asyncop.Operation
		variables, key, result, failureCode, message, node *string
		log                                                []byte
	)
	err := row.Scan(append([]any{
		&op.ID, &op.State, &op.Revision, &op.Tenant, &op.Issuer, &op.Subject, &op.Mutations, &op.OperationName,
		&op.Document, &variables, &op.Label, &op.Idempotent, &key, &op.RetryOf, &op.Priority,
		&op.Attempts, &op.MaxAttempts, &op.Execution, &op.CancellationRequested, &result, &failureCode,
		&message, &log, &op.Purged, &op.CreatedAt, &op.NotBefore, &op.StartBefore,
		&op.StartedAt, &op.FinishedAt, &node,
	}, more...)...)
	if err != nil {
		return asyncop.Operation{}, err
	}
	op.Variables, op.Result = raw(variables), raw(result)
	if key != nil {
		op.IdempotencyKey = *key
	}
	if failureCode != nil && op.State != asyncop.Running { // kept for a release, hidden while it runs
		op.Failure = &asyncop.Failure{Code: asyncop.Code(*failureCode), Message: *message, Execution: op.Execution}
	}
	inUTC(&op)
	op.AttemptLog, err = readLog(log)
	if node != nil {
		op.AttemptLog = appendRunning(op.AttemptLog, *op.StartedAt, *node)
	}
	return op, err
}

func operation(row pgx.CollectableRow) (asyncop.Operation, error) { return scanOperation(row) }

func raw(text *string) json.RawMessage {
	if text == nil {
		return nil
	}
	return json.RawMessage(*text)
}

func inUTC(op *asyncop.Operation) {
	for _, t := range []*time.Time{&op.CreatedAt, &op.NotBefore, &op.StartBefore, op.StartedAt, op.FinishedAt} {
		if t != nil {
			*t = t.UTC()
		}
	}
}

// loggedAttempt is an entry of attempt_log, as async_logged writes it.
type loggedAttempt struct {
	StartedAt  time.Time         `json:"started_at"`
	FinishedAt time.Time         `json:"finished_at"`
	Node       string            `json:"node"`
	Code       asyncop.Code      `json:"code"`
	Execution  asyncop.Execution `json:"execution"`
}

func readLog(text []byte) ([]asyncop.Attempt, error) {
	var logged []loggedAttempt
	if err := json.Unmarshal(text, &logged); err != nil {
		return nil, fmt.Errorf("read attempt log: %w", err)
	}
	var log []asyncop.Attempt
	for _, l := range logged {
		finished := l.FinishedAt.UTC()
		log = append(log, asyncop.Attempt{
			StartedAt: l.StartedAt.UTC(), FinishedAt: &finished,
			Node: l.Node, Code: l.Code, Execution: l.Execution,
		})
	}
	return log, nil
}

// appendRunning adds the attempt that runs now, for which the oldest of the
// log's last ones makes room.
func appendRunning(log []asyncop.Attempt, started time.Time, node string) []asyncop.Attempt {
	if len(log) >= asyncop.AttemptLogHead+asyncop.AttemptLogTail {
		log = slices.Delete(log, asyncop.AttemptLogHead, asyncop.AttemptLogHead+1)
	}
	return append(log, asyncop.Attempt{StartedAt: started, Node: node})
}
