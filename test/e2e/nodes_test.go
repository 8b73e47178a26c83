package e2e

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"asyncgate/test/pgtest"
	"asyncgate/test/upstreams"
)

// push bounds what a wake across nodes may take. It is far less than the poll
// interval of these nodes.
const push = 5 * time.Second

// twoNodes serves one store from two nodes that hardly ever poll.
func twoNodes(t *testing.T, yoga *upstreams.Server) (a, b node) {
	t.Helper()
	g := beforeYoga(t, pgtest.URL(t), yoga, yoga).with(t, twoTenants, "worker: {", "worker: {poll_interval: 60s, ")
	return g.serve(t), g.serve(t)
}

func TestAResultIsPushedByTheNodeThatDidNotTakeTheSubmission(t *testing.T) {
	t.Parallel()
	yoga := upstreams.Yoga(t)
	a, b := twoNodes(t, yoga)
	ada := token(t, "ada", "globex")
	for _, name := range []string{"first", "second", "third"} {
		op := a.as(ada).submit(t, slow("0.5", t.Name()+name))
		pushed := b.as(ada).subscribe(t, resultDocument, op.ID)
		submitted := time.Now()
		pushed.result(t).ended(t, "SUCCEEDED", "", "", 1)
		within(t, push, "the push", submitted)
		if n := calls(t, yoga, t.Name()+name); n != "1" {
			t.Errorf("the two nodes called it %s times", n)
		}
	}
}

func TestEitherNodeCancelsWhatTheOtherTook(t *testing.T) {
	t.Parallel()
	yoga := upstreams.Yoga(t)
	a, b := twoNodes(t, yoga)
	ada := token(t, "ada", "globex")
	op := a.as(ada).submit(t, slow("0", t.Name(), "notBefore", instant(time.Now().Add(30*time.Minute))))
	watching := a.as(ada).subscribe(t, resultDocument, op.ID)
	cancelling := time.Now()
	got := b.as(ada).ask(t, cancelDocument, object("id", quote(op.ID)))
	if outcome := textAt(t, got.body, "data", "cancelAsync", "outcome"); outcome != "CANCELLED" {
		t.Errorf("the cancellation's outcome is %s", outcome)
	}
	watching.result(t).ended(t, "CANCELLED", "CANCELLED", "NOT_EXECUTED", 0)
	within(t, push, "the push", cancelling)
	if n := calls(t, yoga, t.Name()); n != "0" {
		t.Errorf("it was called %s times", n)
	}
}

func TestNothingRunsTwiceBetweenTwoNodes(t *testing.T) {
	t.Parallel()
	const each = 40
	yoga := upstreams.Yoga(t)
	a, b := twoNodes(t, yoga)
	ada := token(t, "ada", "globex")
	var all errgroup.Group
	for _, c := range []caller{a.as(ada), b.as(ada)} {
		for range each {
			all.Go(func() error {
				got, err := c.send(t.Context(), body(submitDocument, object("input", slow("0", t.Name(), "waitMs", "30000"))))
				if err == nil && !strings.Contains(string(got.body), `"state":"SUCCEEDED"`) {
					err = fmt.Errorf("got %s", got.body)
				}
				return err
			})
		}
	}
	if err := all.Wait(); err != nil {
		t.Error(err)
	}
	if n := calls(t, yoga, t.Name()); n != strconv.Itoa(2*each) {
		t.Errorf("%d operations called the upstream %s times", 2*each, n)
	}
}

func TestCancellingWhatRunsLetsItsTrueOutcomeStand(t *testing.T) {
	t.Parallel()
	yoga := upstreams.Yoga(t)
	a, b := twoNodes(t, yoga)
	ada := token(t, "ada", "globex")
	op := a.as(ada).submit(t, slow("2", t.Name()))
	began(t, yoga, t.Name())
	got := b.as(ada).ask(t, cancelDocument, object("id", quote(op.ID)))
	if outcome := textAt(t, got.body, "data", "cancelAsync", "outcome"); outcome != "CANCEL_REQUESTED" {
		t.Errorf("the cancellation's outcome is %s", outcome)
	}
	ended := b.as(ada).await(t, op.ID)
	ended.ended(t, "SUCCEEDED", "", "", 1)
	if !ended.CancellationRequested {
		t.Error("that its cancellation was asked for is forgotten")
	}
	got = a.as(ada).ask(t, cancelDocument, object("id", quote(op.ID)))
	if outcome := textAt(t, got.body, "data", "cancelAsync", "outcome"); outcome != "ALREADY_DONE" {
		t.Errorf("the second cancellation's outcome is %s", outcome)
	}
}
