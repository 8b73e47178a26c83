package conformance

import (
	"context"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"

	"asyncgate/internal/executor/schema"
)

// fewest is how many documents of the corpus each server must be asked.
const fewest = 120

func TestTheGatewayChangesNothingThatAServerSays(t *testing.T) {
	t.Parallel()
	pairs := start(t)
	t.Cleanup(func() { t.Log(table(pairs)) })
	for _, p := range pairs {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			t.Run("Corpus", p.answersTheCorpus)
			t.Run("MadeUp", p.answersWhatIsMadeUp)
			t.Run("Submitted", p.submissionsAnswerTheSame)
			t.Run("Introspection", p.introspectionKeepsTheServersSchema)
		})
	}
}

func (p *pair) answersTheCorpus(t *testing.T) {
	asked := 0
	for _, d := range readCorpus(t, p.corpus) {
		if d.isFor(p.name) {
			asked++
			p.compare(t, d)
		}
	}
	if asked < fewest {
		t.Errorf("asked %d documents, want %d at least", asked, fewest)
	}
}

func (p *pair) answersWhatIsMadeUp(t *testing.T) {
	known := p.schema(t)
	for n := range *documents {
		p.compare(t, makeUp(p.server, known, *seed, n))
	}
}

// schema is what the server says of itself.
func (p *pair) schema(t *testing.T) *ast.Schema {
	t.Helper()
	said, err := schema.Introspect(t.Context(), func(_ context.Context, body []byte) ([]byte, error) {
		return p.direct.post(t, body), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	known, err := schema.FromIntrospection(said)
	if err != nil {
		t.Fatal(err)
	}
	return known
}
