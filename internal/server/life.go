package server

import "sync"

// life counts the requests and websockets being served, and tells them when
// the server stops.
type life struct {
	stopping chan struct{} // closed when the server stops

	mu      sync.Mutex
	stopped bool // guarded by mu; no one enters any more
	served  sync.WaitGroup
}

func newLife() *life { return &life{stopping: make(chan struct{})} }

// enter counts one in, unless the server is stopping. Who entered must leave.
func (l *life) enter() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stopped {
		return false
	}
	l.served.Add(1)
	return true
}

func (l *life) leave() { l.served.Done() }

// stop lets no one in any more and tells those inside. It may be called twice.
func (l *life) stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.stopped {
		l.stopped = true
		close(l.stopping)
	}
}

func (l *life) isStopping() bool {
	select {
	case <-l.stopping:
		return true
	default:
		return false
	}
}

// wait returns when everyone has left, after stop.
func (l *life) wait() { l.served.Wait() }
