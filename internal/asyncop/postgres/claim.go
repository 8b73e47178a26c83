package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"asyncgate/internal/asyncop"
)

// Claim moves up to limit due rows from QUEUED to RUNNING; see asyncop.Store.
func (s *Store) Claim(ctx context.Context, node string, limit int) ([]asyncop.Claim, error) {
	if limit <= 0 {
		return nil, nil
	}
	if err := s.releaseUnheard(ctx); err != nil {
		return nil, fmt.Errorf("release claims whose answer was lost: %w", err)
	}
	seed := uuid.New()
	claims, err := query(ctx, s, scanClaim, claimSQL, node, limit, seed)
	if err != nil {
		s.unheard.add(node, seed)
		return nil, fmt.Errorf("claim operations: %w", err)
	}
	s.tellChanged(column(claims, func(c asyncop.Claim) uuid.UUID { return c.Operation.ID }))
	return claims, nil
}

func scanClaim(row pgx.CollectableRow) (asyncop.Claim, error) {
	var claim asyncop.Claim
	var authority string
	op, err := scanOperation(row, &claim.Token, &authority, &claim.TraceContext)
	claim.Operation, claim.Authority = op, []byte(authority)
	return claim, err
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
	taken, err := queryAfter(ctx, s, pgx.RowTo[uuid.UUID],
		statement{forgetSQL, []any{staleAfter.Microseconds()}},
		statement{recoverSQL, []any{asyncop.MessageCancelled, asyncop.MessageWorkerLost}})
	if err != nil {
		return nil, fmt.Errorf("recover claims: %w", err)
	}
	if len(taken) > 0 {
		s.tellChanged(taken)
		s.tellDue()
	}
	return taken, nil
}
