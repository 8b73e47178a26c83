package graph_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"go.uber.org/goleak"

	"asyncgate/graph"
	"asyncgate/internal/asyncop"
	"asyncgate/internal/asyncop/sqlite"
	"asyncgate/internal/auth"
	"asyncgate/internal/executor"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	quiet = slog.New(slog.DiscardHandler)
	ada   = auth.SecurityContext{Issuer: "idp", Subject: "ada", Roles: []string{"clerk"}, ExpiresAt: time.Now().Add(time.Hour)}
)

// gateway is the surface over a real store, before an upstream that is never
// called: nothing claims.
type gateway struct {
	tenant  *executor.Tenant
	store   *sqlite.Store
	records *faultyRecords // the store, as it is until a test breaks it
	reach   auth.Reach
}

// faultyRecords fails each Get while broken is set; the rest is the real store.
type faultyRecords struct {
	executor.Records
	broken atomic.Bool
}

func (r *faultyRecords) Get(ctx context.Context, scope asyncop.Scope, id uuid.UUID) (asyncop.Operation, error) {
	if r.broken.Load() {
		return asyncop.Operation{}, errors.New("the store is away")
	}
	return r.Records.Get(ctx, scope, id)
}

func newGateway(t *testing.T, log *slog.Logger) *gateway {
	t.Helper()
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "graph.db"), sqlite.Options{Migrate: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	g := &gateway{store: store}
	g.records = &faultyRecords{Records: store}
	operations := &executor.Operations{
		Records: g.records, Hub: asyncop.NewHub(time.Second, quiet),
		Limits: func() executor.Limits { return executor.Limits{MaxAge: 24 * time.Hour} },
		Reach:  func(auth.SecurityContext) auth.Reach { return g.reach },
	}
	const sdl = `scalar Any type Query { a: Int } type Mutation { run(x: Any, n: Int): Int }`
	tenants, err := executor.NewTenants(executor.NewEngines(graph.Surface(operations, log)), []executor.TenantOptions{{
		Schema: executor.SDL("up.graphqls", []byte(sdl)), Remote: executor.RemoteOptions{URL: "http://127.0.0.1:1"},
		Allowlist: executor.Allowlist{
			"run":  {Idempotent: true, MaxAttempts: 3, Timeout: 90 * time.Second, StartWithin: time.Hour, MaxPriority: 9},
			"boss": {Roles: []string{"boss"}},
			"gone": {MaxAttempts: 1}, // not in the upstream
		},
	}}, log)
	if err != nil {
		t.Fatal(err)
	}
	operations.Tenants = tenants
	if g.tenant, err = tenants.Tenant(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	return g
}

func (g *gateway) ask(t *testing.T, query, variables string) string {
	t.Helper()
	run := g.tenant.Begin(auth.NewContext(graph.WithRequestID(t.Context(), "req-1"), ada), executor.Params{Query: query, Variables: json.RawMessage(variables)})
	defer run.Close()
	reply, _ := run.Next()
	return string(reply.Envelope)
}

// Without its handle a client would submit again, and the work be done twice.
func TestAHandleIsAnsweredThoughTheStoreIsAwayWhileItWaits(t *testing.T) {
	t.Parallel()
	g := newGateway(t, quiet)
	g.records.broken.Store(true)
	got := g.ask(t, `mutation { submitAsync(input: {document: "mutation { run }", waitMs: 100}) { state } }`, ``)
	if want := `{"data":{"submitAsync":{"state":"QUEUED"}}}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestSubmittedVariablesKeepTheirBytes(t *testing.T) {
	t.Parallel()
	const document = `mutation($x: Any) { run(x: $x) }`
	const exact = `{ "x" : {"z":9007199254740993,"a":1.10,"s":"\u0000<é","n":null} }`
	g := newGateway(t, quiet)
	cases := map[string]struct{ query, variables, want string }{
		"InAWholeInput": {
			`mutation($in: SubmitAsyncInput!) { submitAsync(input: $in) { variables } }`,
			`{"in":{"document":"` + document + `","variables":` + exact + `}}`, exact,
		},
		"AsAVariableOfTheirOwn": {
			`mutation($v: JSON) { submitAsync(input: {document: "` + document + `", variables: $v}) { variables } }`,
			`{"v":` + exact + `}`, exact,
		},
		"AsALiteral": {
			`mutation { submitAsync(input: {document: "` + document + `", variables: {x: {z: 9007199254740993, a: 1.10, s: "<é", n: null, l: [1, true]}}}) { variables } }`,
			``, `{"x":{"z":9007199254740993,"a":1.10,"s":"<é","n":null,"l":[1,true]}}`,
		},
		"AsALiteralBeyond64Bits": {
			`mutation { submitAsync(input: {document: "` + document + `", variables: {x: [12345678901234567890, 1e400]}}) { variables } }`,
			``, `{"x":[12345678901234567890,1e400]}`,
		},
		"InsideALiteral": {
			`mutation($big: JSON) { submitAsync(input: {document: "` + document + `", variables: {x: $big}}) { variables } }`,
			`{"big":12345678901234567890}`, `{"x":12345678901234567890}`,
		},
		"AsADefault": {
			`mutation($v: JSON = {x: 12345678901234567890}) { submitAsync(input: {document: "` + document + `", variables: $v}) { variables } }`,
			``, `{"x":12345678901234567890}`,
		},
		"InAWholeInputsDefault": {
			`mutation($in: SubmitAsyncInput! = {document: "` + document + `", variables: {x: 9007199254740993}}) { submitAsync(input: $in) { variables } }`,
			``, `{"x":9007199254740993}`,
		},
		"InsideALiteralAndNotGiven": {
			`mutation($big: JSON) { submitAsync(input: {document: "` + document + `", variables: {x: [$big], y: $big}}) { variables } }`,
			`{}`, `{"x":[null]}`,
		},
		"Absent": {`mutation { submitAsync(input: {document: "` + document + `"}) { variables } }`, ``, `null`},
		"Null":   {`mutation { submitAsync(input: {document: "` + document + `", variables: null}) { variables } }`, ``, `null`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got, want := g.ask(t, c.query, c.variables), `{"data":{"submitAsync":{"variables":`+c.want+`}}}`; got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

func TestBadArgumentsAreBadUserInput(t *testing.T) {
	t.Parallel()
	const submit = `submitAsync(input: {document: "mutation { run }"`
	g := newGateway(t, quiet)
	for _, query := range []string{
		`{ asyncOperation(id: "nope") { id } }`,
		`{ asyncOperation(id: 7) { id } }`,
		`{ asyncOperation(id: "{01890a5d-ac96-774b-bcce-b302099a8057}") { id } }`,
		`{ asyncOperation(id: "01890a5d-ac96-774b-bcce-b302099a8057", waitMs: 60001) { id } }`,
		`{ asyncOperation(id: "01890a5d-ac96-774b-bcce-b302099a8057", waitMs: -1) { id } }`,
		`{ asyncOperations(first: 0) { nodes { id } } }`,
		`{ asyncOperations(first: 101) { nodes { id } } }`,
		`{ asyncOperations(after: "nope") { nodes { id } } }`,
		`{ asyncOperations(filter: {label: "\u0000"}) { nodes { id } } }`, // PostgreSQL refuses the statement
		`{ asyncOperations(filter: {submitter: "ada\u0000"}) { nodes { id } } }`,
		`mutation { cancelAsync(id: "nope") { outcome } }`,
		`mutation { ` + submit + `, waitMs: 60001}) { id } }`,
		`mutation { ` + submit + `, notBefore: "tomorrow"}) { id } }`,
		`mutation { ` + submit + `, priority: 10}) { id } }`,
		`mutation { ` + submit + `, variables: [1]}) { id } }`,
		`mutation { ` + submit + `, idempotencyKey: ""}) { id } }`,
		`subscription { operationResult(id: "nope") { id } }`,
		`subscription { operationUpdates(id: "nope") { id } }`,
	} {
		if got := g.ask(t, query, ""); !strings.Contains(got, `"code":"BAD_USER_INPUT"`) {
			t.Errorf("%s: got %s", query, got)
		}
	}
	if got := g.ask(t, `{ asyncOperations { nodes { id } } }`, ""); got != `{"data":{"asyncOperations":{"nodes":[]}}}` {
		t.Errorf("something was stored: %s", got)
	}
}

func TestOnlyAdminsListOthersOperations(t *testing.T) {
	t.Parallel()
	g := newGateway(t, quiet)
	for scope, reach := range map[string]auth.Reach{
		"TENANT": {TenantAdmin: true, Tenants: []string{"*"}},
		"ALL":    {Admin: true, Tenants: []string{"*"}},
	} {
		query := `{ asyncOperations(scope: ` + scope + `) { nodes { id } } }`
		g.reach = auth.Reach{Tenants: []string{"*"}}
		if got := g.ask(t, query, ""); !strings.Contains(got, `"code":"FORBIDDEN"`) {
			t.Errorf("%s: got %s", scope, got)
		}
		g.reach = reach
		if got := g.ask(t, query, ""); !strings.Contains(got, `"nodes":[]`) {
			t.Errorf("%s: got %s", scope, got)
		}
	}
}

func TestAListIsPagedByCursors(t *testing.T) {
	t.Parallel()
	g := newGateway(t, quiet)
	for range 3 {
		g.ask(t, `mutation { submitAsync(input: {document: "mutation { run }"}) { id } }`, "")
	}
	const page = `query($after: String) { asyncOperations(first: 2, after: $after) { edges { cursor } nodes { state } pageInfo { hasNextPage hasPreviousPage endCursor } } }`
	var first struct {
		Data struct {
			AsyncOperations struct {
				PageInfo struct {
					HasNextPage     bool
					HasPreviousPage bool
					EndCursor       string
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(g.ask(t, page, "")), &first); err != nil {
		t.Fatal(err)
	}
	info := first.Data.AsyncOperations.PageInfo
	if !info.HasNextPage || info.HasPreviousPage {
		t.Errorf("the first page: %+v", info)
	}
	second := g.ask(t, page, `{"after":"`+info.EndCursor+`"}`)
	if strings.Count(second, `"cursor"`) != 1 || !strings.Contains(second, `"hasNextPage":false,"hasPreviousPage":true`) {
		t.Errorf("the second page: %s", second)
	}
}

func TestTheAllowlistShownIsTheCallers(t *testing.T) {
	t.Parallel()
	got := newGateway(t, quiet).ask(t, `{ asyncMutations { name idempotent maxAttempts timeoutMs } }`, "")
	if want := `{"data":{"asyncMutations":[{"name":"run","idempotent":true,"maxAttempts":3,"timeoutMs":90000}]}}`; got != want {
		t.Errorf("got %s", got)
	}
}

func TestAnUnknownErrorTellsARequestIDAndTheLogTheCause(t *testing.T) {
	t.Parallel()
	var lines strings.Builder
	present := graph.Presenter(slog.New(slog.NewJSONHandler(&lines, nil)))
	ctx := graph.WithRequestID(context.Background(), "req-1")
	told := present(ctx, errors.New("pq: password authentication failed"))
	if told.Extensions["code"] != "INTERNAL" || !strings.Contains(told.Message, "req-1") || strings.Contains(told.Message, "password") {
		t.Errorf("the client reads %q", told.Message)
	}
	if !strings.Contains(lines.String(), "password authentication failed") || !strings.Contains(lines.String(), "req-1") {
		t.Errorf("the log says %s", lines.String())
	}
}

func TestEverySentinelHasACode(t *testing.T) {
	t.Parallel()
	for err, want := range map[error]string{
		auth.ErrUnauthenticated:   "UNAUTHENTICATED",
		auth.ErrForbidden:         "FORBIDDEN",
		auth.ErrTenantUnknown:     "TENANT_UNKNOWN",
		executor.ErrTenantUnknown: "TENANT_UNKNOWN",
		executor.ErrUnavailable:   "UNAVAILABLE",
		executor.ErrWaitTimeout:   "WAIT_TIMEOUT",
		asyncop.ErrNotFound:       "NOT_FOUND",
		asyncop.ErrKeyReused:      "IDEMPOTENCY_KEY_REUSED",
		asyncop.ErrBadCursor:      "BAD_USER_INPUT",
		errors.New("anything"):    "INTERNAL",
	} {
		if got := graph.Code(err); got != want {
			t.Errorf("%v: got %s, want %s", err, got, want)
		}
	}
}
