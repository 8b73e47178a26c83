package chaos

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"
)

// schema is the upstream's. once may be executed once only, again may be
// repeated. Both take so many milliseconds and then do what they are told.
const schema = `
type Query { nothing: Boolean }
type Mutation {
	once(does: String!, ms: Int!): String
	again(does: String!, ms: Int!): String
}
`

// What a mutation may do.
const (
	answers = "answers" // with data
	fails   = "fails"   // with data and errors
	closes  = "closes"  // the connection without an answer, the first time; then it answers
	hangs   = "hangs"   // until its caller has gone, the first time; then it answers
)

// call is one request that the upstream has read to its end, and so executes.
type call struct {
	key     string // its Idempotency-Key
	attempt string // its X-Async-Attempt
	began   time.Time
	answer  string // "" while there is none
	ended   time.Time
}

// upstream executes what it is asked, whether or not its caller waits for the
// answer, and remembers each call.
type upstream struct {
	*httptest.Server

	mu    sync.Mutex
	calls map[string][]call // guarded by mu, by X-Async-Operation-Id
}

func newUpstream(t *testing.T) *upstream {
	t.Helper()
	u := &upstream{calls: map[string][]call{}}
	u.Server = httptest.NewServer(u)
	t.Cleanup(u.Close)
	return u
}

func (u *upstream) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var request struct {
		Variables struct {
			Does string
			Ms   int
		}
	}
	text, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(text, &request)
	}
	if err != nil {
		http.Error(w, "this is no request", http.StatusBadRequest)
		return
	}
	id := r.Header.Get("X-Async-Operation-Id")
	n := u.begin(id, call{key: r.Header.Get("Idempotency-Key"), attempt: r.Header.Get("X-Async-Attempt"), began: time.Now()})
	<-time.After(time.Duration(request.Variables.Ms) * time.Millisecond)
	switch does := request.Variables.Does; {
	case does == closes && n == 1:
		panic(http.ErrAbortHandler)
	case does == hangs && n == 1:
		<-r.Context().Done()
	case does == fails:
		u.answer(w, id, n, fmt.Sprintf(`{"data":{"field":null},"errors":[{"message":"call %d of %s"}]}`, n, id))
	default:
		u.answer(w, id, n, fmt.Sprintf(`{"data":{"field":"call %d of %s"}}`, n, id))
	}
}

// begin answers which call this is of the operation, counted from 1.
func (u *upstream) begin(id string, c call) int {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.calls[id] = append(u.calls[id], c)
	return len(u.calls[id])
}

func (u *upstream) answer(w http.ResponseWriter, id string, n int, text string) {
	u.mu.Lock()
	u.calls[id][n-1].answer, u.calls[id][n-1].ended = text, time.Now()
	u.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, text) // the caller may have gone
}

// saw answers the calls of one operation.
func (u *upstream) saw(id string) []call {
	u.mu.Lock()
	defer u.mu.Unlock()
	return slices.Clone(u.calls[id])
}

// called answers how many operations it was called for.
func (u *upstream) called() int {
	u.mu.Lock()
	defer u.mu.Unlock()
	return len(u.calls)
}
