package gateway

import (
	"bytes"
	"sync"
)

// transcript keeps what a process writes.
type transcript struct {
	mu   sync.Mutex
	text bytes.Buffer  // guarded by mu
	more chan struct{} // guarded by mu: closed by the next write; nil while nobody waits
}

func (o *transcript) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.more != nil {
		close(o.more)
		o.more = nil
	}
	return o.text.Write(p)
}

// watch answers what was written, and a channel that closes when there is more.
func (o *transcript) watch() (text string, more <-chan struct{}) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.more == nil {
		o.more = make(chan struct{})
	}
	return o.text.String(), o.more
}

func (o *transcript) String() string {
	text, _ := o.watch()
	return text
}
