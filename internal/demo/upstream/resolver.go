package upstream

import (
	"context"
	"fmt"
	"sync"
	"time"

	"asyncgate/internal/demo/upstream/catalogue"
	"asyncgate/internal/demo/upstream/generated"
)

// resolver answers each caller from the catalogue of its tenant.
type resolver struct {
	mu         sync.Mutex
	catalogues map[string]*catalogue.Catalogue // by tenant; guarded by mu
}

func newResolver() *resolver {
	return &resolver{catalogues: make(map[string]*catalogue.Catalogue)}
}

// Query is generated.ResolverRoot's.
func (r *resolver) Query() generated.QueryResolver { return query{r} }

// Mutation is generated.ResolverRoot's.
func (r *resolver) Mutation() generated.MutationResolver { return mutation{r} }

// catalogue returns the caller and its tenant's catalogue, a new one where the
// tenant calls for the first time. Errors: errUnauthenticated.
func (r *resolver) catalogue(ctx context.Context) (Caller, *catalogue.Catalogue, error) {
	caller, err := callerFrom(ctx)
	if err != nil {
		return Caller{}, nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.catalogues[caller.Tenant] == nil {
		r.catalogues[caller.Tenant] = catalogue.New()
	}
	return caller, r.catalogues[caller.Tenant], nil
}

type query struct{ *resolver }

func (r query) Me(ctx context.Context) (*generated.Viewer, error) {
	caller, err := callerFrom(ctx)
	if err != nil {
		return nil, err
	}
	return &generated.Viewer{ID: caller.ID, Tenant: caller.Tenant, Roles: caller.Roles}, nil
}

func (r query) Products(ctx context.Context, search *string) ([]catalogue.Product, error) {
	_, goods, err := r.catalogue(ctx)
	if err != nil {
		return nil, err
	}
	if search == nil {
		search = new(string)
	}
	return goods.Products(*search), nil
}

func (r query) Product(ctx context.Context, id string) (*catalogue.Product, error) {
	_, goods, err := r.catalogue(ctx)
	if err != nil {
		return nil, err
	}
	return orNull(goods.Product(id)), nil
}

func (r query) Report(ctx context.Context, id string) (*catalogue.Report, error) {
	_, goods, err := r.catalogue(ctx)
	if err != nil {
		return nil, err
	}
	return orNull(goods.Report(id)), nil
}

func (r query) MutationCalls(ctx context.Context) ([]catalogue.MutationCalls, error) {
	_, goods, err := r.catalogue(ctx)
	if err != nil {
		return nil, err
	}
	return goods.Calls(), nil
}

type mutation struct{ *resolver }

func (r mutation) GenerateReport(ctx context.Context, title string, seconds float64) (*catalogue.Report, error) {
	caller, goods, err := r.catalogue(ctx)
	if err != nil {
		return nil, err
	}
	goods.Count("generateReport")
	if err := work(ctx, seconds); err != nil {
		return nil, err
	}
	report, err := goods.AddReport(title, caller.ID)
	return &report, err
}

func (r mutation) ImportCatalog(ctx context.Context, products []catalogue.ProductInput) (*catalogue.ImportResult, error) {
	_, goods, err := r.catalogue(ctx)
	if err != nil {
		return nil, err
	}
	goods.Count("importCatalog")
	result, err := goods.Import(products)
	return &result, err
}

func (r mutation) ChargeCard(ctx context.Context, _ int) (*generated.Receipt, error) {
	_, goods, err := r.catalogue(ctx)
	if err != nil {
		return nil, err
	}
	goods.Count("chargeCard")
	return nil, errDeclined
}

// work takes that many seconds, or less where the caller has gone. Errors:
// catalogue.ErrInvalid, and the context's.
func work(ctx context.Context, seconds float64) error {
	const most = 3600
	if seconds < 0 || seconds > most {
		return fmt.Errorf("%w: seconds must be from 0 to %d", catalogue.ErrInvalid, most)
	}
	timer := time.NewTimer(time.Duration(seconds * float64(time.Second)))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// orNull makes what was not found null.
func orNull[T any](found T, ok bool) *T {
	if !ok {
		return nil
	}
	return &found
}
