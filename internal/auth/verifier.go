package auth

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Verifier believes tokens, or does not. It is safe for concurrent use and
// never changes.
type Verifier struct {
	policy  Policy
	issuers map[string]Issuer
}

// NewVerifier returns a verifier for the policy. It refuses a policy that
// could believe nobody, or could not tell issuers apart.
func NewVerifier(p Policy) (*Verifier, error) {
	if len(p.Issuers) == 0 {
		return nil, errors.New("verify tokens: no issuer is configured, so nobody could call")
	}
	v := &Verifier{policy: p, issuers: make(map[string]Issuer, len(p.Issuers))}
	for _, issuer := range p.Issuers {
		if err := issuer.check(); err != nil {
			return nil, fmt.Errorf("verify tokens: %w", err)
		}
		if _, ok := v.issuers[issuer.Issuer]; ok {
			return nil, fmt.Errorf("verify tokens: issuer %s is configured twice", issuer.Issuer)
		}
		v.issuers[issuer.Issuer] = issuer.withDefaults()
	}
	return v, nil
}

// Verify returns the caller that a token speaks for. With tenancy the caller
// has a tenant that the issuer may name; whether it exists is not known here.
// Errors: ErrUnauthenticated, ErrTenantUnknown.
func (v *Verifier) Verify(_ context.Context, token string) (SecurityContext, error) {
	c, issuer, err := v.signed(token)
	if err != nil {
		return SecurityContext{}, err
	}
	sc := SecurityContext{Issuer: issuer.Issuer, Extra: c.extra(issuer.Claims.Extra)}
	for _, read := range []func(claims, Issuer, *SecurityContext) error{
		readTimes, readAudience, readSubject, readRoles, v.readTenant,
	} {
		if err := read(c, issuer, &sc); err != nil {
			return SecurityContext{}, err
		}
	}
	return sc, nil
}

// signed returns the claims of a token and the issuer that signed them.
func (v *Verifier) signed(token string) (claims, Issuer, error) {
	parsed, err := parseCompact(token)
	if err != nil {
		return nil, Issuer{}, err
	}
	if err := parsed.checkHeader(); err != nil {
		return nil, Issuer{}, err
	}
	c, err := parseClaims(parsed.payload)
	if err != nil {
		return nil, Issuer{}, refuse("the token's claims are no JSON object")
	}
	name, _ := c.text("iss")
	issuer, ok := v.issuers[name]
	if !ok {
		return nil, Issuer{}, refuse("the token's issuer is not configured here")
	}
	return c, issuer, parsed.signedWith(issuer.HS256Secret)
}

func readTimes(c claims, issuer Issuer, sc *SecurityContext) error {
	now := time.Now()
	expires, okExpires := c.instant("exp")
	notBefore, okNotBefore := c.instant("nbf")
	issued, okIssued := c.instant("iat")
	switch {
	case !okExpires || !okNotBefore || !okIssued:
		return refuse("exp, nbf or iat of the token is no time")
	case expires.IsZero():
		return refuse("the token has no exp: only tokens that expire are accepted")
	case !now.Before(expires.Add(issuer.Leeway)):
		return refuse("the token has expired")
	case notBefore.After(now.Add(issuer.Leeway)):
		return refuse("the token is not valid yet (nbf)")
	case issued.After(now.Add(issuer.Leeway)):
		return refuse("the token was issued in the future (iat)")
	}
	sc.IssuedAt, sc.ExpiresAt = issued, expires
	return nil
}

func readAudience(c claims, issuer Issuer, _ *SecurityContext) error {
	if issuer.Audience == "" {
		return nil
	}
	audience, ok := c.words("aud", "")
	if !ok || !slices.Contains(audience, issuer.Audience) {
		return refuse("the token is meant for another audience (aud)")
	}
	return nil
}

func readSubject(c claims, _ Issuer, sc *SecurityContext) error {
	sc.Subject, _ = c.text("sub")
	if err := checkName("the token's sub", sc.Subject); err != nil {
		return refuse(err.Error())
	}
	return nil
}

func readRoles(c claims, issuer Issuer, sc *SecurityContext) error {
	var ok bool
	if sc.Roles, ok = c.words(issuer.Claims.Roles, " ,"); !ok {
		return refuse(fmt.Sprintf("the token's claim %s is no list of strings", issuer.Claims.Roles))
	}
	path := "scope"
	if _, has := c.find(path); !has {
		path = "scp"
	}
	if sc.Scopes, ok = c.words(path, " "); !ok {
		return refuse(fmt.Sprintf("the token's claim %s is no list of strings", path))
	}
	return nil
}

func (v *Verifier) readTenant(c claims, issuer Issuer, sc *SecurityContext) error {
	if !v.policy.Tenancy {
		return nil
	}
	name, ok := c.text(issuer.Claims.Tenant)
	if !ok || name == "" {
		return fmt.Errorf("%w: the token's claim %s names none", ErrTenantUnknown, issuer.Claims.Tenant)
	}
	if err := checkName("the name in the token's claim "+issuer.Claims.Tenant, name); err != nil {
		return fmt.Errorf("%w: %w", ErrTenantUnknown, err)
	}
	if !slices.Contains(issuer.Tenants, AnyTenant) && !slices.Contains(issuer.Tenants, name) {
		return fmt.Errorf("%w: the token's issuer may not name it", ErrTenantUnknown)
	}
	sc.Tenant = name
	return nil
}
