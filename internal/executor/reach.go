package executor

import (
	"context"

	"asyncgate/internal/asyncop"
	"asyncgate/internal/auth"
)

// Listing says whose operations a list is of.
type Listing int8

// The three listings: AsyncScope of the schema.
const (
	Mine Listing = iota
	OfTenant
	OfAll
)

// The bounds of a page.
const maxPage = 100

// List answers a page of operations. Errors: a RefusalError with BAD_USER_INPUT,
// auth.ErrForbidden, asyncop.ErrBadCursor.
func (o *Operations) List(ctx context.Context, listing Listing, filter asyncop.Filter, first int, after string) (asyncop.Page, error) {
	caller, err := auth.FromContext(ctx)
	if err != nil {
		return asyncop.Page{}, err
	}
	if first < 1 || first > maxPage {
		return asyncop.Page{}, badInput("first must be between 1 and %d", maxPage)
	}
	for name, text := range map[string]string{
		"mutation": filter.Mutation, "label": filter.Label, "idempotencyKey": filter.IdempotencyKey, "submitter": filter.Submitter,
	} {
		if !storable(text) {
			return asyncop.Page{}, badInput("the filter's %s holds U+0000 or invalid UTF-8, which nothing stored does", name)
		}
	}
	list := asyncop.List{Filter: filter, First: first}
	if list.Scope, err = o.scope(caller, listing); err != nil {
		return asyncop.Page{}, err
	}
	if after != "" {
		cursor, err := asyncop.ParseCursor(after)
		if err != nil {
			return asyncop.Page{}, err
		}
		list.After = &cursor
	}
	page, err := o.Records.List(ctx, list)
	return page, unavailable(ctx, err)
}

// own reaches a caller's own operations.
func own(caller auth.SecurityContext) asyncop.Scope {
	return asyncop.SubmitterScope(caller.Tenant, caller.Issuer, caller.Subject)
}

// scope is what a listing asks for. Errors: auth.ErrForbidden.
func (o *Operations) scope(caller auth.SecurityContext, listing Listing) (asyncop.Scope, error) {
	reach := o.Reach(caller)
	switch {
	case listing == Mine:
		return own(caller), nil
	case listing == OfTenant && (reach.TenantAdmin || reach.Admin):
		return asyncop.TenantsScope(caller.Tenant), nil
	case listing == OfAll && reach.Admin:
		return everything(reach), nil
	default:
		return asyncop.Scope{}, auth.ErrForbidden
	}
}

// reach is the most that a caller's roles reach: for what names an operation.
func (o *Operations) reach(caller auth.SecurityContext) asyncop.Scope {
	reach := o.Reach(caller)
	switch {
	case reach.Admin:
		return everything(reach)
	case reach.TenantAdmin:
		return asyncop.TenantsScope(caller.Tenant)
	default:
		return own(caller)
	}
}

// everything ends at the tenants of the caller's issuer.
func everything(reach auth.Reach) asyncop.Scope {
	for _, tenant := range reach.Tenants {
		if tenant == "*" {
			return asyncop.EverythingScope()
		}
	}
	return asyncop.TenantsScope(reach.Tenants...)
}
