package executor

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"asyncgate/internal/asyncop"
	"asyncgate/internal/auth"
)

// Attempted is what came of one attempt. A nil Failure is a success.
type Attempted struct {
	Envelope   json.RawMessage // the GraphQL body where there was one
	Failure    *asyncop.Failure
	RetryAfter time.Duration // the upstream's wish
}

// Directory finds the executor of a tenant. Errors: ErrTenantUnknown,
// ErrUnavailable.
type Directory interface {
	Tenant(ctx context.Context, name string) (*Tenant, error)
}

// Worker makes attempts: it restores the stored security context, checks again
// what was checked at submission, and runs the stored document through its
// tenant's executor.
type Worker struct {
	Tenants Directory
	MaxAge  time.Duration // of a submission's authority
	Log     *slog.Logger
}

// Attempt makes one attempt for a claim. It never fails: whatever happens is
// in what it answers. Where the mutation's policy says so, the end of
// cancellation, which is not that of ctx, cuts it off.
func (w Worker) Attempt(ctx, cancellation context.Context, claim asyncop.Claim) (done Attempted) {
	defer func() {
		if fault := recover(); fault != nil { // gqlgen recovers resolvers alone
			w.Log.ErrorContext(ctx, "attempt panicked", "operation", claim.Operation, "stack", string(debug.Stack()))
			done = notDone(asyncop.CodeOutcomeUnknown, asyncop.UnknownExecution, "The attempt was interrupted by a fault of the gateway.")
		}
	}()
	op := claim.Operation
	caller, err := auth.Decode(claim.Authority)
	if err != nil {
		return notDone(asyncop.CodeForbidden, asyncop.NotExecuted, "The stored identity cannot be read by this version of the gateway.")
	}
	// Both instants are the database's: this machine's clock may be another.
	if w.MaxAge > 0 && op.StartedAt.Sub(op.CreatedAt) > w.MaxAge {
		return notDone(asyncop.CodeCredentialExpired, asyncop.NotExecuted, "The submission's authority is older than this gateway accepts. Submit it again.")
	}
	tenant, err := w.Tenants.Tenant(ctx, op.Tenant)
	switch {
	case errors.Is(err, ErrTenantUnknown):
		return notDone(asyncop.CodeTenantUnknown, asyncop.NotExecuted, "The tenant is no longer served by this gateway.")
	case err != nil:
		return notDone(asyncop.CodeUpstreamUnavailable, asyncop.NotExecuted, "The tenant's upstream is not available.")
	}
	return tenant.attempt(auth.NewContext(ctx, caller), cancellation, caller, op)
}

// errCancelled is why an attempt was cut off by its submitter.
var errCancelled = errors.New("cancellation requested")

// attempt checks the document and the allowlist as they are now, and executes.
func (t *Tenant) attempt(ctx, cancellation context.Context, caller auth.SecurityContext, op asyncop.Operation) Attempted {
	x := &exchange{upstream: t.upstream, variables: op.Variables}
	ctx = withExchange(graphql.StartOperationTrace(ctx), x)
	oc, err := t.parse(ctx, op.Document, op.OperationName, op.Variables)
	if err != nil {
		return notDone(asyncop.CodeDocumentInvalid, asyncop.NotExecuted, "The document no longer fits the upstream's schema.")
	}
	_, policy, err := t.permit(oc, caller)
	if err != nil || oc.Operation.Operation != ast.Mutation {
		return notDone(asyncop.CodeMutationNotAllowed, asyncop.NotExecuted, "The mutation is no longer allowed for its submitter.")
	}
	x.attempt = &attempt{id: op.ID, number: op.Attempts, timeout: policy.Timeout}
	ctx, cut := context.WithCancelCause(ctx)
	defer cut(nil)
	if policy.AbortOnCancel {
		defer context.AfterFunc(cancellation, func() { cut(errCancelled) })()
	}
	done := t.dispatch(ctx, oc, x)
	if errors.Is(context.Cause(ctx), errCancelled) && ofUpstream(done.Failure) {
		return notDone(asyncop.CodeCancelled, done.Failure.Execution, asyncop.MessageCancelled)
	}
	return done
}

// dispatch hands the operation to the tenant's executor, and says what came of
// it.
func (t *Tenant) dispatch(ctx context.Context, oc *graphql.OperationContext, x *exchange) Attempted {
	handler, ctx := t.executor.DispatchOperation(ctx, oc)
	response := handler(ctx)
	switch {
	case x.answer != nil:
		return Attempted{Envelope: x.answer.envelope, Failure: x.answer.failure, RetryAfter: x.answer.retryAfter}
	case response == nil && !x.begun:
		return notDone(asyncop.CodeUpstreamUnavailable, asyncop.NotExecuted, "The attempt was cut off before anything was sent.")
	case response == nil:
		return notDone(asyncop.CodeOutcomeUnknown, asyncop.UnknownExecution, "The attempt was cut off. Whether the work was done is not known.")
	case len(response.Errors) > 0:
		a := notDone(asyncop.CodeExecutionFailed, asyncop.Executed, "The upstream answered with errors; the result holds them.")
		a.Envelope = envelopeOf(response)
		return a
	default:
		return Attempted{Envelope: envelopeOf(response)}
	}
}

func notDone(code asyncop.Code, execution asyncop.Execution, message string) Attempted {
	return Attempted{Failure: &asyncop.Failure{Code: code, Execution: execution, Message: message}}
}
