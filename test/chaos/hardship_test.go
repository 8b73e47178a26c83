package chaos

import (
	"math/rand/v2"
	"net/url"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"asyncgate/test/faults"
	"asyncgate/test/pgtest"
)

// hardship is a fault that strikes a cluster under load again and again.
type hardship struct {
	stage  func(t *testing.T, u *upstream) *cluster
	times  int
	strike func(t *testing.T, c *cluster, random *rand.Rand) // the fault is over when it returns
	last   func(t *testing.T, c *cluster, random *rand.Rand) // a worse one, once; nil: none
	// spares: no attempt is cut off by it, so no outcome may be unknown.
	spares bool
	// cancels: some operations are cancelled. Not where a node may send an
	// attempt after its claim was lost, since that is after any cancellation.
	cancels bool
}

// hardships are named after what is true of them.
func hardships() map[string]hardship {
	return map[string]hardship{
		"NodesAreKilled":         {stage: pair, times: *kills, strike: kill, cancels: true},
		"NodesStandStillAndGoOn": {stage: pair, times: share(10, 15), strike: standStill},
		"NodesAreDeployed":       {stage: pair, times: share(5, 20), strike: deploy, spares: true, cancels: true},
		"ListenersAreKilled":     {stage: pair, times: share(1, 50), strike: killListeners, spares: true, cancels: true},
		"TheDatabaseRestartsAndGoesAway": {
			stage: withDatabase, times: share(4, 10), strike: restartDatabase, last: takeDatabaseAway, spares: true,
		},
		"TheWayToTheDatabaseIsBroken":     {stage: withWayToDatabase, times: share(4, 30), strike: breakWayToDatabase},
		"TheWayToTheUpstreamIsBroken":     {stage: withWayToUpstream, times: share(2, 60), strike: breakWayToUpstream},
		"TheDiskIsFull":                   {stage: onDisk, times: share(4, 20), strike: fillDisk, spares: true, cancels: true},
		"TheDiskIsFullAndTheNodeIsKilled": {stage: onDisk, times: share(8, 10), strike: fillDiskAndKill},
	}
}

func TestNothingIsLostOrDoneTwiceOrMisreportedThough(t *testing.T) {
	t.Parallel()
	for name, h := range hardships() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h.endure(t)
		})
	}
}

func (h hardship) endure(t *testing.T) {
	t.Helper()
	random, u := chance(t), newUpstream(t)
	c := h.stage(t, u).startAll(t)
	l := c.load(t)
	l.cancels = h.cancels
	l.start(t.Context(), random)
	for range h.times {
		<-time.After(between(random, 300*time.Millisecond, 1200*time.Millisecond))
		h.strike(t, c, random)
	}
	if h.last != nil {
		<-time.After(time.Second)
		h.last(t, c, random)
	}
	eventually(t, "there was a load", func() bool { return l.ledger.size() >= 10*h.times })
	l.judge(t, u, h.spares)
}

// pair is two nodes on PostgreSQL.
func pair(t *testing.T, u *upstream) *cluster {
	t.Helper()
	return newCluster(t, 2, pgtest.URL(t), u.URL)
}

// withDatabase is a pair on a database of its own.
func withDatabase(t *testing.T, u *upstream) *cluster {
	t.Helper()
	database := pgtest.New(t)
	c := newCluster(t, 2, database.NewDatabase(t), u.URL)
	c.database = database
	return c
}

// withWayToDatabase is a pair whose first node reaches its database by a proxy.
func withWayToDatabase(t *testing.T, u *upstream) *cluster {
	t.Helper()
	c := pair(t, u)
	c.entrance, c.toDatabase = through(t, c.store)
	return c
}

// withWayToUpstream is a pair that reaches its upstream by a proxy.
func withWayToUpstream(t *testing.T, u *upstream) *cluster {
	t.Helper()
	c := pair(t, u)
	c.upstream, c.toUpstream = through(t, c.upstream)
	return c
}

// through leads a URL through a proxy.
func through(t *testing.T, direct string) (string, *faults.Proxy) {
	t.Helper()
	address, err := url.Parse(direct)
	if err != nil {
		t.Fatal(err)
	}
	proxy := faults.NewProxy(t, address.Host)
	address.Host = proxy.Address()
	return address.String(), proxy
}

