package config

import (
	"strings"
	"time"

	"asyncgate/internal/auth"
)

// auth reads who may call.
func (r *reader) auth(top section, tenancy bool) (issuers []auth.Issuer, anonymous bool) {
	s := top.section("auth", keys.auth)
	if s.broken {
		return nil, false
	}
	anonymous = s.boolean("anonymous", false)
	if anonymous && tenancy {
		r.mistake(s.values["anonymous"], "cannot be true beside tenants: a request without a token names none")
	}
	return r.issuers(s, tenancy), anonymous
}

// issuers reads auth.jwt.
func (r *reader) issuers(s section, tenancy bool) []auth.Issuer {
	at, ok := s.values["jwt"]
	if !ok {
		at = s.missing("jwt")
	}
	if !ok || empty(at) {
		r.mistake(at, "names no issuer, so nobody could ever call: add one with issuer and hs256_secret")
		return nil
	}
	list := r.items(at)
	var issuers []auth.Issuer
	first := map[string]int{}
	for _, e := range list {
		if !r.present(e) {
			continue
		}
		issuer := r.issuer(r.open(e, keys.issuer), len(list) == 1, tenancy)
		if line, twice := first[issuer.Issuer]; twice && issuer.Issuer != "" {
			r.mistake(e, "is the issuer of line %d again", line)
		}
		first[issuer.Issuer] = e.line
		issuers = append(issuers, issuer)
	}
	return issuers
}

// issuer reads one issuer. The only one speaks for every tenant and can make
// admins unless it says otherwise; of several, each must say.
func (r *reader) issuer(s section, only, tenancy bool) auth.Issuer {
	claims := s.section("claims", keys.claims)
	return auth.Issuer{
		Issuer:      r.issuerName(s),
		Audience:    s.text("audience", ""),
		HS256Secret: r.secret(s),
		Claims: auth.Claims{
			Tenant: claims.text("tenant", "tenant"),
			Roles:  claims.text("roles", "roles"),
			Extra:  claims.texts("extra", nil),
		},
		Tenants: r.issuersTenants(s, only, tenancy),
		Admin:   s.boolean("admin", only),
		Leeway:  s.duration("leeway", 30*time.Second, 0),
	}
}

func (r *reader) issuerName(s section) string {
	name, at, ok := s.required("issuer")
	if ok && !validTenantName(name) {
		r.mistake(at, "must be up to 255 bytes of text")
	}
	return name
}

// secret reads hs256_secret; its length is all that is ever told of it.
func (r *reader) secret(s section) []byte {
	secret, at, ok := s.required("hs256_secret")
	if ok && len(secret) < auth.MinSecret {
		r.mistake(at, "must have at least %d bytes, and has %d: make one with `openssl rand -base64 48`", auth.MinSecret, len(secret))
	}
	return []byte(secret)
}

// issuersTenants reads the tenants that an issuer's tokens may name.
func (r *reader) issuersTenants(s section, only, tenancy bool) []string {
	at, named := s.values["tenants"]
	if !named {
		if tenancy && !only {
			r.mistake(s.missing("tenants"), "is missing: of several issuers, each must name the tenants that it speaks for")
		}
		return []string{auth.AnyTenant}
	}
	if tenancy && empty(at) {
		r.mistake(at, "names no tenant, so nobody of this issuer could call")
	}
	return r.texts(at)
}

// identityHeaders reads identity.headers and compiles each to find its
// mistakes.
func (r *reader) identityHeaders(top section, extra []string) map[string]string {
	templates := map[string]string{}
	list := top.section("identity", keys.identity).named("headers")
	for _, e := range r.distinctHeaders(list) {
		template, ok := r.text(e)
		if !ok {
			continue
		}
		templates[e.name] = template
		_, err := auth.CompileHeaders(map[string]string{e.name: template}, extra)
		if err == nil {
			continue
		}
		if written, _ := writtenText(e.node); strings.Contains(written, "${") {
			// The compiler quotes what it does not know: not the environment.
			r.mistake(e, "is no valid template once the environment is put in")
			continue
		}
		r.mistake(e, "%s", err)
	}
	return templates
}
