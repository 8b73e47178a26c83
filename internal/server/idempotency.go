package server

import "strings"

// maxKey is the most characters that an idempotency key has.
const maxKey = 255

var errMalformedKey = badRequest(`Idempotency-Key must be one string of 1 to 255 printable ASCII characters in quotes, such as "8e03978e-40d5".`)

// parseIdempotencyKey reads Idempotency-Key headers, as the IETF's draft has
// them: one structured-field string. Many clients leave the quotes out, so a
// bare token is taken too. It answers nil where there is none. Errors: a refusal.
func parseIdempotencyKey(header []string) (*string, error) {
	if len(header) == 0 {
		return nil, nil //nolint:nilnil // no key is no mistake
	}
	key, ok := bareKey(header[0])
	if strings.HasPrefix(header[0], `"`) {
		key, ok = quotedKey(header[0])
	}
	if !ok || len(header) > 1 || len(key) < 1 || len(key) > maxKey {
		return nil, errMalformedKey
	}
	return &key, nil
}

// quotedKey reads a string of RFC 9651.
func quotedKey(text string) (key string, ok bool) {
	var b strings.Builder
	for i := 1; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '"':
			return b.String(), i == len(text)-1
		case c < 0x20, c > 0x7e:
			return "", false
		case c == '\\':
			i++
			if i == len(text) || text[i] != '"' && text[i] != '\\' {
				return "", false
			}
			c = text[i]
		}
		b.WriteByte(c)
	}
	return "", false
}

// bareKey reads a token of RFC 9651, or what would be one but for its first
// character.
func bareKey(text string) (key string, ok bool) {
	const others = "!#$%&'*+-.^_`|~:/"
	return text, strings.IndexFunc(text, func(c rune) bool {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		return !letter && (c < '0' || c > '9') && !strings.ContainsRune(others, c)
	}) < 0
}
