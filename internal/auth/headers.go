package auth

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// Headers tells the upstream who calls: header templates, compiled. It is safe
// for concurrent use. The zero Headers tells nothing.
type Headers struct {
	templates []headerTemplate
}

// CompileHeaders compiles templates by header name. A template is literal text
// and claims in braces: {subject}, {issuer}, {tenant}, {roles}, {scopes}, or
// one of the extra claims; of one name, the former is meant. {claim?} leaves
// the header out where the claim is missing or empty. All faults are in one
// error.
func CompileHeaders(templates map[string]string, extra []string) (*Headers, error) {
	h := &Headers{}
	var faults []error
	seen := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(templates)) {
		canonical := http.CanonicalHeaderKey(name)
		if seen[canonical] {
			faults = append(faults, fmt.Errorf("header %q: is there twice", name))
			continue
		}
		seen[canonical] = true
		if err := checkTemplatedHeader(name); err != nil {
			faults = append(faults, err)
			continue
		}
		compiled, err := compileTemplate(canonical, templates[name], extra)
		if err != nil {
			faults = append(faults, fmt.Errorf("header %q: %w", name, err))
			continue
		}
		h.templates = append(h.templates, compiled)
	}
	if len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	return h, nil
}

// For returns the headers that tell the upstream about the caller. No value
// holds anything but printable ASCII, and none begins or ends with a space.
// Errors: ErrForbidden, naming the claim and the header and never the value.
func (h *Headers) For(sc SecurityContext) (http.Header, error) {
	header := make(http.Header, len(h.templates))
	for _, template := range h.templates {
		value, ok, err := template.fill(sc)
		if err != nil {
			return nil, err
		}
		if ok {
			header[template.header] = []string{value}
		}
	}
	return header, nil
}

// claimText is the text of a claim in a header; "" where it is missing or
// empty.
func claimText(sc SecurityContext, claim string) (string, error) {
	switch claim {
	case "subject":
		return headerText(sc.Subject)
	case "issuer":
		return headerText(sc.Issuer)
	case "tenant":
		return headerText(sc.Tenant)
	case "roles":
		return joinItems(sc.Roles)
	case "scopes":
		return joinItems(sc.Scopes)
	default:
		return jsonText(sc.Extra[claim])
	}
}

// jsonText is the text of a scalar or of a list of scalars.
func jsonText(raw json.RawMessage) (string, error) {
	if !strings.HasPrefix(strings.TrimLeft(string(raw), " \t\r\n"), "[") {
		text, err := scalarText(raw)
		if err != nil {
			return "", err
		}
		return headerText(text)
	}
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil {
		return "", errors.New("is malformed")
	}
	items := make([]string, len(list))
	for i, item := range list {
		var err error
		if items[i], err = scalarText(item); err != nil {
			return "", err
		}
	}
	return joinItems(items)
}

// scalarText is a string's content, and a number or a boolean as written; ""
// for null and for nothing.
func scalarText(raw json.RawMessage) (string, error) {
	text := strings.Trim(string(raw), " \t\r\n")
	switch {
	case text == "" || text == "null":
		return "", nil
	case text[0] == '{' || text[0] == '[':
		return "", errors.New("is neither a scalar nor a list of scalars")
	case text[0] != '"':
		return text, nil
	}
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		return "", errors.New("is malformed")
	}
	return s, nil
}

// joinItems joins a list so that it can be taken apart again in one way only.
func joinItems(items []string) (string, error) {
	for _, item := range items {
		if strings.Contains(item, ",") {
			return "", errors.New("has an item that holds a comma")
		}
		if item == "" {
			return "", errors.New("has an empty item")
		}
		if _, err := headerText(item); err != nil {
			return "", err
		}
	}
	return strings.Join(items, ","), nil
}

// headerText answers s if it reaches the upstream as it is. HTTP strips the
// spaces around a value, which would make one name of two.
func headerText(s string) (string, error) {
	if !printable(s) {
		return "", errors.New("holds a character outside printable ASCII")
	}
	if strings.HasPrefix(s, " ") || strings.HasSuffix(s, " ") {
		return "", errors.New("begins or ends with a space")
	}
	return s, nil
}

// printable reports whether s is bytes 0x20 to 0x7e alone.
func printable(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < 0x20 || r > 0x7e })
}
