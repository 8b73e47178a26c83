package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	// echoEvery is how often an idle LISTEN connection is proven to hear.
	echoEvery = 20 * time.Second
	// echoTimeout is how long an echo may take.
	echoTimeout = 5 * time.Second
	// leastBackoff and mostBackoff bound the time between two connections.
	leastBackoff = 50 * time.Millisecond
	mostBackoff  = 15 * time.Second
)

// errDeaf: LISTEN was accepted, but a notification that this store sent itself
// did not arrive. Behind PgBouncer in transaction mode it never does.
var errDeaf = errors.New("no notification arrives: LISTEN needs a direct connection or session pooling; polling meanwhile")

// listen hears other nodes until ctx ends, reconnecting as often as it takes.
func (s *Store) listen(ctx context.Context) {
	backoff := leastBackoff
	for {
		proven, err := s.listenOnce(ctx)
		s.listening.Store(false)
		if ctx.Err() != nil {
			return
		}
		if proven {
			backoff = leastBackoff
		}
		if backoff == leastBackoff { // once, however long it lasts
			s.logger.WarnContext(ctx, "listening for wakes ended, trying again until it works", "error", err)
		}
		if !pause(ctx, backoff) {
			return
		}
		backoff = min(2*backoff, mostBackoff)
	}
}

// listenOnce listens on one connection until it breaks or falls silent, and
// reports whether it ever heard its own echo.
func (s *Store) listenOnce(ctx context.Context) (proven bool, err error) {
	conn, err := s.connectListener(ctx)
	if err != nil {
		return false, err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	s.turns.Doubt()
	s.waker.Missed() // what was notified before is gone
	for {
		if err := s.send(ctx, []string{s.tag + " " + kindEcho}); err != nil {
			return proven, fmt.Errorf("send an echo: %w", err)
		}
		heard, err := s.receive(ctx, conn, echoTimeout, untilEcho)
		if err != nil {
			return proven, err
		}
		if !heard {
			return proven, errDeaf
		}
		if !proven {
			proven = true
			s.listening.Store(true)
			s.logger.InfoContext(ctx, "listening for wakes")
		}
		if _, err := s.receive(ctx, conn, echoEvery, untilTime); err != nil {
			return proven, err
		}
	}
}

func (s *Store) connectListener(ctx context.Context) (*pgx.Conn, error) {
	conn, err := pgx.ConnectConfig(ctx, s.pool.Config().ConnConfig)
	if err != nil {
		return nil, fmt.Errorf("connect to listen: %w", err)
	}
	if _, err := conn.Exec(ctx, "LISTEN asyncgate"); err != nil {
		return nil, errors.Join(fmt.Errorf("listen: %w", err), conn.Close(context.WithoutCancel(ctx)))
	}
	return conn, nil
}

// When receive stops before its time is over.
const (
	untilEcho = true
	untilTime = false
)

// receive tells the Waker what arrives within d, and reports whether it stopped
// at an echo.
func (s *Store) receive(ctx context.Context, conn *pgx.Conn, d time.Duration, stopAtEcho bool) (bool, error) {
	timed, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	for {
		notification, err := conn.WaitForNotification(timed)
		switch {
		case err == nil:
		case timed.Err() != nil && ctx.Err() == nil && !conn.IsClosed():
			return false, nil
		default:
			return false, fmt.Errorf("wait for wakes: %w", err)
		}
		if s.hear(notification.Payload) && stopAtEcho {
			return true, nil
		}
	}
}

// hear tells the Waker what another node says, and reports whether the payload
// is an echo. This store's own changes are told already.
func (s *Store) hear(payload string) (echo bool) {
	tag, kind, ids := parsePayload(payload)
	if tag == s.tag {
		return kind == kindEcho
	}
	switch kind {
	case kindDue:
		s.turns.Doubt()
		s.waker.Due()
	case kindMissed:
		s.turns.Doubt()
		s.waker.Missed()
	case kindChanged:
		if len(ids) > 0 {
			s.waker.Changed(ids...)
		}
	}
	return false
}
