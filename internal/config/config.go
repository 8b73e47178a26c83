package config

import (
	"log/slog"
	"maps"
	"slices"
	"time"

	"asyncgate/internal/auth"
)

// Config is a file without mistakes: every field holds what was written or its
// default, and every path is absolute or relative to the working directory.
type Config struct {
	Listen       string // host:port
	Store        Store
	StoreMigrate bool
	Issuers      []auth.Issuer
	Anonymous    bool // requests without a token are served, without tenancy only
	Authority    Authority
	Upstream     *Upstream         // without tenancy, else nil
	Tenants      map[string]Tenant // with tenancy, else empty
	Headers      map[string]string // identity.headers: templates by header name
	Mutations    map[string]Mutation
	Worker       Worker
	Breaker      Breaker
	Retention    Retention
	Limits       Limits
	Origins      []string // cors.origins: as browsers send them, or "*"
	Log          Log
}

// Authority is how far a submission's authority reaches.
type Authority struct {
	MaxAge           time.Duration
	TenantAdminRoles []string
	AdminRoles       []string
}

// Upstream is a GraphQL API behind the gateway.
type Upstream struct {
	URL         string
	Schema      string        // path of an SDL file; "": ask the upstream
	Timeout     time.Duration // of synchronous requests
	IdleTimeout time.Duration
	Headers     map[string]string // sent as they are, by header name
}

// Tenant is a tenant that is configured by name.
type Tenant struct {
	Upstream Upstream
	// Mutations are the tenant's additions to and changes of the allowlist,
	// each complete: see Config.Allowlist.
	Mutations map[string]Mutation
	// PerTenant is how many of its operations may run at a time, on all nodes;
	// 0 is no bound.
	PerTenant int
}

// Mutation is an entry of the allowlist.
type Mutation struct {
	Idempotent  bool
	MaxAttempts int
	Timeout     time.Duration
	Roles       []string // any one of them; none: everyone
	StartWithin time.Duration
	MaxPriority int
	// AbortOnCancel cuts a running attempt off when its cancellation is
	// requested.
	AbortOnCancel         bool
	RequireIdempotencyKey bool
	// Concurrency is how many may run of one tenant, on all nodes; 0 is no bound.
	Concurrency int
}

// Worker is how attempts are made.
type Worker struct {
	Concurrency  int
	PerTenant    int // of a tenant that says nothing else, on all nodes; 0 is no bound
	PollInterval time.Duration
	StaleAfter   time.Duration
	DrainTimeout time.Duration
}

// Breaker is when an upstream that fails is left alone for a while.
type Breaker struct {
	Failures int // in a row; 0 never opens it
	OpenFor  time.Duration
}

// Retention is how long ended operations are kept, counted from their end.
type Retention struct {
	Result    time.Duration
	Operation time.Duration
}

// Limits are sizes in bytes; 0 is no limit.
type Limits struct {
	Body      int64
	Variables int64
	Result    int64
}

// Log is how the program logs.
type Log struct {
	Format string // json or text
	Level  string // debug, info, warn or error
}

// Tenancy reports whether callers belong to tenants.
func (c *Config) Tenancy() bool { return len(c.Tenants) > 0 }

// Allowlist returns the mutations that may be submitted in a tenant, by root
// field name: the global ones with the tenant's own laid over them. Without
// tenancy the tenant is "".
func (c *Config) Allowlist(tenant string) map[string]Mutation {
	allowed := maps.Clone(c.Mutations)
	maps.Copy(allowed, c.Tenants[tenant].Mutations)
	return allowed
}

// PerTenant returns how many operations of a tenant may run at a time, on all
// nodes; 0 is no bound. Without tenancy the tenant is "".
func (c *Config) PerTenant(tenant string) int {
	if own, ok := c.Tenants[tenant]; ok {
		return own.PerTenant
	}
	return c.Worker.PerTenant
}

// Policy returns who may call, for auth.NewVerifier.
func (c *Config) Policy() auth.Policy {
	return auth.Policy{
		Tenancy: c.Tenancy(), Issuers: c.Issuers,
		TenantAdminRoles: c.Authority.TenantAdminRoles, AdminRoles: c.Authority.AdminRoles,
	}
}

// ExtraClaims returns the extra claims of all issuers, for
// auth.CompileHeaders.
func (c *Config) ExtraClaims() []string {
	var extra []string
	for _, issuer := range c.Issuers {
		extra = append(extra, issuer.Claims.Extra...)
	}
	slices.Sort(extra)
	return slices.Compact(extra)
}

// LogValue keeps secrets and addresses out of every log line.
func (c *Config) LogValue() slog.Value {
	return slog.GroupValue(
		slog.String("listen", c.Listen),
		slog.Any("store", c.Store),
		slog.Int("issuers", len(c.Issuers)),
		slog.Int("tenants", len(c.Tenants)),
		slog.Int("mutations", len(c.Mutations)))
}
