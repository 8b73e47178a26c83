package auth

// ValidTenant reports whether name may be put in place of {tenant} in an
// upstream's URL: ^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$, a host label in lower
// case. A tenant that is configured by name need not be one.
func ValidTenant(name string) bool {
	if len(name) < 1 || len(name) > 63 {
		return false
	}
	for i := range len(name) {
		c := name[i]
		inside := i > 0 && i < len(name)-1
		if !('a' <= c && c <= 'z' || '0' <= c && c <= '9' || inside && c == '-') {
			return false
		}
	}
	return true
}
