package auth

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// claims is a JSON object whose values are kept as written.
type claims map[string]json.RawMessage

// find returns the claim at a path: the member of that name or else, at any
// dot, what the rest of the path finds in an object. A claim that is null is
// absent.
func (c claims) find(path string) (json.RawMessage, bool) {
	if raw, ok := c[path]; ok {
		return raw, string(raw) != "null"
	}
	for i := range len(path) {
		if path[i] != '.' {
			continue
		}
		var inner claims
		raw, ok := c[path[:i]]
		if !ok || json.Unmarshal(raw, &inner) != nil {
			continue
		}
		if raw, ok := inner.find(path[i+1:]); ok {
			return raw, true
		}
	}
	return nil, false
}

// text returns the claim at path if it is a string.
func (c claims) text(path string) (string, bool) {
	raw, ok := c.find(path)
	if !ok {
		return "", false
	}
	var s *string
	if json.Unmarshal(raw, &s) != nil || s == nil {
		return "", false
	}
	return *s, true
}

// words returns the claim at path as a list: a list of strings, or a string
// cut at separators. ok is false for anything else; an absent claim is no
// words.
func (c claims) words(path, separators string) (words []string, ok bool) {
	raw, present := c.find(path)
	if !present {
		return nil, true
	}
	if s, ok := c.text(path); ok {
		return strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(separators, r) }), true
	}
	var list []*string
	if json.Unmarshal(raw, &list) != nil {
		return nil, false
	}
	for _, word := range list {
		if word == nil {
			return nil, false
		}
		if *word != "" {
			words = append(words, *word)
		}
	}
	return words, true
}

// instant returns the NumericDate of that name: seconds since 1970, with or
// without a fraction. ok is false for anything else; an absent claim is the
// zero time.
func (c claims) instant(name string) (at time.Time, ok bool) {
	const year9999 = 253402300799
	raw, present := c.find(name)
	if !present {
		return time.Time{}, true
	}
	seconds, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || !(seconds >= 0 && seconds <= year9999) {
		return time.Time{}, false
	}
	whole, fraction := math.Modf(seconds)
	return time.Unix(int64(whole), int64(fraction*1e9)).UTC(), true
}

// extra returns those of the claims at paths that there are.
func (c claims) extra(paths []string) map[string]json.RawMessage {
	var found map[string]json.RawMessage
	for _, path := range paths {
		raw, ok := c.find(path)
		if !ok {
			continue
		}
		if found == nil {
			found = make(map[string]json.RawMessage, len(paths))
		}
		found[path] = raw
	}
	return found
}

// maxName is the longest issuer, subject or tenant, in bytes.
const maxName = 255

// checkName answers why name could not be kept in a row or told to others;
// what says whose name it is.
func checkName(what, name string) error {
	switch {
	case name == "":
		return fmt.Errorf("%s is empty", what)
	case len(name) > maxName:
		return fmt.Errorf("%s is longer than %d bytes", what, maxName)
	case !utf8.ValidString(name) || strings.ContainsAny(name, "\x00\ufffd"):
		// U+FFFD is what half of a surrogate pair decodes to: two names must
		// not become one.
		return fmt.Errorf("%s holds a character that is not allowed", what)
	}
	return nil
}
