package executor

import (
	"crypto/sha256"
	"fmt"
	"runtime"
	"sync"
	"weak"

	"github.com/99designs/gqlgen/graphql/executor"
	"github.com/99designs/gqlgen/graphql/handler/extension"
	"github.com/99designs/gqlgen/graphql/handler/lru"
	"github.com/vektah/gqlparser/v2/ast"
	"golang.org/x/sync/singleflight"

	"asyncgate/internal/executor/schema"
)

// engine is what tenants with the same upstream schema share: the merged
// schema, one gqlgen executor over it, and its cache of documents. It never
// changes. Which tenant's upstream an operation goes to stands in its exchange.
type engine struct {
	executor *executor.Executor
	schema   *composite
}

// newEngine merges the gateway's schema with an upstream's. Errors: what the
// two define differently.
func newEngine(surface Surface, upstream *ast.Schema) (*engine, error) {
	merged, err := schema.Merge(upstream, surface.Gateway(nil).Schema())
	if err != nil {
		return nil, fmt.Errorf("merge schemas: %w", err)
	}
	composed := &composite{merged: merged, gateway: surface.Gateway(merged.Schema), introspected: newIntrospectionCache()}
	exec := executor.New(composed)
	exec.SetQueryCache(documentCache{lru.New[*ast.QueryDocument](cachedDocuments)})
	exec.SetParserTokenLimit(maxDocumentToken)
	exec.SetDefaultRulesFn(validationRules)
	exec.SetErrorPresenter(surface.Present)
	exec.SetRecoverFunc(surface.Recover)
	exec.Use(extension.Introspection{})
	return &engine{executor: exec, schema: composed}, nil
}

// SchemaText is an upstream's schema as text: an SDL file, or the answer to an
// introspection query. Tenants with equal texts share all that is made of it.
type SchemaText struct {
	name string // of the file; "" for an answer
	text []byte
}

// SDL is the text of a schema file; name stands in its errors.
func SDL(name string, text []byte) *SchemaText { return &SchemaText{name: name, text: text} }

func (t SchemaText) parse() (*ast.Schema, error) {
	if t.name == "" {
		return schema.FromIntrospection(t.text)
	}
	return schema.FromSDL(t.name, string(t.text))
}

// key is equal for equal texts of one kind.
func (t SchemaText) key() [32]byte {
	h := sha256.New()
	_, _ = h.Write([]byte(t.name + "\x00"))
	_, _ = h.Write(t.text)
	return [32]byte(h.Sum(nil))
}

// engines keeps one engine for each schema text that a tenant uses. An engine
// that none uses any more is forgotten.
type engines struct {
	surface  Surface
	building singleflight.Group
	answers  chan struct{} // holds one for each upstream's answer in memory

	mu    sync.Mutex
	known map[[32]byte]weak.Pointer[engine] // guarded by mu
}

func newEngines(surface Surface) *engines {
	return &engines{
		surface: surface, answers: make(chan struct{}, answersAtOnce),
		known: map[[32]byte]weak.Pointer[engine]{},
	}
}

// of answers the engine for a text, and makes it where there is none. Errors:
// schema.ErrInvalid, schema.ErrAnswer, schema.ErrConflict.
func (e *engines) of(text SchemaText) (*engine, error) {
	key := text.key()
	made, err, _ := e.building.Do(string(key[:]), func() (any, error) {
		if known := e.lookUp(key); known != nil {
			return known, nil
		}
		upstream, err := text.parse()
		if err != nil {
			return nil, err
		}
		fresh, err := newEngine(e.surface, upstream)
		if err != nil {
			return nil, err
		}
		e.mu.Lock()
		defer e.mu.Unlock()
		e.known[key] = weak.Make(fresh)
		runtime.AddCleanup(fresh, e.forget, key)
		return fresh, nil
	})
	if err != nil {
		return nil, err
	}
	return made.(*engine), nil
}

func (e *engines) lookUp(key [32]byte) *engine {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.known[key].Value()
}

// forget drops the entry of an engine that is gone, unless another took its
// place.
func (e *engines) forget(key [32]byte) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.known[key].Value() == nil {
		delete(e.known, key)
	}
}
