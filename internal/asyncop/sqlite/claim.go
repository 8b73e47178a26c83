package sqlite

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"asyncgate/internal/asyncop"
)

var (
	//go:embed queries/claim.sql
	claimSQL string
	//go:embed queries/heartbeat.sql
	heartbeatSQL string
	//go:embed queries/pulse.sql
	pulseSQL string
)

// Claim implements asyncop.Store.
func (s *Store) Claim(ctx context.Context, intake asyncop.Intake) (asyncop.Claimed, error) {
	claimed, err := s.turns.Claim(ctx, intake, desk{s})
	if err != nil {
		return asyncop.Claimed{}, fmt.Errorf("claim operations: %w", err)
	}
	s.changed(operationsOf(claimed.Claims))
	return claimed, nil
}

// claim moves a due row to RUNNING under a fresh token.
func (t transaction) claim(ctx context.Context, id uuid.UUID, node string, at int64) (asyncop.Claim, error) {
	token, err := uuid.NewRandom()
	if err != nil {
		return asyncop.Claim{}, err
	}
	claim := asyncop.Claim{Token: token}
	var authority []byte
	err = t.queryRow(ctx, claimSQL, values{
		"id": id.String(), "token": token.String(), "node": node, "now": at,
		"log_head": asyncop.AttemptLogHead, "log_tail": asyncop.AttemptLogTail,
	}).Scan(&authority, &claim.TraceContext)
	if err != nil {
		return asyncop.Claim{}, err
	}
	claim.Authority = authority
	claim.Operation, err = scanOperation(t.queryRow(ctx, getSQL, scopeless(id.String())))
	return claim, err
}

// Heartbeat implements asyncop.Store. A claim under another node's name is lost.
func (s *Store) Heartbeat(ctx context.Context, node string, claims []asyncop.ClaimRef) ([]asyncop.Pulse, error) {
	pulses := make([]asyncop.Pulse, len(claims))
	err := s.write(ctx, func(ctx context.Context, tx transaction) error {
		err := tx.exec(ctx, heartbeatSQL, values{"node": node, "now": now()})
		for i := 0; i < len(claims) && err == nil; i++ {
			pulses[i], err = tx.pulse(ctx, node, claims[i])
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("send heartbeat: %w", err)
	}
	return pulses, nil
}

func (t transaction) pulse(ctx context.Context, node string, claim asyncop.ClaimRef) (asyncop.Pulse, error) {
	var cancel bool
	err := t.queryRow(ctx, pulseSQL, claimValues(claim).with(values{"node": node})).Scan(&cancel)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return asyncop.PulseLost, nil
	case cancel:
		return asyncop.PulseCancel, err
	}
	return asyncop.PulseHeld, err
}

func claimValues(claim asyncop.ClaimRef) values {
	return values{"id": claim.ID.String(), "token": claim.Token.String()}
}

func operationsOf(claims []asyncop.Claim) []uuid.UUID {
	ids := make([]uuid.UUID, len(claims))
	for i, claim := range claims {
		ids[i] = claim.Operation.ID
	}
	return ids
}