// onDisk is a node on a file.
func onDisk(t *testing.T, u *upstream) *cluster {
	t.Helper()
	return newCluster(t, 1, "sqlite:"+filepath.Join(t.TempDir(), "operations.db"), u.URL)
}

func kill(t *testing.T, c *cluster, random *rand.Rand) {
	t.Helper()
	i := random.IntN(len(c.nodes))
	c.node(i).Kill()
	c.start(t, i)
}

// standStill stops a node for so long that the other recovers its claims.
func standStill(t *testing.T, c *cluster, random *rand.Rand) {
	t.Helper()
	n := c.node(random.IntN(2))
	n.Signal(syscall.SIGSTOP)
	<-time.After(staleAfter + between(random, time.Second, 2*time.Second))
	n.Signal(syscall.SIGCONT)
	<-time.After(between(random, 0, staleAfter))
}

// deploy replaces a node in good order: what it runs may end.
func deploy(t *testing.T, c *cluster, random *rand.Rand) {
	t.Helper()
	i := random.IntN(2)
	c.node(i).Stop(t)
	c.start(t, i)
}

func killListeners(t *testing.T, c *cluster, _ *rand.Rand) {
	t.Helper()
	if _, err := open(t, c.store).ExecContext(t.Context(), `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
		WHERE datname = current_database() AND query = 'LISTEN asyncgate'`); err != nil {
		t.Fatal(err)
	}
}

func restartDatabase(t *testing.T, c *cluster, _ *rand.Rand) {
	t.Helper()
	if err := c.database.Restart(); err != nil {
		t.Fatal(err)
	}
}

// takeDatabaseAway keeps it away for three times as long as a claim may be
// silent.
func takeDatabaseAway(t *testing.T, c *cluster, _ *rand.Rand) {
	t.Helper()
	if err := c.database.Stop(); err != nil {
		t.Fatal(err)
	}
	<-time.After(3 * staleAfter)
	if err := c.database.Start(); err != nil {
		t.Fatal(err)
	}
}

// breakWayToDatabase leaves the first node without its database, for a moment
// or so long that the other recovers its claims.
func breakWayToDatabase(t *testing.T, c *cluster, random *rand.Rand) {
	t.Helper()
	breakWay(c.toDatabase, random, 2*staleAfter)
}

func breakWayToUpstream(t *testing.T, c *cluster, random *rand.Rand) {
	t.Helper()
	breakWay(c.toUpstream, random, time.Second)
}

// breakWay cuts connections off, stalls them, drops what they carry or refuses
// them, for at most so long.
func breakWay(way *faults.Proxy, random *rand.Rand, most time.Duration) {
	manners := []func(){way.Cut, way.Stall, way.Drop, way.Refuse}
	manners[random.IntN(len(manners))]()
	<-time.After(between(random, 0, most))
	way.Pass()
}

// fillDisk lets the node write nothing more to its files, as a full disk does.
func fillDisk(t *testing.T, c *cluster, random *rand.Rand) {
	t.Helper()
	limitFiles(t, c, 1)
	<-time.After(between(random, 100*time.Millisecond, 2*staleAfter))
	const unkept = `mutation { submitAsync(input: {document: "mutation { once(does: \"answers\", ms: 0) }"}) { id } }`
	if err := c.client(t).ask(t.Context(), 0, unkept, nil, nil); err == nil {
		t.Error("it takes what it cannot keep")
	}
	limitFiles(t, c, unix.RLIM_INFINITY)
}

func fillDiskAndKill(t *testing.T, c *cluster, random *rand.Rand) {
	t.Helper()
	limitFiles(t, c, 1)
	<-time.After(between(random, 100*time.Millisecond, staleAfter))
	c.node(0).Kill()
	c.start(t, 0)
}

// limitFiles limits the size to which the node may write its files.
func limitFiles(t *testing.T, c *cluster, size uint64) {
	t.Helper()
	limit := unix.Rlimit{Cur: size, Max: unix.RLIM_INFINITY}
	if err := unix.Prlimit(c.node(0).PID(), unix.RLIMIT_FSIZE, &limit, nil); err != nil {
		t.Fatal(err)
	}
}
