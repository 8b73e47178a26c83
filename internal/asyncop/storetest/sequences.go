package storetest

import (
	"flag"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"asyncgate/internal/asyncop"
)

// World is a store of which a test moves the clock.
type World struct {
	Store asyncop.Store
	// Pass lets time pass: every instant in the store is moved back, those of
	// the attempt logs too.
	Pass func(d time.Duration) error
	// Empty removes all rows.
	Empty func() error
}

// The instants of a sequence lie 10 s apart, and what must happen between them
// in the middle: the real time that a sequence takes never decides.
const (
	tick       = 10 * time.Second
	half       = tick / 2
	staleAfter = tick + half
)

// A sequence that took longer than mostReal would blur its instants: it ends, and
// is not judged. More than mostLate of those are too many to pass.
const (
	mostReal = half - time.Second
	mostLate = 10
)

// usual is what CheckModel runs unless rapid's own flags say otherwise: so many
// sequences of about so many steps.
var usual = map[string]string{"rapid.checks": "500", "rapid.steps": "20"}

// CheckModel runs random sequences of all transitions, by several nodes that may
// be lost and late, on a store and on the model, and compares the two after each
// step. A sequence that fails is made shorter and printed with its seed.
func CheckModel(t *testing.T, world World) {
	t.Helper()
	for name, value := range usual {
		if f := flag.Lookup(name); f.Value.String() == f.DefValue {
			if err := f.Value.Set(value); err != nil {
				t.Fatal(err)
			}
		}
	}
	late := 0
	rapid.Check(t, func(t *rapid.T) {
		if err := world.Empty(); err != nil {
			t.Fatal(err)
		}
		// Each sequence has tenants of its own: stores remember who has no room.
		// They sort alike in each, so that a seed means the same sequence.
		of := uuid.NewString()
		names := []string{"a-" + of, "b-" + of}
		c := &check{World: world, t: t, tenants: names, began: time.Now(), model: &model{nodes: map[string]time.Duration{}}}
		defer func() {
			if c.late() {
				late++
			}
		}()
		t.Repeat(c.steps())
	})
	if late > mostLate {
		t.Errorf("%d sequences took longer than %s: this machine is too slow to judge them", late, mostReal)
	}
}

// check is one sequence.
type check struct {
	World
	t       *rapid.T
	tenants []string
	began   time.Time
	model   *model
}

func (c *check) steps() map[string]func(*rapid.T) {
	steps := map[string]func(*rapid.T){
		"Submit":    c.submit,
		"Claim":     c.claim,
		"Claim2":    c.claim, // most transitions are of what runs,
		"Retry2":    c.retry, // and take more than one attempt
		"Heartbeat": c.heartbeat,
		"Finish":    c.finish,
		"Retry":     c.retry,
		"Release":   c.release,
		"Recover":   c.recover,
		"LoseNode":  c.loseNode,
		"Expire":    c.expire,
		"Cancel":    c.cancel,
		"Replay":    c.replay,
		"Sweep":     c.sweep,
		"Look":      c.look,
		"Pass":      c.pass,
		"":          c.compare,
	}
	for name, step := range steps {
		steps[name] = func(t *rapid.T) {
			if !c.late() {
				step(t)
			}
		}
	}
	return steps
}

// late reports whether the sequence has taken too long to be judged.
func (c *check) late() bool { return time.Since(c.began) > mostReal }

var anyID = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

// failf ends the sequence: the store and the model differ. It names operations
// by their place, since rapid shortens a sequence only as long as its failure
// reads the same, and ids are fresh each time.
func (c *check) failf(t *rapid.T, format string, args ...any) {
	if c.late() {
		t.Skip("the machine is too slow for this sequence")
	}
	what := strings.NewReplacer(c.model.names...).Replace(fmt.Sprintf(format, args...))
	t.Fatal(anyID.ReplaceAllString(what, "another"))
}

func must[T any](t *rapid.T, value T, err error) T {
	if err != nil {
		t.Fatal(err)
	}
	return value
}

func (c *check) pass(t *rapid.T) {
	c.passed(t, time.Duration(rapid.IntRange(1, 4).Draw(t, "ticks"))*tick)
}

func (c *check) passed(t *rapid.T, d time.Duration) {
	if err := c.World.Pass(d); err != nil {
		t.Fatal(err)
	}
	c.model.now += d
}

// look asks what changes nothing: when to look again, and for revisions.
func (c *check) look(t *rapid.T) {
	in, ok, err := c.Store.NextDue(c.t.Context())
	must(t, 0, err)
	c.sameWait(t, "a row comes due or expires", in, ok, c.model.nextDue)

	ids, want := []uuid.UUID{uuid.New()}, map[uuid.UUID]int64{}
	for _, op := range c.model.operations {
		ids, want[op.id] = append(ids, op.id), op.revision
	}
	revisions, err := c.Store.Revisions(c.t.Context(), ids)
	c.same(t, "revisions", must(t, revisions, err), want)
}

// sameWait compares how long it is until something. What is over may be told
// as any time that has passed.
func (c *check) sameWait(t *rapid.T, what string, in time.Duration, ok bool, of func() (time.Duration, bool)) {
	want, some := of()
	if ok != some {
		c.failf(t, "%s: %v in %s, want %v in %s", what, ok, in.Round(time.Second), some, want)
	}
	in, want = max(in, 0), max(want, 0)
	if ok && (in > want+slack || in < want-time.Since(c.began)-slack) {
		c.failf(t, "%s in %s, want %s", what, in.Round(time.Second), want)
	}
}

func (c *check) sameIDs(t *rapid.T, what string, got, want []uuid.UUID) {
	order := func(a, b uuid.UUID) int { return slices.Compare(a[:], b[:]) }
	c.same(t, what, slices.SortedFunc(slices.Values(got), order), slices.SortedFunc(slices.Values(want), order))
}
