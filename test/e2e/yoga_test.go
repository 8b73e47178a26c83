package e2e

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"asyncgate/test/upstreams"
)

// slowDocument asks for every value that a gateway might change on its way.
const slowDocument = `mutation Slow($seconds: Float!, $tag: String!) {
	slow(seconds: $seconds, tag: $tag) { json bigs nothing escaped text exponent decimal tag big }
}`

// slow is an input that takes the upstream a while.
func slow(seconds, tag string, members ...string) string {
	return input(slowDocument, append(members, "variables", object("seconds", seconds, "tag", quote(tag)))...)
}

// calls asks an upstream how often mutations with this tag were begun.
func calls(t *testing.T, yoga *upstreams.Server, tag string) string {
	t.Helper()
	got := caller{endpoint: yoga.URL}.ask(t, `query ($tag: String!) { calls(tag: $tag) }`, object("tag", quote(tag)))
	return string(at(t, got.body, "data", "calls"))
}

// began waits until the upstream has begun a mutation with this tag.
func began(t *testing.T, yoga *upstreams.Server, tag string) {
	t.Helper()
	eventually(t, tag+" has begun", func() bool { return calls(t, yoga, tag) == "1" })
}

// lastAnswer is what the upstream answered last to a mutation with this tag.
func lastAnswer(t *testing.T, yoga *upstreams.Server, tag string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, strings.Replace(yoga.URL, "/graphql", "/last?tag="+tag, 1), http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: patience}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%v, status %d: the upstream knows no answer to %s", err, response.StatusCode, tag)
	}
	return string(text)
}
