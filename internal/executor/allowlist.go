package executor

import (
	"maps"
	"slices"
	"time"

	"asyncgate/internal/auth"
)

// Policy is how one mutation may be submitted and executed.
type Policy struct {
	Idempotent  bool
	MaxAttempts int
	Timeout     time.Duration // of one attempt
	StartWithin time.Duration // from the later of creation and notBefore
	MaxPriority int
	Roles       []string // any of them; none needed where empty
	// AbortOnCancel cuts a running attempt off when its cancellation is
	// requested.
	AbortOnCancel bool
	RequireKey    bool // an idempotency key
	Concurrency   int  // running at a time in one tenant, on all nodes; 0: no bound
}

// Allowlist holds the mutations that may be submitted, by root field name.
type Allowlist map[string]Policy

// For answers the mutations that a caller may submit, by name.
func (a Allowlist) For(caller auth.SecurityContext) []string {
	names := slices.Sorted(maps.Keys(a))
	return slices.DeleteFunc(names, func(name string) bool { return !a[name].permits(caller) })
}

func (p Policy) permits(caller auth.SecurityContext) bool {
	return len(p.Roles) == 0 || caller.HasAnyRole(p.Roles)
}

// bounds are the mutations whose concurrency is bounded, nil where there are
// none.
func (a Allowlist) bounds() map[string]int {
	var bounds map[string]int
	for name, policy := range a {
		if policy.Concurrency > 0 {
			if bounds == nil {
				bounds = map[string]int{}
			}
			bounds[name] = policy.Concurrency
		}
	}
	return bounds
}

// strictest is the policy of a document with these root fields: idempotent, and
// cut off by a cancellation, only if all are; a key if any requires one; and the
// least of each limit. Each field's roles are needed.
// Errors: a RefusalError with MUTATION_NOT_ALLOWED.
func (a Allowlist) strictest(mutations []string, caller auth.SecurityContext) (Policy, error) {
	if len(mutations) == 0 {
		return Policy{}, notAllowed("A document without a mutation")
	}
	var strict Policy
	for i, name := range mutations {
		policy, listed := a[name]
		if !listed || !policy.permits(caller) {
			return Policy{}, notAllowed(name)
		}
		if i == 0 {
			strict = policy
			continue
		}
		strict.Idempotent = strict.Idempotent && policy.Idempotent
		strict.AbortOnCancel = strict.AbortOnCancel && policy.AbortOnCancel
		strict.RequireKey = strict.RequireKey || policy.RequireKey
		strict.MaxAttempts = min(strict.MaxAttempts, policy.MaxAttempts)
		strict.Timeout = min(strict.Timeout, policy.Timeout)
		strict.StartWithin = min(strict.StartWithin, policy.StartWithin)
		strict.MaxPriority = min(strict.MaxPriority, policy.MaxPriority)
	}
	return strict, nil
}

// defaultPriority is an operation's where its submitter names none.
const defaultPriority = 4

// priority checks what the client asked for. Errors: a RefusalError with
// BAD_USER_INPUT.
func (p Policy) priority(asked *int) (int, error) {
	if asked == nil {
		return min(defaultPriority, p.MaxPriority), nil
	}
	if *asked < 0 || *asked > p.MaxPriority {
		return 0, badInput("priority must be between 0 and %d for this mutation", p.MaxPriority)
	}
	return *asked, nil
}

// unique is names without repetitions, in the order of their first.
func unique(names []string) []string {
	seen := map[string]bool{}
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		before := seen[name]
		seen[name] = true
		return before
	})
}
