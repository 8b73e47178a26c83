package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"asyncgate/internal/asyncop"
)

// Claim moves due rows from QUEUED to RUNNING; see asyncop.Store.
func (s *Store) Claim(ctx context.Context, intake asyncop.Intake) (asyncop.Claimed, error) {
	if intake.Limit <= 0 {
		return asyncop.Claimed{Left: true, Next: -1}, nil
	}
	if err := s.releaseUnheard(ctx); err != nil {
		return asyncop.Claimed{}, fmt.Errorf("release claims whose answer was lost: %w", err)
	}
	claimed, err := s.turns.Claim(ctx, intake, desk{s})
	if err != nil {
		return asyncop.Claimed{}, fmt.Errorf("claim operations: %w", err)
	}
	s.tellChanged(column(claimed.Claims, func(c asyncop.Claim) uuid.UUID { return c.Operation.ID }))
	return claimed, nil
}

// Heartbeat writes the node's row alone, however many claims it has, and reads
// their pulses in the same transaction.
func (s *Store) Heartbeat(ctx context.Context, node string, claims []asyncop.ClaimRef) ([]asyncop.Pulse, error) {
	type held struct {
		Place           int
		CancelRequested bool
	}
	found, err := queryAfter(ctx, s, pgx.RowToStructByPos[held],
		statement{heartbeatSQL, []any{node}},
		statement{pulsesSQL, []any{node, column(claims, claimID), column(claims, claimToken)}})
	if err != nil {
		return nil, fmt.Errorf("send heartbeat: %w", err)
	}
	pulses := make([]asyncop.Pulse, len(claims))
	for i := range pulses {
		pulses[i] = asyncop.PulseLost
	}
	for _, h := range found {
		pulses[h.Place-1] = asyncop.PulseHeld
		if h.CancelRequested {
			pulses[h.Place-1] = asyncop.PulseCancel
		}
	}
	return pulses, nil
}

func claimID(c asyncop.ClaimRef) uuid.UUID    { return c.ID }
func claimToken(c asyncop.ClaimRef) uuid.UUID { return c.Token }

// Recover takes the claims of every node silent for staleAfter; see
// asyncop.Store.
func (s *Store) Recover(ctx context.Context, staleAfter time.Duration) ([]uuid.UUID, error) {
	taken, err := queryAfter(ctx, s, pgx.RowToStructByPos[recoveredRow],
		statement{forgetSQL, []any{staleAfter.Microseconds()}},
		statement{recoverSQL, []any{asyncop.MessageCancelled, asyncop.MessageWorkerLost}})
	if err != nil {
		return nil, fmt.Errorf("recover claims: %w", err)
	}
	for _, r := range taken {
		s.turns.Freed(r.Tenant)
		if r.State == asyncop.Queued {
			s.queued(asyncop.Backlog{
				Submitter: asyncop.Submitter{Tenant: r.Tenant, Issuer: r.Issuer, Subject: r.Subject}, Lane: r.Lane,
			}, 0)
		}
	}
	ids := column(taken, func(r recoveredRow) uuid.UUID { return r.ID })
	s.tellChanged(ids)
	return ids, nil
}

// recoveredRow is what recover.sql answers.
type recoveredRow struct {
	ID                            uuid.UUID
	State                         asyncop.State
	Tenant, Issuer, Subject, Lane string
}
