package sqlite

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"asyncgate/internal/asyncop"
)

// row is what get.sql answers, where the column's form is not the field's.
type row struct {
	operation                       asyncop.Operation
	mutations, attemptLog           []byte
	variables, result               sql.Null[[]byte]
	key, failureCode, failureText   sql.Null[string]
	retryOf                         sql.Null[uuid.UUID]
	createdAt, notBefore, startedBy int64
	startedAt, finishedAt           sql.Null[int64]
}

// scanOperation reads what get.sql answers. Errors: asyncop.ErrNotFound.
func scanOperation(answer *sql.Row) (asyncop.Operation, error) {
	var r row
	o := &r.operation
	err := answer.Scan(
		&o.ID, &o.State, &o.Revision, &o.Tenant, &o.Issuer, &o.Subject,
		&r.mutations, &o.OperationName, &o.Document, &r.variables, &o.Label,
		&o.Idempotent, &r.key, &r.retryOf,
		&o.Priority, &o.Attempts, &o.MaxAttempts, &o.Execution,
		&o.CancellationRequested, &r.result, &r.failureCode, &r.failureText, &r.attemptLog, &o.Purged,
		&r.createdAt, &r.notBefore, &r.startedBy, &r.startedAt, &r.finishedAt)
	if errors.Is(err, sql.ErrNoRows) {
		return asyncop.Operation{}, asyncop.ErrNotFound
	}
	if err != nil {
		return asyncop.Operation{}, err
	}
	return r.complete()
}

// complete gives the columns the form of the operation's fields.
func (r *row) complete() (asyncop.Operation, error) {
	o := r.operation
	if err := json.Unmarshal(r.mutations, &o.Mutations); err != nil {
		return asyncop.Operation{}, fmt.Errorf("read mutations of %s: %w", o.ID, err)
	}
	log, err := readAttemptLog(r.attemptLog)
	if err != nil {
		return asyncop.Operation{}, fmt.Errorf("read attempt log of %s: %w", o.ID, err)
	}
	o.AttemptLog = log
	o.Variables, o.Result = r.variables.V, r.result.V
	o.IdempotencyKey = r.key.V
	if r.retryOf.Valid {
		o.RetryOf = &r.retryOf.V
	}
	// A RUNNING row keeps the failure before its attempt for Release alone.
	if r.failureCode.Valid && o.State != asyncop.Running {
		o.Failure = &asyncop.Failure{Code: asyncop.Code(r.failureCode.V), Message: r.failureText.V, Execution: o.Execution}
	}
	o.CreatedAt, o.NotBefore, o.StartBefore = instant(r.createdAt), instant(r.notBefore), instant(r.startedBy)
	if r.startedAt.Valid {
		o.StartedAt = new(instant(r.startedAt.V))
	}
	if r.finishedAt.Valid {
		o.FinishedAt = new(instant(r.finishedAt.V))
	}
	return o, nil
}

func instant(micros int64) time.Time { return time.UnixMicro(micros).UTC() }

// text binds JSON as the text that it is; nil is null.
func text(raw json.RawMessage) any {
	if raw == nil {
		return nil
	}
	return string(raw)
}

// jsonList binds a list as JSON, for json_each.
func jsonList[T any](items []T) (string, error) {
	raw, err := json.Marshal(items)
	return string(raw), err
}
