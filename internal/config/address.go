package config

import (
	"net/url"
	"strings"
)

// tenantPlace stands for the tenant's name in the url of the "*" tenant.
const tenantPlace = "{tenant}"

// addressFault answers why address cannot be an upstream's, "" if it can; many
// is true for the upstreams of the "*" tenant. It never repeats the address:
// there may be a password in it.
func addressFault(address string, many bool) string {
	has := strings.Contains(address, tenantPlace)
	if has && !many {
		return `must not have {tenant}, which is for the tenant "*" alone`
	}
	u, err := url.Parse(strings.ReplaceAll(address, tenantPlace, "a"))
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return "must be an absolute http or https URL"
	case u.User != nil:
		return "must not hold a user or password: send them in headers, such as Authorization"
	case u.Fragment != "":
		return "must not have a fragment"
	case many && !has:
		return "must have {tenant}, in place of which each tenant's name is put, such as https://{tenant}.api.example/graphql"
	case many && !tenantPlaced(address):
		return "may have {tenant} only in the first of three or more labels of the host, or in the path"
	}
	return ""
}

// tenantPlaced reports whether {tenant} stands only where a tenant's name
// leads to no host or service but those meant for tenants.
func tenantPlaced(address string) bool {
	scheme, rest, _ := strings.Cut(address, "://")
	host, path := rest, ""
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		host, path = rest[:i], rest[i:]
	}
	_, beyond, _ := strings.Cut(path, "?")
	return !strings.Contains(scheme, tenantPlace) && !strings.Contains(beyond, tenantPlace) &&
		(!strings.Contains(host, tenantPlace) || tenantInHost(host))
}

// tenantInHost reports whether {tenant} stands in the first label alone, and
// two or more follow, the last of which is no number: else a name could make
// an address of it.
func tenantInHost(host string) bool {
	first, domain, _ := strings.Cut(host, ".")
	domain, port, _ := strings.Cut(domain, ":")
	labels := strings.Split(strings.TrimSuffix(domain, "."), ".")
	last := labels[len(labels)-1]
	return len(labels) >= 2 && !strings.Contains(first, ":") && !strings.Contains(domain+port, tenantPlace) &&
		strings.Trim(last, "0123456789") != ""
}
