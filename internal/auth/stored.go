package auth

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// ErrContextVersion: the stored security context was written by a version of
// the gateway that this one cannot read. Nothing may be done in its name.
var ErrContextVersion = errors.New("stored security context has an unknown version")

const storedVersion = 1

// stored is a SecurityContext at rest.
type stored struct {
	Version   int                        `json:"v"`
	Issuer    string                     `json:"iss"`
	Subject   string                     `json:"sub"`
	Tenant    string                     `json:"tenant,omitempty"`
	Roles     []string                   `json:"roles,omitempty"`
	Scopes    []string                   `json:"scopes,omitempty"`
	Extra     map[string]json.RawMessage `json:"extra,omitempty"`
	IssuedAt  time.Time                  `json:"iat,omitzero"`
	ExpiresAt time.Time                  `json:"exp,omitzero"`
}

// Encode returns sc as it is stored with an operation. The values of Extra
// must be JSON, as Verify makes them; otherwise it returns nil, which Decode
// refuses.
func (sc SecurityContext) Encode() json.RawMessage {
	raw, err := json.Marshal(stored{
		Version: storedVersion, Issuer: sc.Issuer, Subject: sc.Subject, Tenant: sc.Tenant,
		Roles: sc.Roles, Scopes: sc.Scopes, Extra: sc.Extra,
		IssuedAt: sc.IssuedAt, ExpiresAt: sc.ExpiresAt,
	})
	if err != nil {
		return nil
	}
	return raw
}

// Decode returns what Encode stored. Errors: ErrContextVersion, and others for
// what is malformed.
func Decode(raw json.RawMessage) (SecurityContext, error) {
	var version struct {
		Version int `json:"v"`
	}
	if err := json.Unmarshal(raw, &version); err != nil {
		return SecurityContext{}, fmt.Errorf("decode security context: %w", err)
	}
	if version.Version != storedVersion {
		return SecurityContext{}, fmt.Errorf("decode security context: %w: %d", ErrContextVersion, version.Version)
	}
	var s stored
	if err := json.Unmarshal(raw, &s); err != nil {
		return SecurityContext{}, fmt.Errorf("decode security context: %w", err)
	}
	if s.Issuer == "" || s.Subject == "" {
		return SecurityContext{}, errors.New("decode security context: no issuer or no subject")
	}
	return SecurityContext{
		Issuer: s.Issuer, Subject: s.Subject, Tenant: s.Tenant,
		Roles: s.Roles, Scopes: s.Scopes, Extra: s.Extra,
		IssuedAt: s.IssuedAt, ExpiresAt: s.ExpiresAt,
	}, nil
}
