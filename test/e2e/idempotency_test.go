package e2e

import (
	"testing"

	"golang.org/x/sync/errgroup"

	"asyncgate/test/upstreams"
)

func TestOneKeyAndOneRequestAreOneOperation(t *testing.T) {
	t.Parallel()
	yoga := upstreams.Yoga(t)
	onEachStore(t, func(t *testing.T, store string) {
		ada := beforeYoga(t, store, yoga, yoga).serve(t).as(token(t, "ada", "globex"))
		tag := t.Name()
		request := slow("0.2", tag, "idempotencyKey", `"k"`)
		var answers [16]answer
		var all errgroup.Group
		for i := range answers {
			all.Go(func() (err error) {
				answers[i], err = ada.send(t.Context(), body(submitDocument, object("input", request)))
				return err
			})
		}
		if err := all.Wait(); err != nil {
			t.Fatal(err)
		}
		first := operationAt(t, answers[0].body, "data", "submitAsync").ID
		for _, got := range answers {
			if op := operationAt(t, got.body, "data", "submitAsync"); op.ID != first {
				t.Errorf("operations %s and %s came of one request", first, op.ID)
			}
		}
		ada.await(t, first).ended(t, "SUCCEEDED", "", "", 1)
		if again := ada.submit(t, request); again.ID != first || !again.Done || len(again.Result) < 100 {
			t.Errorf("after its end the request answers %+v", again)
		}
		if n := calls(t, yoga, tag); n != "1" {
			t.Errorf("the upstream was called %s times", n)
		}
		if n := rows(t, store); n != 1 {
			t.Errorf("the store holds %d operations", n)
		}
	})
}

func TestAKeyStandsForOneRequest(t *testing.T) {
	t.Parallel()
	yoga := upstreams.Yoga(t)
	const document = `mutation M($value: JSON, $text: String) { echo(value: $value, text: $text) { text } }`
	variants := map[string]struct {
		again string // submitted after document with {"value":{"a":1,"b":2},"text":"x"}, or with none
		same  bool
	}{
		"TheSameVariables":        {input(document, "variables", `{"value":{"a":1,"b":2},"text":"x"}`), true},
		"SortedOtherwise":         {input(document, "variables", `{"text":"x", "value":{"b":2,"a":1}}`), true},
		"AnotherNumber":           {input(document, "variables", `{"value":{"a":1,"b":3},"text":"x"}`), false},
		"ANumberWrittenOtherwise": {input(document, "variables", `{"value":{"a":1.0,"b":2},"text":"x"}`), false},
		"NoVariables":             {input(document), false},
		"AnotherDocument":         {input(document+" ", "variables", `{"value":{"a":1,"b":2},"text":"x"}`), false},
		"AnOperationName":         {input(document, "variables", `{"value":{"a":1,"b":2},"text":"x"}`, "operationName", `"M"`), false},
	}
	onEachStore(t, func(t *testing.T, store string) {
		ada := beforeYoga(t, store, yoga, yoga).serve(t).as(token(t, "ada", "globex"))
		for name, variant := range variants {
			first := ada.submit(t, input(document, "variables", `{"value":{"a":1,"b":2},"text":"x"}`, "idempotencyKey", `"full"`))
			again := ada.trySubmit(t, variant.again[:len(variant.again)-1]+`,"idempotencyKey":"full"}`)
			switch {
			case variant.same && operationAt(t, again.body, "data", "submitAsync").ID != first.ID:
				t.Errorf("%s: another operation came of it", name)
			case !variant.same && again.code() != "IDEMPOTENCY_KEY_REUSED":
				t.Errorf("%s: got %s", name, again.body)
			}
		}
		absent := ada.submit(t, input(document, "idempotencyKey", `"none"`)).ID
		for _, none := range []string{"null", "{}"} {
			if op := ada.submit(t, input(document, "variables", none, "idempotencyKey", `"none"`)); op.ID != absent {
				t.Errorf("variables %s are another request than absent ones", none)
			}
		}
		if n := rows(t, store); n != 2 {
			t.Errorf("the store holds %d operations, want one a key", n)
		}
	})
}
