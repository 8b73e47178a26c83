package executor

import (
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"asyncgate/internal/asyncop"
	"asyncgate/internal/auth"
)

// Submittable reports whether its caller may submit the request as it is,
// rather than have it executed now: a mutation of upstream fields alone, each
// of them on the allowlist for the caller. Nothing has been executed yet.
func (r *Run) Submittable() bool {
	caller, err := auth.FromContext(r.ctx)
	if err != nil || r.Kind() != ast.Mutation {
		return false
	}
	_, _, err = r.tenant.permit(r.oc, caller)
	return err == nil
}

// Ended is the reply to a request that was submitted instead of executed, once
// its operation is done: the stored envelope, or, where there is none, errors
// at the root fields as though the forward had failed now. ok is false where
// the result was purged.
func (r *Run) Ended(op asyncop.Operation) (reply Reply, ok bool) {
	ended := answer{envelope: op.Result, failure: op.Failure}
	switch {
	case op.Purged, ended.envelope == nil && ended.failure == nil:
		return Reply{}, false
	case ended.envelope != nil:
		return Reply{Envelope: ended.envelope}, true
	case r.oc == nil: // refused by now, so that it has no root fields
		return refusal(gqlerror.List{ended.failedAt(nil)}), true
	default:
		return Reply{Envelope: ended.asEnvelope(r.tenant.schema.collect(r.oc))}, true
	}
}
