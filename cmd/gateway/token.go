package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"asyncgate/internal/auth"
	"asyncgate/internal/config"
)

// tokenCommand prints a token for trying the gateway, and for scripts.
type tokenCommand struct {
	Config  string        `required:"" placeholder:"FILE" help:"The configuration, with the issuer's hs256_secret."`
	Subject string        `required:"" placeholder:"S" help:"Who the token speaks for."`
	Issuer  string        `placeholder:"I" help:"Who signs it; needed where several issuers have an hs256_secret."`
	Tenant  string        `placeholder:"T" help:"The subject's tenant; needed with tenancy."`
	Roles   []string      `name:"role" sep:"none" placeholder:"R" help:"A role of the subject; may be repeated."`
	TTL     time.Duration `name:"ttl" default:"1h" help:"How long the token is valid."`
}

// Run prints the token alone.
func (c *tokenCommand) Run(std stdio) error {
	cfg, err := config.Load(c.Config, std.env)
	if err != nil {
		return err
	}
	issuer, err := c.issuer(cfg.Issuers)
	if err != nil {
		return err
	}
	if err := c.checkTenant(cfg, issuer); err != nil {
		return err
	}
	caller := auth.SecurityContext{Subject: c.Subject, Tenant: c.Tenant, Roles: c.Roles}
	token, err := auth.Mint(issuer, caller, c.TTL, time.Now())
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(std.out, token)
	return err
}

// issuer picks the one that signs.
func (c *tokenCommand) issuer(issuers []auth.Issuer) (auth.Issuer, error) {
	var able []auth.Issuer
	var names []string
	for _, issuer := range issuers {
		if len(issuer.HS256Secret) == 0 {
			continue
		}
		if issuer.Issuer == c.Issuer {
			return issuer, nil
		}
		able, names = append(able, issuer), append(names, issuer.Issuer)
	}
	switch {
	case len(able) == 0:
		return auth.Issuer{}, errors.New("no issuer of the configuration has an hs256_secret: ask your identity provider for a token")
	case c.Issuer != "":
		return auth.Issuer{}, fmt.Errorf("no issuer %s with an hs256_secret is configured; there is %s", c.Issuer, strings.Join(names, ", "))
	case len(able) > 1:
		return auth.Issuer{}, fmt.Errorf("several issuers could sign: choose with --issuer one of %s", strings.Join(names, ", "))
	}
	return able[0], nil
}

// checkTenant refuses what the gateway would answer with TENANT_UNKNOWN.
func (c *tokenCommand) checkTenant(cfg *config.Config, issuer auth.Issuer) error {
	tenants := slices.Sorted(maps.Keys(cfg.Tenants))
	if !slices.Contains(issuer.Tenants, auth.AnyTenant) {
		tenants = issuer.Tenants
	}
	switch {
	case !cfg.Tenancy() && c.Tenant != "":
		return errors.New("--tenant has no meaning here: the configuration has no tenants")
	case !cfg.Tenancy():
		return nil
	case c.Tenant == "":
		return fmt.Errorf("the configuration has tenants: choose with --tenant one of %s", strings.Join(tenants, ", "))
	case slices.Contains(tenants, auth.AnyTenant) && auth.ValidTenant(c.Tenant):
		return nil
	case !slices.Contains(tenants, c.Tenant) || c.Tenant == auth.AnyTenant:
		return fmt.Errorf("issuer %s does not speak for tenant %s, only for %s", issuer.Issuer, c.Tenant, strings.Join(tenants, ", "))
	}
	return nil
}
