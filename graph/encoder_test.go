package graph_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"

	"asyncgate/graph"
	"asyncgate/graph/shape"
	"asyncgate/internal/asyncop"
)

// everything selects what an encoded operation has, in the schema's order.
const everything = `id state done mutations operationName document variables label attempts maxAttempts priority submitter
	submitterIssuer tenant cancellationRequested result error { code message retryable execution }
	attemptLog { startedAt finishedAt node code execution } purged retryOf idempotencyKey pollAfterMs createdAt notBefore
	startBefore startedAt finishedAt`

func TestAnEncodedOperationIsWhatAQueryAnswers(t *testing.T) {
	t.Parallel()
	g := newGateway(t, quiet)
	for name, input := range map[string]string{
		"Queued": `document: "mutation($x: Any) { run(x: $x) }", variables: {x: ["<é", 12345678901234567890, 1.10]}, label: "a&b", idempotencyKey: "k"`,
		"Plain":  `document: "mutation { run }"`,
	} {
		submitted := g.ask(t, `mutation { submitAsync(input: {`+input+`}) { id } }`, "")
		_, id, _ := strings.Cut(submitted, `"id":"`)
		id, _, _ = strings.Cut(id, `"`)
		if name == "Plain" { // done, so that no time to poll after is in it
			g.ask(t, `mutation { cancelAsync(id: "`+id+`") { outcome } }`, "")
		}
		op, err := g.store.Get(t.Context(), asyncop.EverythingScope(), uuid.MustParse(id))
		if err != nil {
			t.Fatal(err)
		}
		got, err := graph.NewEncoder().Encode(t.Context(), shape.Of(op))
		if err != nil {
			t.Fatal(err)
		}
		want := g.ask(t, `{ asyncOperation(id: "`+id+`") { `+everything+` } }`, "")
		want = strings.TrimSuffix(strings.TrimPrefix(want, `{"data":{"asyncOperation":`), `}}`)
		if string(got) != want {
			t.Errorf("%s: got  %s\nwant %s", name, got, want)
		}
	}
}
