package executor

import (
	"bytes"
	"context"
	"errors"
	"time"

	"asyncgate/internal/auth"
	"asyncgate/internal/executor/raw"
)

// errNotGraphQL: something answers at an upstream's url, and it is no GraphQL.
var errNotGraphQL = errors.New("the upstream answered without a GraphQL response: check its url")

// Probed is what a look at one tenant found. A schema that cannot be learnt,
// since its upstream is not reached, has no fault of its own.
type Probed struct {
	Asked     bool          // false for the "*" tenant, which is many upstreams
	Latency   time.Duration // of the upstream's answer, where it was reached
	Unreached error         // why the upstream was not reached, or nil
	Unusable  error         // schema.ErrInvalid, ErrAnswer or ErrConflict; what kept the schema away; or nil

	Known     bool // there is a usable schema, and the rest is filled in
	Mutations int  // of the upstream
	Unserved  []Unserved

	engine *engine // kept, so that tenants looked at later share it
}

// Probe asks a tenant's upstream whether it is there, learns its schema as
// serving would, and compares the allowlist with it. ctx bounds all of it.
func (e Engines) Probe(ctx context.Context, options TenantOptions) Probed {
	p := Probed{Asked: options.Name != auth.AnyTenant}
	if p.Asked {
		e.probeUpstream(ctx, options, &p)
	}
	if options.Schema != nil {
		p.engine, p.Unusable = e.of(*options.Schema)
	}
	if p.engine != nil {
		tenant := &Tenant{engine: p.engine, allowlist: options.Allowlist}
		p.Known, p.Mutations, p.Unserved = true, len(p.engine.schema.mutations()), tenant.Unserved()
	}
	return p
}

// probeUpstream asks the upstream, for its schema too where no file has it.
func (e Engines) probeUpstream(ctx context.Context, options TenantOptions, p *Probed) {
	remote, err := NewRemote(options.Remote)
	if err != nil {
		p.Unreached = err
		return
	}
	defer remote.Close()
	p.Latency, p.Unreached = remote.reach(ctx)
	if p.Unreached == nil && options.Schema == nil {
		p.engine, p.Unusable = e.ask(ctx, remote)
	}
}

// reach sends the smallest query there is and answers how long it took. An
// upstream that refuses it in GraphQL was reached: it may want to know who asks.
func (r *Remote) reach(ctx context.Context) (time.Duration, error) {
	began := time.Now()
	answer, err := r.introspect(ctx, []byte(`{"query":"{ __typename }"}`), func(context.Context) (*bytes.Buffer, error) {
		return &bytes.Buffer{}, nil
	})
	if err != nil {
		return 0, err
	}
	members, err := raw.Object(answer)
	_, hasData := raw.Get(members, "data")
	_, hasErrors := raw.Get(members, "errors")
	if err != nil || !hasData && !hasErrors {
		return 0, errNotGraphQL
	}
	return time.Since(began), nil
}
