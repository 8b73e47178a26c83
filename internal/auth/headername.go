package auth

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// transportHeaders are those that HTTP or the gateway itself decides on:
// hop-by-hop, the target, the body's nature, and what answers may look like.
var transportHeaders = []string{
	"Accept", "Accept-Encoding", "Connection", "Expect", "Host", "Idempotency-Key", "Keep-Alive",
	"Proxy-Authenticate", "Proxy-Authorization", "Proxy-Connection",
	"Te", "Trailer", "Transfer-Encoding", "Upgrade",
}

// CheckHeaderName answers why no configuration may set a header of that name
// on requests to an upstream: it is no token, or HTTP or the gateway sets it.
func CheckHeaderName(name string) error {
	if name == "" || strings.ContainsFunc(name, notToken) {
		return fmt.Errorf("header %q: is no valid header name", name)
	}
	canonical := http.CanonicalHeaderKey(name)
	if slices.Contains(transportHeaders, canonical) ||
		strings.HasPrefix(canonical, "Content-") || strings.HasPrefix(canonical, "X-Async-") {
		return fmt.Errorf("header %q: is set by the gateway itself and cannot be configured", name)
	}
	return nil
}

// checkTemplatedHeader is CheckHeaderName for a header that tells who calls:
// it must not look like a credential of the caller's either.
func checkTemplatedHeader(name string) error {
	if err := CheckHeaderName(name); err != nil {
		return err
	}
	switch http.CanonicalHeaderKey(name) {
	case "Authorization", "Cookie":
		return fmt.Errorf("header %q: is a credential and cannot be templated", name)
	}
	return nil
}

// notToken reports whether r cannot stand in a header's name (RFC 9110, tchar).
func notToken(r rune) bool {
	letter := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
	return !letter && !strings.ContainsRune("!#$%&'*+-.^_`|~", r)
}
