package executor_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/google/uuid"

	"asyncgate/internal/asyncop"
	"asyncgate/internal/executor"
)

// lookup finds tenants.
type lookup func(name string) (*executor.Tenant, error)

func (f lookup) Tenant(_ context.Context, name string) (*executor.Tenant, error) { return f(name) }

// paymentClaim is a claim that any worker would run.
func paymentClaim(edits ...func(*asyncop.Claim)) asyncop.Claim {
	claim := asyncop.Claim{Authority: ada.Encode(), Operation: asyncop.Operation{
		ID: uuid.Must(uuid.NewV7()), Tenant: "acme", Document: `mutation { pay(amount: 1) { thing { id } } }`,
		Attempts: 1, CreatedAt: time.Now(), StartedAt: new(time.Now()),
	}}
	for _, edit := range edits {
		edit(&claim)
	}
	return claim
}

func TestAnAttemptChecksAgainBeforeItCallsTheUpstream(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		edit func(*asyncop.Claim)
		code asyncop.Code // "": the upstream is called
	}{
		"AsAdmitted":      {func(*asyncop.Claim) {}, ""},
		"TooOld":          {func(c *asyncop.Claim) { c.Operation.CreatedAt = time.Now().Add(-25 * time.Hour) }, asyncop.CodeCredentialExpired},
		"UnknownTenant":   {func(c *asyncop.Claim) { c.Operation.Tenant = "globex" }, asyncop.CodeTenantUnknown},
		"TenantNotLoaded": {func(c *asyncop.Claim) { c.Operation.Tenant = "initech" }, asyncop.CodeUpstreamUnavailable},
		"NoAuthority":     {func(c *asyncop.Claim) { c.Authority = nil }, asyncop.CodeForbidden},
		"NewerAuthority":  {func(c *asyncop.Claim) { c.Authority = json.RawMessage(`{"v":99,"iss":"idp","sub":"ada"}`) }, asyncop.CodeForbidden},
		"OffTheAllowlist": {func(c *asyncop.Claim) { c.Operation.Document = `mutation { wipe }` }, asyncop.CodeMutationNotAllowed},
		"RoleLost":        {func(c *asyncop.Claim) { c.Operation.Document = `mutation { refund(amount: 1) { id } }` }, asyncop.CodeMutationNotAllowed},
		"FieldGone":       {func(c *asyncop.Claim) { c.Operation.Document = `mutation { gone }` }, asyncop.CodeDocumentInvalid},
		"VariableNoLonger": {func(c *asyncop.Claim) {
			c.Operation.Document = `mutation($n: Int!) { pay(amount: $n) { thing { id } } }`
		}, asyncop.CodeDocumentInvalid},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url, heard := scripted(t, string(envelope))
			acme := newShop(t, executor.RemoteOptions{URL: url})
			worker := executor.Worker{MaxAge: 24 * time.Hour, Log: quiet, Tenants: lookup(func(name string) (*executor.Tenant, error) {
				switch name {
				case "acme":
					return acme, nil
				case "initech":
					return nil, executor.ErrUnavailable
				default:
					return nil, executor.ErrTenantUnknown
				}
			})}
			done := worker.Attempt(t.Context(), t.Context(), paymentClaim(c.edit))
			if c.code == "" {
				if done.Failure != nil || len(heard) != 1 {
					t.Errorf("%+v, and the upstream was called %d times", done.Failure, len(heard))
				}
				return
			}
			if done.Failure == nil || done.Failure.Code != c.code || done.Failure.Execution != asyncop.NotExecuted {
				t.Errorf("got %+v, want %s", done.Failure, c.code)
			}
			if len(heard) != 0 {
				t.Error("the upstream was called")
			}
		})
	}
}

func TestAPanicIsAnUnknownOutcomeAndThePoolLivesOn(t *testing.T) {
	underPool(t, func(t *testing.T, r *rig) {
		r.start(t, executor.Worker{Log: r.options.Log, Tenants: lookup(func(name string) (*executor.Tenant, error) {
			if name == "acme" {
				panic("a secret of " + name)
			}
			return nil, executor.ErrTenantUnknown
		})})
		op := r.expect(t, r.submit(t).ID, asyncop.Failed, asyncop.CodeOutcomeUnknown, 1)
		if !r.log.tells("attempt panicked", op.ID.String()) || r.log.tells("a secret of") {
			t.Error("the log must tell which attempt panicked, and not with what")
		}
		next := r.submit(t, func(s *asyncop.Submission) { s.Tenant = "globex" })
		r.expect(t, next.ID, asyncop.Failed, asyncop.CodeTenantUnknown, 1)
	})
}
