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
	//go:embed queries/finish.sql
	finishSQL string
	//go:embed queries/retry.sql
	retrySQL string
	//go:embed queries/release.sql
	releaseSQL string
)

// settlement is the end of one claim: a statement guarded by its token.
type settlement struct {
	claim  asyncop.ClaimRef
	values values
}

// Finish implements asyncop.Store.
func (s *Store) Finish(ctx context.Context, batch []asyncop.Finished) ([]asyncop.Settled, error) {
	settlements := make([]settlement, len(batch))
	for i, f := range batch {
		settlements[i] = settlement{f.Claim, outcomeValues(f.Outcome)}
	}
	settled, err := s.settle(ctx, finishSQL, settlements)
	if err != nil {
		return nil, fmt.Errorf("finish operations: %w", err)
	}
	return settled, nil
}

// Retry implements asyncop.Store.
func (s *Store) Retry(ctx context.Context, batch []asyncop.Retried) ([]asyncop.Settled, error) {
	settlements := make([]settlement, len(batch))
	for i, r := range batch {
		settlements[i] = settlement{r.Claim, values{
			"failure_code": string(r.Failure.Code), "failure_message": r.Failure.Message,
			"execution": r.Failure.Execution, "after": int64(r.After / time.Microsecond), "uncounted": r.Uncounted,
		}.with(cancelledValues())}
	}
	settled, err := s.settle(ctx, retrySQL, settlements)
	if err != nil {
		return nil, fmt.Errorf("retry operations: %w", err)
	}
	return settled, nil
}

// Release implements asyncop.Store.
func (s *Store) Release(ctx context.Context, claims []asyncop.ClaimRef) ([]asyncop.Settled, error) {
	settlements := make([]settlement, len(claims))
	for i, claim := range claims {
		settlements[i] = settlement{claim, cancelledValues()}
	}
	settled, err := s.settle(ctx, releaseSQL, settlements)
	if err != nil {
		return nil, fmt.Errorf("release operations: %w", err)
	}
	return settled, nil
}

// settle applies one statement to each claim, in one transaction. A claim that
// is lost, or whose values the schema refuses, fails no other.
func (s *Store) settle(ctx context.Context, statement string, settlements []settlement) ([]asyncop.Settled, error) {
	if len(settlements) == 0 {
		return nil, nil
	}
	settled := make([]asyncop.Settled, len(settlements))
	var ended []given
	err := s.write(ctx, func(ctx context.Context, tx transaction) error {
		at := now()
		for i, one := range settlements {
			row, fate, err := tx.settle(ctx, statement, one, at)
			if err != nil {
				return err
			}
			if settled[i] = fate; fate.Err == nil {
				ended = append(ended, row)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	s.gave(ended)
	return settled, nil
}

func (t transaction) settle(ctx context.Context, statement string, one settlement, at int64) (given, asyncop.Settled, error) {
	v := claimValues(one.claim).with(values{"now": at}).with(one.values)
	row := given{id: one.claim.ID}
	err := t.queryRow(ctx, statement, v).Scan(row.into()...)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return row, asyncop.Settled{Err: asyncop.ErrClaimLost}, nil
	case refused(err):
		return row, asyncop.Settled{Err: fmt.Errorf("settle operation: %w", err)}, nil
	}
	return row, asyncop.Settled{State: row.state}, err
}

func outcomeValues(outcome asyncop.Outcome) values {
	v := values{
		"state": string(outcome.State()), "result": text(outcome.Result()), "execution": outcome.Execution(),
		"failure_code": nil, "failure_message": nil,
	}
	if failure := outcome.Failure(); failure != nil {
		v["failure_code"], v["failure_message"] = string(failure.Code), failure.Message
	}
	return v
}

// cancelledValues are the failure of what a requested cancellation ends.
func cancelledValues() values {
	failure := asyncop.Cancel(asyncop.NotExecuted).Failure()
	return values{"cancelled_code": string(failure.Code), "cancelled_message": failure.Message}
}
