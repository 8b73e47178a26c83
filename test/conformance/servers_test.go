package conformance

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vektah/gqlparser/v2/ast"

	"asyncgate/internal/auth"
	"asyncgate/test/gateway"
	"asyncgate/test/upstreams"
)

// server is a kind of GraphQL server.
type server struct {
	name   string // of its tenant too
	start  func(t testing.TB) *upstreams.Server
	corpus string // the folder of its documents
	// mutations are those that may be submitted.
	mutations []string
	// unordered: the errors of one answer come in any order.
	unordered bool

	// What made-up documents are made of.
	repeatable []string           // the mutations that answer twice the same
	unsaid     []string           // fields, as Type.field, that do not
	directives []string           // that change nothing
	ids        []string           // of what there is, and of what is not
	scalars    map[string][]value // of its own, with values
}

// repeats reports whether a field answers twice the same.
func (s server) repeats(on *ast.Definition, field *ast.FieldDefinition) bool {
	if on.Name == "Mutation" {
		return slices.Contains(s.repeatable, field.Name)
	}
	return !slices.Contains(s.unsaid, on.Name+"."+field.Name)
}

var shopMutations = []string{"save", "saveAll", "remove", "echo", "refuse", "mustFail", "partly", "fragile"}

// shop is a server of the shop.
func shop(name string, start func(t testing.TB) *upstreams.Server) server {
	return server{
		name: name, start: start, corpus: "shop", mutations: shopMutations, repeatable: shopMutations,
		directives: []string{"note", "rank"},
		ids:        []string{"p1", "p2", "p3", "p4", "b1", "m1", "m2", "none", ""},
		scalars: map[string][]value{
			"BigInt":  {same("0"), same("-5"), same("9007199254740993")},
			"Decimal": {same("1.10"), same("0"), same("-1.5E-7"), same("123456789.123456789")},
			"JSON": {
				same("[]"), same("{}"), same("true"), same(`"text"`), same("[1, [2.50, {}], null]"),
				{json: `{"z":1.0, "a":[null,{"b":9007199254740993}]}`, literal: written(`{z: 1.0, a: [null, {b: 9007199254740993}]}`)},
			},
		},
	}
}

var postgraphileMutations = []string{
	"double", "refuse", "rename", "createThing", "createMaker", "createCheap", "updateThingByRowId", "updateThingByName",
	"updateMaker", "updateMakerByRowId", "deleteThingByRowId", "deleteThingByName", "deleteMakerByRowId",
}

var postgraphile = server{
	name: "postgraphile", start: upstreams.PostGraphile, corpus: "postgraphile",
	mutations: postgraphileMutations, repeatable: []string{"double", "refuse"},
	ids: []string{"query", "WyJUaGluZyIsIjEiXQ==", "WyJNYWtlciIsMV0=", "WyJNYWtlciIsOV0=", "none"},
	scalars: map[string][]value{
		"BigInt":   {same(`"1"`), same(`"2"`), same(`"9007199254740993"`), same(`"-5"`)},
		"BigFloat": {same(`"1.10"`), same(`"-7"`), same(`"0.000000000000000000001"`)},
		"Cursor":   {same("null")},
		"JSON":     {same(`"{}"`), {json: `{"z":1.5, "a":[null,{"b":true}]}`, literal: written(`"{\"z\": 1.10}"`)}},
	},
}

// servers is every server. The errors of one answer of gqlgen come in any
// order, since it resolves the fields of a query at once.
func servers() []server {
	gqlgen := shop("gqlgen", upstreams.Gqlgen)
	gqlgen.unordered = true
	return []server{
		shop("yoga", upstreams.YogaShop), shop("apollo", upstreams.Apollo), shop("mercurius", upstreams.Mercurius), gqlgen, postgraphile,
	}
}

const (
	issuer  = "https://issuer.example/"
	secret  = "a secret that these tests alone know"
	subject = "ada"
)

// configuration is the gateway's, but for its tenants. Documents stay within
// its default limits: what they refuse never reaches a server.
const configuration = `
listen: 127.0.0.1:0
store: sqlite:operations.db
auth: {jwt: [{issuer: "` + issuer + `", hs256_secret: "` + secret + `"}]}
identity: {headers: {X-User-Id: "{subject}"}}
mutations: {}
tenants:
`

// pair is a server, and the way to it through the gateway.
type pair struct {
	server
	direct, through endpoint
	tally           *tally
}

// start starts every server and one gateway before them all.
func start(t *testing.T) []*pair {
	t.Helper()
	all := servers()
	pairs := make([]*pair, len(all))
	var starting sync.WaitGroup
	for i, s := range all {
		pairs[i] = &pair{server: s, tally: &tally{}}
		starting.Go(func() { pairs[i].direct = newEndpoint(t, s.start(t).URL, "X-User-Id", subject) })
	}
	starting.Wait()
	var config strings.Builder
	config.WriteString(configuration)
	for _, p := range pairs {
		fmt.Fprintf(&config, "  %s: {upstream: {url: %q}, mutations: {%s: {}}}\n", p.name, p.direct.url, strings.Join(p.mutations, ": {}, "))
	}
	path := filepath.Join(t.TempDir(), "gateway.yaml")
	if err := os.WriteFile(path, []byte(config.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	url := gateway.Serve(t, binary, path)
	for _, p := range pairs {
		p.through = newEndpoint(t, url, "Authorization", "Bearer "+token(t, p.name))
	}
	return pairs
}

func token(t *testing.T, tenant string) string {
	t.Helper()
	minted, err := auth.Mint(auth.Issuer{Issuer: issuer, HS256Secret: []byte(secret)},
		auth.SecurityContext{Subject: subject, Tenant: tenant}, time.Hour, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return minted
}
