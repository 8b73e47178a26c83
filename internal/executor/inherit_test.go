package executor_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"asyncgate/internal/executor"
)

// introspectable serves the introspection of a schema that can be changed, and
// nothing while it has none: a tenant of the same schema answers for it.
func introspectable(t *testing.T) (url string, change func(sdl string)) {
	t.Helper()
	var now atomic.Pointer[executor.Tenant]
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var request struct{ Query string }
		tenant := now.Load()
		if err := json.NewDecoder(r.Body).Decode(&request); err != nil || tenant == nil {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		_, _ = w.Write(ask(context.Background(), tenant, executor.Params{Query: request.Query}).Envelope)
	}))
	t.Cleanup(server.Close)
	return server.URL, func(sdlText string) {
		if sdlText == "" {
			now.Store(nil)
			return
		}
		tenants, err := executor.NewTenants(executor.NewEngines(surface()), []executor.TenantOptions{{Schema: sdl(sdlText)}}, quiet)
		if err != nil {
			t.Fatal(err)
		}
		tenant, err := tenants.Tenant(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		now.Store(tenant)
	}
}

func TestAReloadAsksUpstreamsAgainAndServesTheOldSchemaMeanwhile(t *testing.T) {
	t.Parallel()
	url, change := introspectable(t)
	engines := executor.NewEngines(surface())
	generation := func() *executor.Tenants {
		t.Helper()
		tenants, err := executor.NewTenants(engines, []executor.TenantOptions{{Name: "acme", Remote: remote(url)}}, quiet)
		if err != nil {
			t.Fatal(err)
		}
		return tenants
	}
	knows := func(tenants *executor.Tenants, field string) bool {
		t.Helper()
		tenant, err := tenants.Tenant(t.Context(), "acme")
		if err != nil {
			t.Fatal(err)
		}
		reply := ask(t.Context(), tenant, executor.Params{Query: `{ __type(name: "Query") { fields { name } } }`})
		return strings.Contains(string(reply.Envelope), `"`+field+`"`)
	}

	change(`type Query { old: Int }`)
	first := generation()
	if err := first.Load(t.Context()); err != nil || !knows(first, "old") {
		t.Fatalf("the first generation: %v", err)
	}
	change(`type Query { old: Int brandNew: Int }`)
	second := generation()
	second.Inherit(first)
	if !knows(second, "old") || knows(second, "brandNew") {
		t.Error("before it has asked, the second generation does not serve the old schema")
	}
	if err := second.Load(t.Context()); err != nil || !knows(second, "brandNew") {
		t.Errorf("the second generation: %v", err)
	}
	change("")
	third := generation()
	third.Inherit(second)
	if err := third.Load(t.Context()); err != nil || !knows(third, "brandNew") {
		t.Errorf("with its upstream down: %v", err)
	}
}

// An upstream may call an ordinary type Subscription; the gateway's own root
// then has another name, and works.
func TestAnUpstreamsTypeMayBeCalledSubscription(t *testing.T) {
	t.Parallel()
	url, heard := scripted(t, `{"data":{"plan":{"id":"1"}}}`)
	tenants, err := executor.NewTenants(executor.NewEngines(surface()), []executor.TenantOptions{{
		Schema: sdl(`schema { query: Query } type Query { plan: Subscription } type Subscription { id: ID }`), Remote: remote(url),
	}}, quiet)
	if err != nil {
		t.Fatal(err)
	}
	tenant, err := tenants.Tenant(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	if reply := ask(t.Context(), tenant, executor.Params{Query: `{ plan { id } }`}); string(reply.Envelope) != `{"data":{"plan":{"id":"1"}}}` {
		t.Errorf("got %s", reply.Envelope)
	}
	hear(t, heard)
	reply := ask(t.Context(), tenant, executor.Params{Query: `subscription { operationResult(id: "nope") { id } }`})
	if !strings.Contains(string(reply.Errors), "id is not a UUID") {
		t.Errorf("got %s", reply.Envelope)
	}
}
