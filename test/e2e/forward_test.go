package e2e

import (
	"strings"
	"testing"

	"asyncgate/test/upstreams"
)

const valuesField = `values(tag: $tag) { json bigs nothing escaped text exponent decimal tag big }`

func TestASynchronousAnswerIsTheUpstreamsByteForByte(t *testing.T) {
	t.Parallel()
	yoga := upstreams.Yoga(t)
	ada := beforeYoga(t, stores["SQLite"](t), yoga, yoga).serve(t).as(token(t, "ada", "acme"))
	for name, document := range map[string]string{
		"query":    `query ($tag: String!) { ` + valuesField + ` }`,
		"mutation": `mutation ($tag: String!) { slow(seconds: 0, tag: $tag) { text big json } }`,
		"failing":  `mutation ($tag: String!) { fail(tag: $tag) { id } }`,
		"partial":  `mutation ($tag: String!) { partial(tag: $tag) { items { id name } } }`,
	} {
		got := ada.ask(t, document, object("tag", quote(name)))
		if want := lastAnswer(t, yoga, name); string(got.body) != want {
			t.Errorf("%s: got %s\nwant %s", name, got.body, want)
		}
	}
}

func TestAQueryMayAskGatewayAndUpstreamAtOnce(t *testing.T) {
	t.Parallel()
	yoga := upstreams.Yoga(t)
	ada := beforeYoga(t, stores["SQLite"](t), yoga, yoga).serve(t).as(token(t, "ada", "acme"))
	got := ada.ask(t, `query ($tag: String!) { asyncMutations { name idempotent maxAttempts } `+valuesField+` __typename asyncOperations { nodes { id } } }`,
		`{"tag":"mixed"}`)
	values := string(at(t, []byte(lastAnswer(t, yoga, "mixed")), "data", "values"))
	want := `{"data":{"asyncMutations":[{"name":"echo","idempotent":false,"maxAttempts":5},{"name":"fail","idempotent":false,"maxAttempts":5},` +
		`{"name":"headers","idempotent":false,"maxAttempts":5},{"name":"slow","idempotent":true,"maxAttempts":2}],` +
		`"values":` + values + `,"__typename":"Query","asyncOperations":{"nodes":[]}}}`
	if string(got.body) != want {
		t.Errorf("got %s\nwant %s", got.body, want)
	}
}

func TestTheMergedSchemaIsIntrospected(t *testing.T) {
	t.Parallel()
	yoga := upstreams.Yoga(t)
	ada := beforeYoga(t, stores["SQLite"](t), yoga, yoga).serve(t).as(token(t, "ada", "acme"))
	got := string(ada.ask(t, `{ __schema { mutationType { fields { name } } } __type(name: "SearchBy") { isOneOf } }`, "").body)
	for _, field := range []string{`{"name":"submitAsync"}`, `{"name":"slow"}`, `"isOneOf":true`} {
		if !strings.Contains(got, field) {
			t.Errorf("%s is not in %s", field, got)
		}
	}
}
