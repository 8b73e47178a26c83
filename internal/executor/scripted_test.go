package executor_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"asyncgate/graph"
	"asyncgate/internal/auth"
	"asyncgate/internal/executor"
)

// shop is the upstream's schema in these tests: roots of another name, and a
// payload that nests the query root.
const shop = `
schema { query: query_root, mutation: mutation_root }
scalar BigInt
scalar JSON
directive @note(text: String) on VARIABLE_DEFINITION | FIELD
enum Colour { RED GREEN }
input Pick @oneOf { a: Int, b: String }
input Item { sku: String!, count: Int = 1, colour: Colour, tags: [String!], nested: [[Int]], big: BigInt }
type Thing { id: ID!, name: String, self: Thing }
type Payload { thing: Thing, query: query_root }
union Any = Thing | query_root
interface Root { sum(n: Int!): Int }
type query_root implements Root { thing(id: ID): Thing, things: [Thing!]!, sum(n: Int!): Int }
type mutation_root {
  pay(amount: Int!, item: Item, pick: Pick, f: Float, b: Boolean, id: ID, json: JSON, ids: [ID!]): Payload
  refund(amount: Int!): Thing
  wipe: Boolean
}`

// allowed is the allowlist in these tests.
var allowed = executor.Allowlist{
	"pay":    {MaxAttempts: 5, Timeout: time.Minute, StartWithin: time.Hour, MaxPriority: 4},
	"refund": {Idempotent: true, MaxAttempts: 3, Timeout: time.Second, StartWithin: time.Minute, MaxPriority: 9, Roles: []string{"clerk"}},
}

var ada = auth.SecurityContext{Issuer: "idp", Subject: "ada", Tenant: "acme", ExpiresAt: time.Now().Add(time.Hour)}

var quiet = slog.New(slog.DiscardHandler)

// surface is the generated gateway, with nothing behind its resolvers.
func surface() executor.Surface { return graph.Surface(&executor.Operations{}, quiet) }

// newShop makes a tenant whose upstream is at url.
func newShop(tb testing.TB, options executor.RemoteOptions) *executor.Tenant {
	tb.Helper()
	if options.Timeout == 0 {
		options.Timeout = 10 * time.Second
	}
	if options.IdleTimeout == 0 {
		options.IdleTimeout = 2 * time.Second
	}
	tenants, err := executor.NewTenants(executor.NewEngines(surface()), []executor.TenantOptions{{
		Name: "acme", Schema: executor.SDL("shop.graphqls", []byte(shop)), Remote: options, Allowlist: allowed,
	}}, quiet)
	if err != nil {
		tb.Fatal(err)
	}
	tenant, err := tenants.Tenant(tb.Context(), "acme")
	if err != nil {
		tb.Fatal(err)
	}
	return tenant
}

// said is a request as the upstream got it.
type said struct {
	Query         string          `json:"query"`
	OperationName *string         `json:"operationName"`
	Variables     json.RawMessage `json:"variables"`
	Header        http.Header     `json:"-"`
	Raw           string          `json:"-"`
}

// scripted is an upstream that answers one text and tells what it heard.
func scripted(tb testing.TB, answer string) (url string, heard <-chan said) {
	tb.Helper()
	requests := make(chan said, 100)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		request := said{Header: r.Header, Raw: string(text)}
		if err := json.Unmarshal(text, &request); err != nil {
			http.Error(w, "not JSON", http.StatusBadRequest)
			return
		}
		requests <- request
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, answer)
	}))
	tb.Cleanup(server.Close)
	return server.URL, requests
}

// hear answers what the upstream heard.
func hear(t *testing.T, heard <-chan said) said {
	t.Helper()
	select {
	case request := <-heard:
		return request
	case <-time.After(5 * time.Second):
		t.Fatal("the upstream heard nothing")
		return said{}
	}
}

// ask runs one request to its first reply.
func ask(ctx context.Context, tenant *executor.Tenant, params executor.Params) executor.Reply {
	run := tenant.Begin(auth.NewContext(ctx, ada), params)
	defer run.Close()
	reply, _ := run.Next()
	return reply
}
