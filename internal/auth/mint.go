package auth

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/lestrrat-go/jwx/v3/jwa"
	"github.com/lestrrat-go/jwx/v3/jws"
)

// Mint signs a token that a verifier which knows the issuer believes from now
// until ttl later. It carries the subject, tenant, roles, scopes and extra
// claims of sc where the issuer's tokens keep them; sc's issuer and times are
// not looked at.
func Mint(issuer Issuer, sc SecurityContext, ttl time.Duration, now time.Time) (string, error) {
	if err := issuer.check(); err != nil {
		return "", fmt.Errorf("mint token: %w", err)
	}
	if err := checkName("the subject", sc.Subject); err != nil {
		return "", fmt.Errorf("mint token: %w", err)
	}
	if ttl < time.Second {
		return "", errors.New("mint token: it must live for a second or longer")
	}
	payload, err := json.Marshal(minted(issuer.withDefaults(), sc, ttl, now))
	if err != nil {
		return "", fmt.Errorf("mint token: %w", err)
	}
	headers := jws.NewHeaders()
	if err := headers.Set(jws.TypeKey, "JWT"); err != nil {
		return "", fmt.Errorf("mint token: %w", err)
	}
	token, err := jws.Sign(payload, jws.WithKey(jwa.HS256(), issuer.HS256Secret, jws.WithProtectedHeaders(headers)))
	if err != nil {
		return "", fmt.Errorf("mint token: %w", err)
	}
	if len(token) > maxToken {
		return "", errors.New("mint token: its claims make it longer than 16 KiB")
	}
	return string(token), nil
}

// minted is the token's payload. The registered claims are written last, so
// that no configured path can change them.
func minted(issuer Issuer, sc SecurityContext, ttl time.Duration, now time.Time) map[string]any {
	payload := map[string]any{}
	for _, path := range slices.Sorted(maps.Keys(sc.Extra)) { // "a" before "a.b": see place
		place(payload, path, sc.Extra[path])
	}
	if sc.Tenant != "" {
		place(payload, issuer.Claims.Tenant, sc.Tenant)
	}
	if len(sc.Roles) > 0 {
		place(payload, issuer.Claims.Roles, sc.Roles)
	}
	if len(sc.Scopes) > 0 {
		payload["scope"] = strings.Join(sc.Scopes, " ")
	}
	if issuer.Audience != "" {
		payload["aud"] = issuer.Audience
	}
	payload["iss"] = issuer.Issuer
	payload["sub"] = sc.Subject
	payload["iat"] = now.Unix()
	payload["exp"] = now.Add(ttl).Unix()
	return payload
}

// place puts a value where claims.find finds it: at the end of a path through
// objects or, where something else is in the way, under the whole path.
func place(object map[string]any, path string, value any) {
	head, rest, dotted := strings.Cut(path, ".")
	if !dotted {
		object[path] = value
		return
	}
	inner, isObject := object[head].(map[string]any)
	if _, taken := object[head]; taken && !isObject {
		object[path] = value
		return
	}
	if inner == nil {
		inner = map[string]any{}
		object[head] = inner
	}
	place(inner, rest, value)
}
