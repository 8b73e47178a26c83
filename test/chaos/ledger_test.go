package chaos

import (
	"fmt"
	"maps"
	"sync"
	"time"
)

// submission is what was submitted under an idempotency key, and what the
// gateway said to it.
type submission struct {
	key        string
	field      string // once or again
	does       string
	ms         int
	id         string // "" before the gateway has said it
	cancelling bool   // its cancellation was asked for, perhaps without an answer
	cancelled  *cancellation
}

func (s submission) idempotent() bool { return s.field == "again" }

// cancellation is the gateway's answer to the wish to cancel.
type cancellation struct {
	outcome string
	state   string // of the operation at that time
	at      time.Time
}

// ledger is what clients were told. It is safe for concurrent use.
type ledger struct {
	mu             sync.Mutex
	submissions    map[string]submission // guarded by mu, by key
	contradictions []string              // guarded by mu
}

func newLedger() *ledger { return &ledger{submissions: map[string]submission{}} }

// submitting notes a submission before it is sent, perhaps once more.
func (l *ledger) submitting(s submission) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, known := l.submissions[s.key]; !known {
		l.submissions[s.key] = s
	}
}

// answered notes the handle that a key was answered with. Another one before
// contradicts it.
func (l *ledger) answered(key, id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.submissions[key]
	if s.id != "" && s.id != id {
		l.contradictions = append(l.contradictions, fmt.Sprintf("key %s is %s and %s", key, s.id, id))
	}
	s.id = id
	l.submissions[key] = s
}

// cancelling notes a wish to cancel before it is sent.
func (l *ledger) cancelling(key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.submissions[key]
	s.cancelling = true
	l.submissions[key] = s
}

// cancelled notes the answer to that.
func (l *ledger) cancelled(key string, c cancellation) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.submissions[key]
	s.cancelled = &c
	l.submissions[key] = s
}

// read answers what is in it.
func (l *ledger) read() (submissions map[string]submission, contradictions []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.submissions), l.contradictions
}

// size is how many submissions were answered with a handle.
func (l *ledger) size() (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.submissions {
		if s.id != "" {
			n++
		}
	}
	return n
}
