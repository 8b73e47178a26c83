package config

import (
	"math"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"asyncgate/internal/auth"
)

// upstreams reads the single upstream or the tenants: exactly one of the two.
func (r *reader) upstreams(top section, global map[string]Mutation, perTenant int) (*Upstream, map[string]Tenant) {
	single, hasSingle := top.values["upstream"]
	many, hasMany := top.values["tenants"]
	switch {
	case hasSingle && hasMany:
		r.mistake(single, "stands beside tenants on line %d: keep one of the two", many.line)
	case !hasSingle && !hasMany:
		r.mistake(top.at, "there is neither upstream nor tenants: name the GraphQL API behind the gateway")
	}
	var upstream *Upstream
	if hasSingle {
		u := r.upstream(top, "upstream", "")
		upstream = &u
	}
	return upstream, r.tenants(top, global, perTenant)
}

func (r *reader) tenants(top section, global map[string]Mutation, perTenant int) map[string]Tenant {
	list := top.named("tenants")
	if at, ok := top.values["tenants"]; ok && empty(at) {
		r.mistake(at, "names no tenant")
	}
	tenants := make(map[string]Tenant, len(list))
	for _, e := range list {
		if !validTenantName(e.name) {
			r.mistake(e, "is no name of a tenant: up to 255 bytes of text")
			continue
		}
		if !r.present(e) {
			continue
		}
		s := r.open(e, keys.tenant)
		tenants[e.name] = Tenant{
			Upstream:  r.upstream(s, "upstream", e.name),
			Mutations: r.mutations(s.named("mutations"), global),
			PerTenant: s.integer("per_tenant", perTenant, 0, math.MaxInt32),
		}
	}
	return tenants
}

func validTenantName(name string) bool {
	return name != "" && len(name) <= 255 && utf8.ValidString(name) && !strings.ContainsRune(name, 0)
}

// upstream reads the upstream of a section under key, of a tenant or of none.
func (r *reader) upstream(of section, key, tenant string) Upstream {
	at, ok := of.values[key]
	if !ok && of.broken {
		return Upstream{}
	}
	if !ok {
		r.mistake(of.missing(key), "is missing")
		return Upstream{}
	}
	if !r.present(at) {
		return Upstream{}
	}
	s := r.open(at, keys.upstream)
	u := Upstream{
		Schema:      s.text("schema", ""),
		Timeout:     s.duration("timeout", 30*time.Second, some),
		IdleTimeout: s.duration("idle_timeout", 2*time.Second, some),
		Headers:     r.staticHeaders(s.named("headers")),
	}
	if u.Schema != "" {
		u.Schema = under(r.dir, u.Schema)
	}
	if address, at, ok := s.required("url"); ok {
		u.URL = address
		if fault := addressFault(address, tenant == auth.AnyTenant); fault != "" {
			r.mistake(at, "%s", fault)
		}
	}
	return u
}

// staticHeaders reads headers that are sent as they are.
func (r *reader) staticHeaders(list []entry) map[string]string {
	headers := make(map[string]string, len(list))
	for _, e := range r.distinctHeaders(list) {
		if err := auth.CheckHeaderName(e.name); err != nil {
			r.mistake(e, "%s", err)
			continue
		}
		value, ok := r.text(e)
		if !ok {
			continue
		}
		if strings.TrimSpace(value) != value || strings.ContainsFunc(value, notPrintable) {
			r.mistake(e, "must be printable ASCII, with no space at either end")
			continue
		}
		headers[e.name] = value
	}
	return headers
}

func notPrintable(r rune) bool { return r < 0x20 || r > 0x7e }

// distinctHeaders notes and drops headers that are there twice, in whatever
// case.
func (r *reader) distinctHeaders(list []entry) []entry {
	var distinct []entry
	first := map[string]int{}
	for _, e := range list {
		canonical := http.CanonicalHeaderKey(e.name)
		if line, twice := first[canonical]; twice {
			r.mistake(e, "is there twice, first on line %d: case does not count", line)
			continue
		}
		first[canonical] = e.line
		distinct = append(distinct, e)
	}
	return distinct
}
