package auth

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/lestrrat-go/jwx/v3/jwa"
	"github.com/lestrrat-go/jwx/v3/jws"
)

// maxToken is the longest token looked at, in bytes.
const maxToken = 16 << 10

// Bearer returns the token of an Authorization header; ok is false where the
// header is no well-formed `Bearer TOKEN`. The scheme may be in any case.
func Bearer(header string) (token string, ok bool) {
	scheme, token, found := strings.Cut(strings.TrimSpace(header), " ")
	token = strings.TrimLeft(token, " ")
	if !found || token == "" || !strings.EqualFold(scheme, "Bearer") || strings.ContainsAny(token, " \t\r\n") {
		return "", false
	}
	return token, true
}

// compact is a JWT taken apart. Nothing of it is believed before signedWith.
type compact struct {
	raw     string
	header  claims
	payload []byte
}

// parseCompact takes a token apart. Errors: ErrUnauthenticated.
func parseCompact(token string) (compact, error) {
	if len(token) > maxToken {
		return compact{}, refuse("the token is longer than 16 KiB")
	}
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return compact{}, refuse("the token is no signed JWT")
	}
	decoded := make([][]byte, len(parts))
	for i, part := range parts {
		var err error
		// Strict and without line breaks: one signed token has one spelling.
		decoded[i], err = base64.RawURLEncoding.Strict().DecodeString(part)
		if err != nil || strings.ContainsAny(part, "\r\n") {
			return compact{}, refuse("the token is no signed JWT")
		}
	}
	header, err := parseClaims(decoded[0])
	if err != nil {
		return compact{}, refuse("the token's header is no JSON object")
	}
	return compact{raw: token, header: header, payload: decoded[1]}, nil
}

// checkHeader refuses whatever would let a token choose how it is verified.
// Errors: ErrUnauthenticated.
func (c compact) checkHeader() error {
	if alg, _ := c.header.text("alg"); alg != jwa.HS256().String() {
		return refuse("the token is not signed with HS256")
	}
	for _, name := range []string{"jwk", "jku", "x5u", "x5c", "crit", "b64"} {
		if _, ok := c.header[name]; ok {
			return refuse(fmt.Sprintf("the token's header has %s, which is not accepted", name))
		}
	}
	if _, ok := c.header["typ"]; !ok {
		return nil
	}
	typ, _ := c.header.text("typ")
	if !strings.EqualFold(typ, "JWT") && !strings.EqualFold(typ, "at+jwt") {
		return refuse("the token's typ is neither JWT nor at+jwt")
	}
	return nil
}

// signedWith answers nil if the payload was signed with secret by HS256.
// Errors: ErrUnauthenticated.
func (c compact) signedWith(secret []byte) error {
	payload, err := jws.Verify([]byte(c.raw), jws.WithKey(jwa.HS256(), secret), jws.WithAlgorithmMatch(true))
	if err != nil || !bytes.Equal(payload, c.payload) {
		return refuse("the token's signature is not its issuer's")
	}
	return nil
}

// parseClaims decodes one JSON object and keeps its values as written.
func parseClaims(raw []byte) (claims, error) {
	if !utf8.Valid(raw) {
		return nil, errors.New("not UTF-8")
	}
	var c claims
	if err := json.Unmarshal(raw, &c); err != nil {
		return nil, err
	}
	if c == nil {
		return nil, errors.New("not an object")
	}
	return c, nil
}

// refuse is ErrUnauthenticated with a reason for the caller.
func refuse(reason string) error { return fmt.Errorf("%w: %s", ErrUnauthenticated, reason) }
