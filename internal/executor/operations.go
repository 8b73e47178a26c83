package executor

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"

	"asyncgate/internal/asyncop"
	"asyncgate/internal/auth"
)

// Records is the part of asyncop.Store that serves callers.
type Records interface {
	asyncop.Reader
	Submit(ctx context.Context, batch []asyncop.Submission) ([]asyncop.Submitted, error)
	Replay(ctx context.Context, submitter asyncop.Scope, key string, fingerprint [32]byte) (asyncop.Operation, error)
	List(ctx context.Context, list asyncop.List) (asyncop.Page, error)
	Cancel(ctx context.Context, scope asyncop.Scope, id uuid.UUID) (asyncop.Cancellation, error)
}

// Operations is what a caller can do with operations. The caller is in the
// context; each method reaches what the caller's roles reach and answers
// ErrNotFound for everything else. A store that cannot be asked is
// ErrUnavailable.
type Operations struct {
	Records Records
	Hub     *asyncop.Hub
	Tenants Directory
	// Limits are those of the moment.
	Limits func() Limits
	// Reach tells what a caller's roles reach now.
	Reach func(auth.SecurityContext) auth.Reach
}

// maxWait bounds waitMs.
const maxWait = 60_000

// Submit makes a request durable, and answers the operation as it is once it
// is done or waitMs is over. The same request under the same idempotency key
// answers the operation submitted first, whatever the allowlist says by now.
// Errors: a RefusalError, asyncop.ErrKeyReused, ErrUnavailable.
func (o *Operations) Submit(ctx context.Context, r Request) (asyncop.Operation, error) {
	return o.submit(ctx, r, o.store)
}

// Replay answers what Submit does where the request's idempotency key stands
// for an operation already, and submits nothing. Errors: asyncop.ErrNotFound
// where it has no key, or a free one; else those of Submit.
func (o *Operations) Replay(ctx context.Context, r Request) (asyncop.Operation, error) {
	return o.submit(ctx, r, func(context.Context, auth.SecurityContext, prepared, Limits) (asyncop.Operation, error) {
		return asyncop.Operation{}, asyncop.ErrNotFound
	})
}

// submit stores the request by store, unless its key stands for an operation.
func (o *Operations) submit(
	ctx context.Context, r Request,
	store func(context.Context, auth.SecurityContext, prepared, Limits) (asyncop.Operation, error),
) (asyncop.Operation, error) {
	caller, err := auth.FromContext(ctx)
	if err != nil {
		return asyncop.Operation{}, err
	}
	wait, err := waitOf(r.WaitMs)
	if err != nil {
		return asyncop.Operation{}, err
	}
	limits := o.Limits()
	p, err := prepare(r, limits)
	if err != nil {
		return asyncop.Operation{}, err
	}
	op, err := o.replay(ctx, caller, p)
	if errors.Is(err, asyncop.ErrNotFound) {
		op, err = store(ctx, caller, p, limits)
	}
	if err != nil || op.Done() || wait == 0 {
		return op, err
	}
	later, err := o.await(ctx, own(caller), op.ID, wait)
	if err != nil {
		return op, nil //nolint:nilerr // it is durable: a client that is told of a failure submits it again
	}
	return later, nil
}

// replay answers what the request's key stands for already. Errors:
// asyncop.ErrNotFound where it has no key, or a free one.
func (o *Operations) replay(ctx context.Context, caller auth.SecurityContext, p prepared) (asyncop.Operation, error) {
	if p.key == "" {
		return asyncop.Operation{}, asyncop.ErrNotFound
	}
	op, err := o.Records.Replay(ctx, own(caller), p.key, p.fingerprint)
	return op, unavailable(ctx, err)
}

func (o *Operations) store(ctx context.Context, caller auth.SecurityContext, p prepared, limits Limits) (asyncop.Operation, error) {
	tenant, err := o.Tenants.Tenant(ctx, caller.Tenant)
	if err != nil {
		return asyncop.Operation{}, err
	}
	submission, err := tenant.admit(ctx, caller, p, limits)
	if err != nil {
		return asyncop.Operation{}, err
	}
	submitted, err := o.Records.Submit(ctx, []asyncop.Submission{submission})
	if err != nil {
		return asyncop.Operation{}, unavailable(ctx, err)
	}
	return submitted[0].Operation, submitted[0].Err
}

