package config

import (
	"fmt"
	"slices"
)

// keySet is the keys of one kind of section: now can be used, later is known
// and refused until it can be.
type keySet struct{ now, later []string }

// keys is every key of gateway.yaml. Sections whose keys are names of the
// file's own (tenants, mutations, headers) are not in it.
var keys = struct {
	top, auth, issuer, claims, authority, tenant, upstream, identity, mutation, worker, retention, limits, cors, log, breaker keySet
}{
	top: keySet{
		now: []string{"listen", "store", "store_migrate", "auth", "authority", "upstream", "tenants", "identity",
			"mutations", "worker", "breaker", "retention", "limits", "cors", "log"},
		later: []string{"store_keys", "introspection", "console", "debug"},
	},
	auth: keySet{now: []string{"jwt", "anonymous"}},
	issuer: keySet{
		now:   []string{"issuer", "audience", "hs256_secret", "claims", "tenants", "admin", "leeway"},
		later: []string{"jwks_url", "jwks_file", "discovery"},
	},
	claims: keySet{now: []string{"tenant", "roles", "extra"}},
	authority: keySet{
		now:   []string{"max_age", "tenant_admin_roles", "admin_roles"},
		later: []string{"honor_token_expiry", "revoked_subjects_file"},
	},
	tenant: keySet{now: []string{"upstream", "mutations", "per_tenant"}},
	upstream: keySet{
		now:   []string{"url", "schema", "timeout", "idle_timeout", "headers"},
		later: []string{"subscriptions"},
	},
	identity: keySet{now: []string{"headers"}, later: []string{"jwt"}},
	mutation: keySet{now: []string{"idempotent", "max_attempts", "timeout", "roles", "start_within", "max_priority",
		"abort_on_cancel", "require_idempotency_key", "concurrency"}},
	worker:    keySet{now: []string{"concurrency", "per_tenant", "poll_interval", "stale_after", "drain_timeout"}},
	breaker:   keySet{now: []string{"failures", "open_for"}},
	retention: keySet{now: []string{"result", "operation"}},
	limits: keySet{
		now: []string{"body", "variables", "result"},
		later: []string{"depth", "complexity", "tokens", "aliases", "root_fields", "queued_per_submitter", "queued_per_tenant",
			"requests_per_second", "sockets", "sockets_per_submitter", "subscriptions_per_socket"},
	},
	cors: keySet{now: []string{"origins"}},
	log:  keySet{now: []string{"format", "level"}},
}

// unusable answers why a key cannot be used, "" if it can.
func (s keySet) unusable(key string) string {
	switch {
	case slices.Contains(s.now, key):
		return ""
	case slices.Contains(s.later, key):
		return "is not available yet"
	}
	if near := s.nearest(key); near != "" {
		return fmt.Sprintf("is no key known here; did you mean %s?", near)
	}
	return "is no key known here"
}

// nearest returns the known key that key is most likely a slip for, or "".
func (s keySet) nearest(key string) string {
	best, least := "", 1+len(key)/3
	for _, known := range slices.Concat(s.now, s.later) {
		if d := editDistance(key, known, least); d <= least && (best == "" || d < least) {
			best, least = known, d
		}
	}
	return best
}

// editDistance counts the bytes to insert, delete or replace to make b of a.
// It answers most+1 early where the lengths alone take more than most.
func editDistance(a, b string, most int) int {
	if max(len(a)-len(b), len(b)-len(a)) > most {
		return most + 1
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}
