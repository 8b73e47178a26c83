package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"asyncgate/internal/asyncop"
)

// settlement is a statement that ends claims, and how a batch of T becomes its
// arguments.
type settlement[T any] struct {
	sql   string
	claim func(T) asyncop.ClaimRef
	// args are the arguments that follow the claims' ids and tokens.
	args func([]T) []any
}

// Finish ends operations under their claims; see asyncop.Store.
func (s *Store) Finish(ctx context.Context, batch []asyncop.Finished) ([]asyncop.Settled, error) {
	fates, err := settle(ctx, s, batch, settlement[asyncop.Finished]{
		sql:   finishSQL,
		claim: func(f asyncop.Finished) asyncop.ClaimRef { return f.Claim },
		args:  finishColumns,
	})
	if err != nil {
		return nil, fmt.Errorf("finish operations: %w", err)
	}
	return fates, nil
}

// Retry gives operations back after a failed attempt; see asyncop.Store.
func (s *Store) Retry(ctx context.Context, batch []asyncop.Retried) ([]asyncop.Settled, error) {
	fates, err := settle(ctx, s, batch, settlement[asyncop.Retried]{
		sql:   retrySQL,
		claim: func(r asyncop.Retried) asyncop.ClaimRef { return r.Claim },
		args:  retryColumns,
	})
	if err != nil {
		return nil, fmt.Errorf("retry operations: %w", err)
	}
	return fates, nil
}

// Release gives claims back as though they had never been; see asyncop.Store.
func (s *Store) Release(ctx context.Context, claims []asyncop.ClaimRef) ([]asyncop.Settled, error) {
	fates, err := settle(ctx, s, claims, settlement[asyncop.ClaimRef]{
		sql:   releaseSQL,
		claim: func(c asyncop.ClaimRef) asyncop.ClaimRef { return c },
		args:  func([]asyncop.ClaimRef) []any { return []any{asyncop.MessageCancelled} },
	})
	if err != nil {
		return nil, fmt.Errorf("release claims: %w", err)
	}
	return fates, nil
}

// settle ends the claims of a batch. A claim named twice is settled once, and
// lost the second time.
func settle[T any](ctx context.Context, s *Store, batch []T, by settlement[T]) ([]asyncop.Settled, error) {
	fates := make([]asyncop.Settled, len(batch))
	named := make(map[asyncop.ClaimRef]bool, len(batch))
	var places []int
	for i, item := range batch {
		fates[i].Err = asyncop.ErrClaimLost
		if ref := by.claim(item); !named[ref] {
			named[ref] = true
			places = append(places, i)
		}
	}
	settled, err := inPieces(column(places, func(i int) T { return batch[i] }), func(piece []T) ([]asyncop.Settled, error) {
		return settlePiece(ctx, s, piece, by)
	}, func(refused error) asyncop.Settled {
		return asyncop.Settled{Err: fmt.Errorf("settle claim: %w", refused)}
	})
	if err != nil {
		return nil, err
	}
	for n, i := range places {
		fates[i] = settled[n]
	}
	return fates, nil
}

// settledRow is what the statements that end claims answer.
type settledRow struct {
	ID, Token uuid.UUID
	State     asyncop.State
	Tenant    string
	Issuer    string
	Subject   string
	Lane      string
	Wait      int64 // microseconds until it is due, if it is QUEUED
}

func (r settledRow) backlog() asyncop.Backlog {
	return asyncop.Backlog{Submitter: asyncop.Submitter{Tenant: r.Tenant, Issuer: r.Issuer, Subject: r.Subject}, Lane: r.Lane}
}

func settlePiece[T any](ctx context.Context, s *Store, piece []T, by settlement[T]) ([]asyncop.Settled, error) {
	claims := column(piece, by.claim)
	args := append([]any{column(claims, claimID), column(claims, claimToken)}, by.args(piece)...)
	rows, err := query(ctx, s, pgx.RowToStructByPos[settledRow], by.sql, args...)
	if err != nil {
		return nil, err
	}
	became := make(map[asyncop.ClaimRef]asyncop.State, len(rows))
	for _, r := range rows {
		became[asyncop.ClaimRef{ID: r.ID, Token: r.Token}] = r.State
		s.turns.Freed(r.Tenant)
		if r.State == asyncop.Queued {
			s.queued(r.backlog(), time.Duration(r.Wait)*time.Microsecond)
		}
	}
	s.tellChanged(column(rows, func(r settledRow) uuid.UUID { return r.ID }))
	return column(claims, func(c asyncop.ClaimRef) asyncop.Settled {
		if state, ok := became[c]; ok {
			return asyncop.Settled{State: state}
		}
		return asyncop.Settled{Err: asyncop.ErrClaimLost}
	}), nil
}

// finishColumns are the arguments $3 to $7 of finish.sql.
func finishColumns(batch []asyncop.Finished) []any {
	failed := func(of func(asyncop.Failure) string) []*string {
		return column(batch, func(f asyncop.Finished) *string {
			failure := f.Outcome.Failure()
			if failure == nil {
				return nil
			}
			text := of(*failure)
			return &text
		})
	}
	return []any{
		column(batch, func(f asyncop.Finished) string { return string(f.Outcome.State()) }),
		column(batch, func(f asyncop.Finished) *string { return jsonOrNull(f.Outcome.Result()) }),
		failed(func(f asyncop.Failure) string { return string(f.Code) }),
		failed(func(f asyncop.Failure) string { return f.Message }),
		column(batch, func(f asyncop.Finished) int16 { return int16(f.Outcome.Execution()) }),
	}
}

// retryColumns are the arguments $3 to $8 of retry.sql.
func retryColumns(batch []asyncop.Retried) []any {
	return []any{
		column(batch, func(r asyncop.Retried) string { return string(r.Failure.Code) }),
		column(batch, func(r asyncop.Retried) string { return r.Failure.Message }),
		column(batch, func(r asyncop.Retried) int16 { return int16(r.Failure.Execution) }),
		column(batch, func(r asyncop.Retried) int64 { return max(r.After, 0).Microseconds() }),
		column(batch, func(r asyncop.Retried) bool { return r.Uncounted }),
		asyncop.MessageCancelled,
	}
}
