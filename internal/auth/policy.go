package auth

import (
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// Policy is who may call, and whose operations they reach.
type Policy struct {
	// Tenancy: every token must name a tenant. Without it, tenant claims are
	// ignored.
	Tenancy          bool
	Issuers          []Issuer
	TenantAdminRoles []string
	AdminRoles       []string
}

// Issuer is one whose tokens are believed.
type Issuer struct {
	Issuer      string
	Audience    string // "": any
	HS256Secret []byte // at least MinSecret bytes
	Claims      Claims
	Tenants     []string // that its tokens may name; "*" is every one
	Admin       bool     // its roles can make a (tenant) admin
	Leeway      time.Duration
}

// Claims says where a token keeps things. A path is the claim of that name or,
// where there is none, its dots reach into objects.
type Claims struct {
	Tenant string // "": tenant
	Roles  string // "": roles
	Extra  []string
}

// MinSecret is the fewest bytes of an HS256 secret (RFC 7518, section 3.2).
const MinSecret = 32

// AnyTenant among an issuer's tenants stands for every tenant.
const AnyTenant = "*"

// LogValue keeps the secret out of every log line.
func (i Issuer) LogValue() slog.Value { return slog.StringValue(i.Issuer) }

// String names the issuer, never its secret.
func (i Issuer) String() string { return i.Issuer }

// check answers why tokens of i could not be verified safely.
func (i Issuer) check() error {
	if i.Issuer == "" {
		return errors.New("an issuer has no name")
	}
	if err := checkName("the issuer", i.Issuer); err != nil {
		return err
	}
	if len(i.HS256Secret) < MinSecret {
		return fmt.Errorf("issuer %s: the HS256 secret has fewer than %d bytes", i.Issuer, MinSecret)
	}
	if i.Leeway < 0 {
		return fmt.Errorf("issuer %s: the leeway is negative", i.Issuer)
	}
	return nil
}

// withDefaults names the claims that are not named.
func (i Issuer) withDefaults() Issuer {
	if i.Claims.Tenant == "" {
		i.Claims.Tenant = "tenant"
	}
	if i.Claims.Roles == "" {
		i.Claims.Roles = "roles"
	}
	return i
}
