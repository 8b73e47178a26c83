package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	// echoEvery is how often the listening connection is proven to hear while
	// nobody asks.
	echoEvery = 15 * time.Second
	// echoTimeout is how long an echo may take before the connection is replaced.
	echoTimeout = 5 * time.Second
	// leastBackoff and mostBackoff bound the time between two connections.
	leastBackoff = 50 * time.Millisecond
	mostBackoff  = 15 * time.Second
	// closeListenerTimeout bounds the end of a connection whose packets vanish.
	closeListenerTimeout = time.Second
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
			s.missed() // whoever relied on wakes looks now
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

// missed tells this process that wakes may have been lost.
func (s *Store) missed() {
	s.turns.Doubt()
	s.waker.Missed()
}

// listenOnce listens on one connection until it breaks or falls silent, and
// reports whether it ever heard its own echo.
func (s *Store) listenOnce(ctx context.Context) (proven bool, err error) {
	conn, err := s.connectListener(ctx)
	if err != nil {
		return false, err
	}
	hearing, stop := context.WithCancelCause(ctx)
	var reading sync.WaitGroup
	reading.Go(func() { stop(s.receive(hearing, conn)) })
	defer func() {
		stop(nil)
		reading.Wait()
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeListenerTimeout)
		defer cancel()
		_ = conn.Close(closing) // it may be broken
	}()
	s.missed() // what was notified before is gone
	for s.echo(hearing, echoTimeout) {
		if !proven {
			s.logger.InfoContext(ctx, "listening for wakes")
		}
		proven = true
		s.listening.Store(true)
		select {
		case <-time.After(echoEvery):
		case <-s.suspect:
		case <-hearing.Done():
		}
	}
	if hearing.Err() != nil {
		return proven, context.Cause(hearing)
	}
	return proven, errDeaf
}

func (s *Store) connectListener(ctx context.Context) (*pgx.Conn, error) {
	conn, err := pgx.ConnectConfig(ctx, s.pool.Config().ConnConfig)
	if err != nil {
		return nil, fmt.Errorf("connect to listen: %w", err)
	}
	listening, cancel := context.WithTimeout(ctx, echoTimeout)
	defer cancel()
	if _, err := conn.Exec(listening, "LISTEN asyncgate"); err != nil {
		return nil, errors.Join(fmt.Errorf("listen: %w", err), conn.Close(context.WithoutCancel(listening)))
	}
	return conn, nil
}

// receive tells the Waker what arrives until ctx ends or the connection does,
// and answers why.
func (s *Store) receive(ctx context.Context, conn *pgx.Conn) error {
	for {
		notification, err := conn.WaitForNotification(ctx)
		if err != nil {
			return fmt.Errorf("wait for wakes: %w", err)
		}
		s.hear(notification.Payload)
	}
}

// hear tells the Waker what another node says. This store's own changes are
// told already; its echoes prove that it hears.
func (s *Store) hear(payload string) {
	tag, kind, ids := parsePayload(payload)
	if tag == s.tag {
		if kind == kindEcho {
			s.echoes.hear(ids)
		}
		return
	}
	switch kind {
	case kindDue:
		s.turns.Doubt()
		s.waker.Due()
	case kindMissed:
		s.missed()
	case kindChanged:
		if len(ids) > 0 {
			s.waker.Changed(ids...)
		}
	}
}
