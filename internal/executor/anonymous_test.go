package executor_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/uuid"

	"asyncgate/internal/asyncop"
	"asyncgate/internal/auth"
	"asyncgate/internal/executor"
)

// runAs runs one request, for whoever is in ctx.
func runAs(ctx context.Context, tenant *executor.Tenant, query string) string {
	run := tenant.Begin(ctx, executor.Params{Query: query})
	defer run.Close()
	reply, _ := run.Next()
	return string(reply.Envelope)
}

// shopThatKnowsCallers tells its upstream who calls.
func shopThatKnowsCallers(t *testing.T) (tenant *executor.Tenant, heard <-chan said) {
	t.Helper()
	identity, err := auth.CompileHeaders(map[string]string{"X-User-Id": "{subject}"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	url, heard := scripted(t, `{"data":{"thing":null}}`)
	return newShop(t, executor.RemoteOptions{URL: url, Identity: identity, Headers: map[string]string{"X-Api-Key": "k"}}), heard
}

func TestAnAnonymousRequestIsForwardedWithoutIdentity(t *testing.T) {
	t.Parallel()
	tenant, heard := shopThatKnowsCallers(t)
	if got := runAs(auth.NewAnonymous(t.Context()), tenant, `{ thing { id } }`); got != `{"data":{"thing":null}}` {
		t.Errorf("got %s", got)
	}
	if header := hear(t, heard).Header; header.Get("X-Api-Key") != "k" || header.Values("X-User-Id") != nil || header.Values("Authorization") != nil {
		t.Errorf("got %v", header)
	}
}

// Who forgets to say who calls must not speak for nobody, nor for everybody.
func TestARequestWithoutAnyCallerIsNotForwarded(t *testing.T) {
	t.Parallel()
	knowing, heard := shopThatKnowsCallers(t)
	url, heardToo := scripted(t, `{"data":{"thing":null}}`)
	for _, tenant := range []*executor.Tenant{knowing, newShop(t, executor.RemoteOptions{URL: url})} {
		if got := runAs(t.Context(), tenant, `{ thing { id } }`); !strings.Contains(got, `"code":"FORBIDDEN"`) {
			t.Errorf("got %s", got)
		}
	}
	if len(heard)+len(heardToo) != 0 {
		t.Error("the upstream was called")
	}
}

// Nothing is behind these operations: whatever got past the first line would panic.
func TestAnonymousRequestsReachNoOperation(t *testing.T) {
	t.Parallel()
	var o executor.Operations
	ctx := auth.NewAnonymous(t.Context())
	for name, call := range map[string]func() error{
		"Submit":    func() error { _, err := o.Submit(ctx, executor.Request{Document: `mutation { wipe }`}); return err },
		"Get":       func() error { _, err := o.Get(ctx, uuid.Nil, nil); return err },
		"Await":     func() error { _, err := o.Await(ctx, uuid.Nil, nil); return err },
		"List":      func() error { _, err := o.List(ctx, executor.Mine, asyncop.Filter{}, 1, ""); return err },
		"Cancel":    func() error { _, err := o.Cancel(ctx, uuid.Nil); return err },
		"Mutations": func() error { _, _, err := o.Mutations(ctx); return err },
		"Updates": func() error {
			_, err := executor.Updates(ctx, &o, uuid.Nil, func(op asyncop.Operation) asyncop.Operation { return op })
			return err
		},
	} {
		if err := call(); !errors.Is(err, auth.ErrUnauthenticated) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	tenant, _ := shopThatKnowsCallers(t)
	for _, document := range []string{
		`mutation { submitAsync(input: {document: "mutation { wipe }"}) { id } }`, `{ asyncMutations { name } }`,
		`{ asyncOperations { nodes { id } } }`, `subscription { operationUpdates(id: "00000000-0000-0000-0000-000000000000") { id } }`,
	} {
		if got := runAs(ctx, tenant, document); !strings.Contains(got, `"code":"UNAUTHENTICATED"`) {
			t.Errorf("%s: got %s", document, got)
		}
	}
}
