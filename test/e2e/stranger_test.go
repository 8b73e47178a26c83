package e2e

import (
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"asyncgate/internal/auth"
	"asyncgate/test/upstreams"
)

func TestAStrangersOperationReadsLikeOneThatIsNotThere(t *testing.T) {
	t.Parallel()
	yoga := upstreams.Yoga(t)
	onEachStore(t, func(t *testing.T, store string) {
		n := beforeYoga(t, store, yoga, yoga).serve(t)
		ada := n.as(token(t, "ada", "acme"))
		done := ada.await(t, ada.submit(t, input(`mutation { echo(text: "mine") { text } }`, "idempotencyKey", `"k"`)).ID)
		queued := ada.submit(t, input(`mutation { echo(text: "mine") { text } }`, "notBefore", instant(time.Now().Add(30*time.Minute))))
		strangers := map[string]caller{
			"AnotherSubject":             n.as(token(t, "eve", "acme")),
			"AnotherTenant":              n.as(token(t, "ada", "globex")),
			"AnotherIssuersSameSubject":  n.as(mint(t, issuerTwo, auth.SecurityContext{Subject: "ada", Tenant: "acme"}, time.Now())),
			"AManagerOfAnotherTenant":    n.as(token(t, "max", "globex", "manager")),
			"ARoleThatMakesNoAdminThere": n.as(mint(t, issuerTwo, auth.SecurityContext{Subject: "root", Tenant: "acme", Roles: []string{"manager", "operator"}}, time.Now())),
			"AnAdminRoleInCapitals":      n.as(token(t, "zoe", "acme", "Operator")),
		}
		for name, stranger := range strangers {
			t.Run(name, func(t *testing.T) {
				for _, op := range []operation{done, queued} {
					knowsNothingOf(t, stranger, op.ID)
				}
				listsNothing(t, stranger)
			})
		}
		if ids := ada.list(t); !slices.Equal(ids, []string{queued.ID, done.ID}) {
			t.Errorf("ada's own list is %v, want %s and %s", ids, queued.ID, done.ID)
		}
		if still := ada.get(t, queued.ID, "0"); still.State != "QUEUED" {
			t.Errorf("a stranger's cancellation made it %s", still.State)
		}
	})
}

// knowsNothingOf: whatever a stranger asks about an operation, the answer is
// that for an id which nobody has.
func knowsNothingOf(t *testing.T, stranger caller, id string) {
	t.Helper()
	nobodys := uuid.Must(uuid.NewV7()).String()
	for _, document := range []string{getDocument, cancelDocument} {
		got, want := stranger.ask(t, document, object("id", quote(id))), stranger.ask(t, document, object("id", quote(nobodys)))
		if !got.equals(want) {
			t.Errorf("%s\ngot %d %s\nwant %d %s", document, got.status, got.body, want.status, want.body)
		}
	}
	for _, document := range []string{resultDocument, updatesDocument} {
		events := []string{"Accept", "text/event-stream"}
		got, want := stranger.ask(t, document, object("id", quote(id)), events...), stranger.ask(t, document, object("id", quote(nobodys)), events...)
		if !got.equals(want) {
			t.Errorf("%s as events\ngot %d %s\nwant %d %s", document, got.status, got.body, want.status, want.body)
		}
		pushed, wanted := stranger.subscribe(t, document, id).run(t), stranger.subscribe(t, document, nobodys).run(t)
		if len(pushed) != 1 || len(wanted) != 1 || pushed[0].Type != "error" || string(pushed[0].payload) != string(wanted[0].payload) {
			t.Errorf("%s\ngot %+v\nwant %+v", document, pushed, wanted)
		}
	}
}

// listsNothing: a stranger's list is empty, and the key that ada used is free.
func listsNothing(t *testing.T, stranger caller) {
	t.Helper()
	for _, filter := range []string{`null`, `{"idempotencyKey":"k"}`, `{"submitter":"ada"}`} {
		if ids := stranger.list(t, "filter", filter); len(ids) > 0 {
			t.Errorf("a stranger's list by %s holds %v", filter, ids)
		}
	}
	op := stranger.submit(t, input(`mutation { echo(text: "theirs") { text } }`, "idempotencyKey", `"k"`))
	if ids := stranger.list(t); !slices.Equal(ids, []string{op.ID}) {
		t.Errorf("a stranger's list is %v, want their own %s alone", ids, op.ID)
	}
}

// instant is a moment as JSON text.
func instant(at time.Time) string { return quote(at.UTC().Format(time.RFC3339Nano)) }