// Get answers an operation as it is once it is done or waitMs is over. Errors:
// asyncop.ErrNotFound.
func (o *Operations) Get(ctx context.Context, id uuid.UUID, waitMs *int) (asyncop.Operation, error) {
	caller, err := auth.FromContext(ctx)
	if err != nil {
		return asyncop.Operation{}, err
	}
	wait, err := waitOf(waitMs)
	if err != nil {
		return asyncop.Operation{}, err
	}
	return o.await(ctx, o.reach(caller), id, wait)
}

// Await answers an operation once it is done. It waits for waitMs, or, where
// there is none, until ctx ends with the caller's token. Errors: ErrWaitTimeout, asyncop.ErrNotFound.
func (o *Operations) Await(ctx context.Context, id uuid.UUID, waitMs *int) (asyncop.Operation, error) {
	caller, err := auth.FromContext(ctx)
	if err != nil {
		return asyncop.Operation{}, err
	}
	// Longer than the token by a little: whoever serves the caller ends it first.
	wait := time.Until(caller.ExpiresAt) + 10*time.Second
	if waitMs != nil {
		if wait, err = waitOf(waitMs); err != nil {
			return asyncop.Operation{}, err
		}
	}
	op, err := o.await(ctx, o.reach(caller), id, wait)
	if err == nil && !op.Done() {
		err = ErrWaitTimeout
	}
	return op, err
}

// Updates sends an operation now and after changes, as what as makes of it:
// see asyncop.Updates. Errors: asyncop.ErrNotFound.
func Updates[T any](ctx context.Context, o *Operations, id uuid.UUID, as func(asyncop.Operation) T) (<-chan T, error) {
	caller, err := auth.FromContext(ctx)
	if err != nil {
		return nil, err
	}
	updates, err := asyncop.Updates(ctx, o.Hub.Handle(o.Records, o.reach(caller), id), as)
	return updates, unavailable(ctx, err)
}

// Cancel cancels an operation. Errors: asyncop.ErrNotFound.
func (o *Operations) Cancel(ctx context.Context, id uuid.UUID) (asyncop.Cancellation, error) {
	caller, err := auth.FromContext(ctx)
	if err != nil {
		return asyncop.Cancellation{}, err
	}
	cancellation, err := o.Records.Cancel(ctx, o.reach(caller), id)
	return cancellation, unavailable(ctx, err)
}

// Mutations answers the names of what the caller may submit, and their
// policies.
func (o *Operations) Mutations(ctx context.Context) ([]string, Allowlist, error) {
	caller, err := auth.FromContext(ctx)
	if err != nil {
		return nil, nil, err
	}
	tenant, err := o.Tenants.Tenant(ctx, caller.Tenant)
	if err != nil {
		return nil, nil, err
	}
	names := slices.DeleteFunc(tenant.allowlist.For(caller), func(name string) bool { return !tenant.schema.hasMutation(name) })
	return names, tenant.allowlist, nil
}

func (o *Operations) await(ctx context.Context, scope asyncop.Scope, id uuid.UUID, wait time.Duration) (asyncop.Operation, error) {
	op, err := o.Hub.Handle(o.Records, scope, id).Await(ctx, wait)
	return op, unavailable(ctx, err)
}

// waitOf reads waitMs. Errors: a RefusalError with BAD_USER_INPUT.
func waitOf(waitMs *int) (time.Duration, error) {
	if waitMs == nil {
		return 0, nil
	}
	if *waitMs < 0 || *waitMs > maxWait {
		return 0, badInput("waitMs must be between 0 and %d", maxWait)
	}
	return time.Duration(*waitMs) * time.Millisecond, nil
}

// unavailable is what a store's failure means to a caller, unless it is the
// end of the caller's own context. Its cause is for
// the log.
func unavailable(ctx context.Context, err error) error {
	switch {
	case err == nil, ctx.Err() != nil, errors.Is(err, asyncop.ErrNotFound), errors.Is(err, asyncop.ErrKeyReused):
		return err
	default:
		return errors.Join(ErrUnavailable, err)
	}
}
