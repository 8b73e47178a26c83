package conformance

import (
	"bytes"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"

	"asyncgate/internal/executor/raw"
)

// submit submits a document and waits for its end.
const submit = `mutation ($input: SubmitAsyncInput!) { submitAsync(input: $input) { done result error { code } } }`

// submissionsAnswerTheSame holds the mutations of the corpus, submitted, to
// the server's own answers.
func (p *pair) submissionsAnswerTheSame(t *testing.T) {
	submitted := 0
	for _, d := range readCorpus(t, p.corpus) {
		if !d.isFor(p.name) || !d.mayBeSubmitted(t) {
			continue
		}
		submitted++
		want := p.direct.post(t, d.body())
		d.name += ", submitted"
		p.judge(t, d, bytes.TrimSpace(want), p.submit(t, d))
	}
	if submitted == 0 {
		t.Error("the corpus has no mutation to submit")
	}
}

// mayBeSubmitted: a mutation of something else than __typename.
func (d document) mayBeSubmitted(t *testing.T) bool {
	t.Helper()
	parsed := d.parse(t)
	operation := parsed.Operations.ForName(d.operationName)
	return operation.Operation == ast.Mutation && !asksForTypenameOnly(operation.SelectionSet, parsed.Fragments)
}

// submit answers the result's text.
func (p *pair) submit(t *testing.T, d document) []byte {
	t.Helper()
	input := []raw.Member{{Name: "document", Value: raw.Quote(d.text)}, {Name: "waitMs", Value: []byte("60000")}}
	if d.operationName != "" {
		input = append(input, raw.Member{Name: "operationName", Value: raw.Quote(d.operationName)})
	}
	if d.variables != "" {
		input = append(input, raw.Member{Name: "variables", Value: []byte(d.variables)})
	}
	variables := writeObject([]raw.Member{{Name: "input", Value: writeObject(input)}})
	answer := p.through.post(t, document{text: submit, variables: string(variables)}.body())
	result := answer
	for _, name := range []string{"data", "submitAsync", "result"} {
		members, err := raw.Object(result)
		if err != nil || len(members) == 0 {
			t.Fatalf("%s: answered %s", d.name, answer)
		}
		result, _ = raw.Get(members, name)
	}
	return result
}
