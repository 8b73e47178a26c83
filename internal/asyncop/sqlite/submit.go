package sqlite

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"time"

	"asyncgate/internal/asyncop"
)

var (
	//go:embed queries/submit.sql
	submitSQL string
	//go:embed queries/keyed.sql
	keyedSQL string
)

// Submit implements asyncop.Store. A submission that the schema refuses has
// its own error among the answers.
func (s *Store) Submit(ctx context.Context, batch []asyncop.Submission) ([]asyncop.Submitted, error) {
	if len(batch) == 0 {
		return nil, nil
	}
	submitted := make([]asyncop.Submitted, len(batch))
	err := s.write(ctx, func(ctx context.Context, tx transaction) (err error) {
		for i, submission := range batch {
			if submitted[i], err = tx.submit(ctx, submission); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("submit operations: %w", err)
	}
	for i, one := range submitted {
		if op := one.Operation; one.Err == nil && !one.Replayed {
			s.queued(asyncop.Backlog{Submitter: op.Submitter(), Lane: batch[i].Lane}, op.NotBefore.UnixMicro())
		}
	}
	return submitted, nil
}

// submit makes one row, or answers the one that its key stands for.
func (t transaction) submit(ctx context.Context, s asyncop.Submission) (asyncop.Submitted, error) {
	v, err := submissionValues(s, now())
	if err != nil {
		return asyncop.Submitted{}, err
	}
	var id string
	err = t.queryRow(ctx, submitSQL, v).Scan(&id)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return t.replay(ctx, s)
	case refused(err):
		return asyncop.Submitted{Err: fmt.Errorf("submit operation: %w", err)}, nil
	case err != nil:
		return asyncop.Submitted{}, err
	}
	operation, err := scanOperation(t.queryRow(ctx, getSQL, scopeless(id)))
	return asyncop.Submitted{Operation: operation}, err
}

// replay answers the operation that holds the key of s.
func (t transaction) replay(ctx context.Context, s asyncop.Submission) (asyncop.Submitted, error) {
	submitter := asyncop.SubmitterScope(s.Tenant, s.Issuer, s.Subject)
	operation, err := replay(ctx, t, submitter, s.IdempotencyKey, s.Fingerprint)
	if errors.Is(err, asyncop.ErrKeyReused) {
		return asyncop.Submitted{Err: err}, nil
	}
	return asyncop.Submitted{Operation: operation, Replayed: true}, err
}

func submissionValues(s asyncop.Submission, now int64) (values, error) {
	mutations, err := jsonList(s.Mutations)
	if err != nil {
		return nil, err
	}
	notBefore, startBefore := schedule(s, now)
	v := values{
		"id": s.ID.String(), "tenant": s.Tenant, "issuer": s.Issuer, "subject": s.Subject,
		"authority": string(s.Authority), "mutations": mutations, "operation_name": s.OperationName,
		"document": s.Document, "variables": text(s.Variables), "label": s.Label,
		"idempotent": s.Idempotent, "idempotency_key": nil, "fingerprint": s.Fingerprint[:],
		"priority": s.Priority, "max_attempts": s.MaxAttempts,
		"now": now, "not_before": notBefore, "start_before": startBefore,
		"trace_context": s.TraceContext, "retry_of": nil, "lane": s.Lane,
	}
	if s.IdempotencyKey != "" {
		v["idempotency_key"] = s.IdempotencyKey
	}
	if s.RetryOf != nil {
		v["retry_of"] = s.RetryOf.String()
	}
	return v, nil
}

// schedule answers when s is due, and by when it must have started.
func schedule(s asyncop.Submission, now int64) (notBefore, startBefore int64) {
	notBefore = now
	if s.NotBefore != nil {
		notBefore = s.NotBefore.UnixMicro()
	}
	if s.StartBefore != nil {
		return notBefore, s.StartBefore.UnixMicro()
	}
	return notBefore, max(now, notBefore) + int64(s.StartWithin/time.Microsecond)
}
