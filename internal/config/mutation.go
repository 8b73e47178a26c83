package config

import (
	"math"
	"regexp"
	"time"
)

// usualMutation is the allowlist's entry where nothing is said about it.
var usualMutation = Mutation{
	MaxAttempts: 5, Timeout: 5 * time.Minute, StartWithin: 24 * time.Hour, MaxPriority: 4,
}

var graphqlName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// mutations reads an allowlist. What an entry does not say is as in base, or
// usual where base does not have it.
func (r *reader) mutations(list []entry, base map[string]Mutation) map[string]Mutation {
	mutations := make(map[string]Mutation, len(list))
	for _, e := range list {
		if !graphqlName.MatchString(e.name) {
			r.mistake(e, "is no name of a mutation: name the root field as the upstream's schema does")
			continue
		}
		if !r.present(e) {
			continue
		}
		usual, ok := base[e.name]
		if !ok {
			usual = usualMutation
		}
		mutations[e.name] = readMutation(r.open(e, keys.mutation), usual)
	}
	return mutations
}

func readMutation(s section, usual Mutation) Mutation {
	return Mutation{
		Idempotent:  s.boolean("idempotent", usual.Idempotent),
		MaxAttempts: s.integer("max_attempts", usual.MaxAttempts, 1, 1000),
		Timeout:     s.duration("timeout", usual.Timeout, some),
		Roles:       s.texts("roles", usual.Roles),
		StartWithin: s.duration("start_within", usual.StartWithin, some),
		MaxPriority: s.integer("max_priority", usual.MaxPriority, 0, 9),

		AbortOnCancel:         s.boolean("abort_on_cancel", usual.AbortOnCancel),
		RequireIdempotencyKey: s.boolean("require_idempotency_key", usual.RequireIdempotencyKey),
		Concurrency:           s.integer("concurrency", usual.Concurrency, 0, math.MaxInt32),
	}
}

// requireMutations notes an allowlist that nothing could ever pass: no global
// entry, and a tenant without one of its own.
func (r *reader) requireMutations(top section, tenants map[string]Tenant) {
	at, ok := top.values["mutations"]
	if !ok {
		at = top.missing("mutations")
	}
	if ok && !empty(at) {
		return
	}
	own := len(tenants) > 0
	for _, tenant := range tenants {
		own = own && len(tenant.Mutations) > 0
	}
	if !own {
		r.mistake(at, "allows no mutation, so nothing could ever be submitted: name at least one, such as `generateReport: {}`")
	}
}

// LongestTimeout is the longest timeout of any mutation of any tenant.
func (c *Config) LongestTimeout() time.Duration {
	longest := time.Duration(0)
	note := func(mutations map[string]Mutation) {
		for _, m := range mutations {
			longest = max(longest, m.Timeout)
		}
	}
	note(c.Mutations)
	for _, tenant := range c.Tenants {
		note(tenant.Mutations)
	}
	return longest
}
