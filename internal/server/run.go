package server

import (
	"context"

	"github.com/vektah/gqlparser/v2/ast"

	"asyncgate/internal/asyncop"
	"asyncgate/internal/executor"
)

// tenant is the part of an executor.Tenant that the transports use.
type tenant interface {
	Begin(ctx context.Context, params executor.Params) run
}

// run is an executor.Run.
type run interface {
	Kind() ast.Operation
	Next() (executor.Reply, bool)
	Submittable() bool
	Ended(op asyncop.Operation) (executor.Reply, bool)
	Close()
}

// tenants is Tenants, answering the interface above.
type tenants interface {
	tenant(ctx context.Context, name string) (tenant, error)
}

type executorTenants struct{ Tenants }

func (t executorTenants) tenant(ctx context.Context, name string) (tenant, error) {
	found, err := t.Tenant(ctx, name)
	if err != nil {
		return nil, err
	}
	return executorTenant{found}, nil
}

type executorTenant struct{ served *executor.Tenant }

func (t executorTenant) Begin(ctx context.Context, params executor.Params) run {
	return t.served.Begin(ctx, params)
}

// begin is Begin for goroutines of our own, where a panic would end the
// process: it becomes the only reply.
func (s *Server) begin(ctx context.Context, t tenant, params executor.Params) (begun run) {
	defer func() {
		if cause := recover(); cause != nil {
			begun = &panicked{reply: s.panicReply(ctx, cause)}
		}
	}()
	return t.Begin(ctx, params)
}

// next is Next likewise: a panic becomes a reply with errors.
func (s *Server) next(ctx context.Context, r run) (reply executor.Reply, ok bool) {
	defer func() {
		if cause := recover(); cause != nil {
			reply, ok = s.panicReply(ctx, cause), true
		}
	}()
	return r.Next()
}

// panicked is the run of a request whose beginning panicked.
type panicked struct {
	reply executor.Reply
	told  bool
}

func (p *panicked) Kind() ast.Operation                            { return "" }
func (p *panicked) Close()                                         {}
func (p *panicked) Submittable() bool                              { return false }
func (p *panicked) Ended(asyncop.Operation) (executor.Reply, bool) { return p.reply, true }

func (p *panicked) Next() (executor.Reply, bool) {
	first := !p.told
	p.told = true
	return p.reply, first
}
