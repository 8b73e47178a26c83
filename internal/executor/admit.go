package executor

import (
	"context"
	"encoding/json"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/99designs/gqlgen/graphql"
	"github.com/google/uuid"
	"github.com/vektah/gqlparser/v2/ast"

	"asyncgate/internal/asyncop"
	"asyncgate/internal/auth"
	"asyncgate/internal/executor/raw"
)

// Limits bound what a client may submit. 0 is no limit.
type Limits struct {
	Variables int64         // bytes
	MaxAge    time.Duration // how long a submission's authority lasts
}

// prepared is a request whose form is known to be right, before anything is
// asked about its document.
type prepared struct {
	Request
	operationName string
	key           string
	label         string
	fingerprint   [32]byte
}

// prepare checks the form of a request and takes its fingerprint. Errors: a
// RefusalError with BAD_USER_INPUT or PAYLOAD_TOO_LARGE.
func prepare(r Request, limits Limits) (prepared, error) {
	p := prepared{Request: r}
	if limits.Variables > 0 && int64(len(r.Variables)) > limits.Variables {
		return prepared{}, &RefusalError{Code: "PAYLOAD_TOO_LARGE", Message: "variables are larger than this gateway keeps"}
	}
	digest, err := digestVariables(r.Variables)
	if err != nil {
		return prepared{}, err
	}
	if raw.IsNull(r.Variables) {
		p.Variables = nil
	}
	if r.OperationName != nil {
		p.operationName = *r.OperationName
	}
	if r.Label != nil {
		p.label = *r.Label
	}
	for name, text := range map[string]string{"document": r.Document, "operationName": p.operationName, "label": p.label} {
		if !storable(text) {
			return prepared{}, badInput("%s holds U+0000 or invalid UTF-8, which cannot be stored", name)
		}
	}
	if utf8.RuneCountInString(p.label) > 255 {
		return prepared{}, badInput("label must have at most 255 characters")
	}
	if r.IdempotencyKey != nil {
		if !validKey(*r.IdempotencyKey) {
			return prepared{}, badInput("idempotencyKey must have 1 to 255 printable ASCII characters")
		}
		p.key = *r.IdempotencyKey
	}
	p.fingerprint = fingerprint(r.Document, p.operationName, digest)
	return p, nil
}

// storable reports whether every store takes a text: PostgreSQL refuses U+0000.
func storable(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsRune(text, 0)
}

func validKey(key string) bool {
	printable := func(c rune) bool { return c < 0x20 || c > 0x7e }
	return len(key) >= 1 && len(key) <= 255 && strings.IndexFunc(key, printable) < 0
}

// maxVariablesDepth bounds nesting, and with it the work of checking types,
// which goes over a value once a level.
const maxVariablesDepth = 200

// digestVariables reads variables once. Errors: a RefusalError with
// BAD_USER_INPUT.
func digestVariables(variables json.RawMessage) (raw.Digest, error) {
	if raw.IsNull(variables) {
		variables = json.RawMessage("{}")
	}
	digest, err := raw.DigestOf(variables)
	switch {
	case err != nil || raw.Kind(variables) != '{':
		return raw.Digest{}, badInput("variables must be an object")
	case digest.NULKey:
		return raw.Digest{}, badInput("a key of variables holds U+0000, which cannot be stored")
	case digest.Depth > maxVariablesDepth:
		return raw.Digest{}, badInput("variables are nested more than %d levels deep", maxVariablesDepth)
	}
	return digest, nil
}

// Admit decides whether a caller may submit a request to this tenant, and
// makes the submission of it: nothing that it admits is outside the allowlist.
// Errors: a RefusalError with the code of what is wrong.
func (t *Tenant) Admit(ctx context.Context, caller auth.SecurityContext, r Request, limits Limits) (asyncop.Submission, error) {
	p, err := prepare(r, limits)
	if err != nil {
		return asyncop.Submission{}, err
	}
	return t.admit(ctx, caller, p, limits)
}

