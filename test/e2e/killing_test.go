package e2e

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"asyncgate/test/pgtest"
)

var (
	kills = flag.Int("kills", 2, "how often nodes are killed, or the database is restarted, under load")
	seed  = flag.Uint64("seed", 0, "of what is random under load; 0 for another each time")
)

// chance is seeded, and the seed is logged.
func chance(t *testing.T) *rand.Rand {
	t.Helper()
	from := *seed
	if from == 0 {
		from = uint64(time.Now().UnixNano())
	}
	t.Logf("-seed %d -kills %d", from, *kills)
	return rand.New(rand.NewPCG(from, from))
}

// witness is an upstream that remembers what it was called for.
type witness struct {
	url string

	mu    sync.Mutex
	calls map[string]int             // guarded by mu, by operation
	keys  map[string]map[string]bool // guarded by mu: Idempotency-Keys, by operation
}

func newWitness(t *testing.T) *witness {
	t.Helper()
	w := &witness{calls: map[string]int{}, keys: map[string]map[string]bool{}}
	server := httptest.NewServer(w)
	t.Cleanup(server.Close)
	w.url = server.URL
	return w
}

func (w *witness) ServeHTTP(response http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	id := r.Header.Get("X-Async-Operation-Id")
	w.mu.Lock()
	w.calls[id]++
	if w.keys[id] == nil {
		w.keys[id] = map[string]bool{}
	}
	w.keys[id][r.Header.Get("Idempotency-Key")] = true
	n := len(w.calls)
	w.mu.Unlock()
	<-time.After(time.Duration(n%10) * 20 * time.Millisecond)
	says(http.StatusOK, fine)(response, r, n)
}

func (w *witness) saw(id string) (calls, keys int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.calls[id], len(w.keys[id])
}

// cluster is two nodes that share a database, one of which may be down.
type cluster struct {
	g     configuration
	nodes [2]atomic.Pointer[node]
}

func (c *cluster) start(t *testing.T, i int) {
	t.Helper()
	started := c.g.serve(t)
	c.nodes[i].Store(&started)
}

// under serves a cluster before a witness.
func under(t *testing.T, store string, w *witness) *cluster {
	t.Helper()
	g := before(t, store, w.url).with(t, oneUpstream, "stale_after: 3s", "stale_after: 2s")
	yaml, err := os.ReadFile(g.path)
	require(t, err)
	g = g.with(t, string(yaml), "again: {idempotent: true, max_attempts: 2}", "again: {idempotent: true, max_attempts: 50}")
	c := &cluster{g: g}
	c.start(t, 0)
	c.start(t, 1)
	return c
}

func require(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// load submits, to either node and again until it is taken, until it is
// stopped.
type load struct {
	cluster *cluster
	token   string

	mu         sync.Mutex
	idempotent map[string]bool // guarded by mu, by operation
	submitting errgroup.Group
	stop       chan struct{}
}

func (c *cluster) load(t *testing.T) *load {
	t.Helper()
	l := &load{cluster: c, token: token(t, "ada", ""), idempotent: map[string]bool{}, stop: make(chan struct{})}
	for worker := range 4 {
		l.submitting.Go(func() error { return l.submit(t, worker) })
	}
	return l
}

func (l *load) submit(t *testing.T, worker int) error {
	for n := 0; ; n++ {
		select {
		case <-l.stop:
			return nil
		case <-time.After(20 * time.Millisecond):
		}
		field := "again"
		if n%3 == 0 {
			field = "work"
		}
		key := fmt.Sprintf("%d-%d", worker, n)
		id, err := l.submitOnce(t, tagged(field, key, "idempotencyKey", quote(key)))
		if err != nil {
			return err
		}
		l.mu.Lock()
		l.idempotent[id] = field == "again"
		l.mu.Unlock()
	}
}

// submitOnce sends one submission until a node has taken it: it has a key.
func (l *load) submitOnce(t *testing.T, input string) (string, error) {
	var last error
	for try := range 600 {
		c := l.cluster.nodes[try%2].Load().as(l.token)
		got, err := c.send(t.Context(), body(submitDocument, object("input", input)))
		var answer struct {
			Data struct{ SubmitAsync struct{ ID string } }
		}
		if err == nil {
			err = json.Unmarshal(got.body, &answer)
		}
		if err == nil && answer.Data.SubmitAsync.ID != "" {
			return answer.Data.SubmitAsync.ID, nil
		}
		last = errors.Join(err, fmt.Errorf("status %d: %s", got.status, got.body))
		<-time.After(100 * time.Millisecond)
	}
	return "", last
}

// end stops submitting, and answers what was submitted.
func (l *load) end(t *testing.T) map[string]bool {
	t.Helper()
	close(l.stop)
	if err := l.submitting.Wait(); err != nil {
		t.Error(err)
	}
	return l.idempotent
}

// judge holds what became of each operation against what the upstream saw.
func judge(t *testing.T, c caller, w *witness, submitted map[string]bool) (unknown int) {
	t.Helper()
	for id, idempotent := range submitted {
		op := c.await(t, id)
		calls, keys := w.saw(id)
		switch {
		case idempotent && (op.State != "SUCCEEDED" || keys != 1):
			t.Errorf("%s, which is idempotent, is %s after %d calls with %d keys", id, op.State, calls, keys)
		case !idempotent && calls > 1:
			t.Errorf("%s was called %d times", id, calls)
		case op.State == "SUCCEEDED" && calls == 0:
			t.Errorf("%s succeeded and was never called", id)
		case op.State == "FAILED" && (op.Error.Code != "OUTCOME_UNKNOWN" || op.Error.Execution != "UNKNOWN"):
			t.Errorf("%s failed with %s, %s", id, op.Error.Code, op.Error.Execution)
		case op.State == "FAILED":
			unknown++
		case op.State != "SUCCEEDED":
			t.Errorf("%s is %s", id, op.State)
		}
	}
	t.Logf("%d operations, %d of them with an unknown outcome", len(submitted), unknown)
	return unknown
}

func TestNothingIsLostOrDoneTwiceThoughNodesAreKilledUnderLoad(t *testing.T) {
	t.Parallel()
	random, w := chance(t), newWitness(t)
	c := under(t, pgtest.URL(t), w)
	l := c.load(t)
	for range *kills {
		<-time.After(time.Duration(300+random.IntN(1500)) * time.Millisecond)
		i := random.IntN(2)
		c.nodes[i].Load().Kill()
		c.start(t, i)
	}
	submitted := l.end(t)
	judge(t, c.nodes[0].Load().as(l.token), w, submitted)
	if len(submitted) < 10**kills {
		t.Errorf("only %d operations were submitted", len(submitted))
	}
}

// TestNothingEndsAsLostThoughTheDatabaseGoesAway restarts the database under
// load, and keeps it away for three times as long as a claim may be silent.
func TestNothingEndsAsLostThoughTheDatabaseGoesAway(t *testing.T) {
	t.Parallel()
	random, w, db := chance(t), newWitness(t), pgtest.New(t)
	c := under(t, db.NewDatabase(t), w)
	l := c.load(t)
	for range max(1, *kills/20) {
		<-time.After(time.Duration(300+random.IntN(1500)) * time.Millisecond)
		require(t, db.Restart())
	}
	<-time.After(time.Second)
	require(t, db.Stop())
	<-time.After(6 * time.Second)
	require(t, db.Start())
	<-time.After(3 * time.Second)
	if unknown := judge(t, c.nodes[0].Load().as(l.token), w, l.end(t)); unknown != 0 {
		t.Errorf("%d live operations ended as lost", unknown)
	}
}