func (t *Tenant) admit(ctx context.Context, caller auth.SecurityContext, p prepared, limits Limits) (asyncop.Submission, error) {
	oc, err := t.parse(ctx, p.Document, p.operationName, p.Variables)
	if err != nil {
		return asyncop.Submission{}, err
	}
	mutations, policy, err := t.permit(oc, caller)
	if err != nil {
		return asyncop.Submission{}, err
	}
	if policy.RequireKey && p.key == "" {
		return asyncop.Submission{}, keyRequired(mutations)
	}
	priority, err := policy.priority(p.Priority)
	if err != nil {
		return asyncop.Submission{}, err
	}
	if err := checkSchedule(p.Request, limits.MaxAge, time.Now()); err != nil {
		return asyncop.Submission{}, err
	}
	return asyncop.Submission{
		ID:     uuid.Must(uuid.NewV7()),
		Tenant: caller.Tenant, Issuer: caller.Issuer, Subject: caller.Subject, Authority: caller.Encode(),
		Mutations: mutations, Lane: asyncop.Room{Mutations: t.bounds}.Lane(mutations), OperationName: p.operationName,
		Document: p.Document, Variables: p.Variables, Label: p.label,
		Idempotent: policy.Idempotent, IdempotencyKey: p.key, Fingerprint: p.fingerprint,
		Priority: priority, MaxAttempts: policy.MaxAttempts,
		NotBefore: p.NotBefore, StartBefore: p.StartBefore, StartWithin: policy.StartWithin,
	}, nil
}

// parse reads a stored document against the tenant's schema, through the same
// executor that will run it. Errors: a RefusalError.
func (t *Tenant) parse(ctx context.Context, document, operationName string, variables []byte) (*graphql.OperationContext, error) {
	oc, errs, err := t.create(graphql.StartOperationTrace(ctx),
		Params{Query: document, OperationName: operationName, Variables: variables})
	switch {
	case err != nil:
		return nil, err
	case oc.Doc != nil && oc.Operation == nil:
		return nil, noOperation(oc.Doc, operationName)
	case oc.Operation != nil && oc.Operation.Operation != ast.Mutation:
		return nil, badInput("the document's operation is a %s; only a mutation can be submitted", oc.Operation.Operation)
	case oc.Operation == nil: // it does not parse, or does not fit the schema
		return nil, documentRefusal(errs)
	}
	if err := checkVariables(t.schema.merged.Schema, oc.Operation, variables); err != nil {
		return nil, err
	}
	if len(errs) > 0 {
		return nil, documentRefusal(errs)
	}
	return oc, nil
}

// noOperation says why none of a document's operations was picked.
func noOperation(document *ast.QueryDocument, operationName string) error {
	if operationName == "" {
		return badInput("the document has %d operations; operationName must pick one", len(document.Operations))
	}
	return badInput("the document has no operation of the name that operationName gives")
}

// permit answers the root fields of a mutation and their strictest policy. A
// field under @skip counts. Errors: a RefusalError with MUTATION_NOT_ALLOWED.
func (t *Tenant) permit(oc *graphql.OperationContext, caller auth.SecurityContext) ([]string, Policy, error) {
	if field := t.schema.gatewayField(oc); field != "" {
		return nil, Policy{}, notAllowed("The gateway's own field " + field)
	}
	var mutations []string
	for field := range rootFields(oc.Operation.SelectionSet) {
		if field.Name != "__typename" {
			mutations = append(mutations, field.Name)
		}
	}
	mutations = unique(mutations)
	policy, err := t.allowlist.strictest(mutations, caller)
	return mutations, policy, err
}

// checkSchedule holds the client's instants against each other and against
// the age that its authority may reach.
func checkSchedule(r Request, maxAge time.Duration, now time.Time) error {
	start := now
	if r.NotBefore != nil && r.NotBefore.After(now) {
		start = *r.NotBefore
	}
	switch {
	case r.StartBefore != nil && !r.StartBefore.After(now):
		return badInput("startBefore is in the past")
	case r.StartBefore != nil && r.StartBefore.Before(start):
		return badInput("startBefore is before notBefore")
	case maxAge > 0 && start.Sub(now) > maxAge:
		return badInput("notBefore is later than the %s for which a submission's authority lasts", maxAge)
	case maxAge > 0 && r.StartBefore != nil && r.StartBefore.Sub(now) > maxAge:
		return badInput("startBefore is later than the %s for which a submission's authority lasts", maxAge)
	}
	return nil
}
