package auth

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// headerTemplate is one header's template.
type headerTemplate struct {
	header string // canonical
	parts  []templatePart
}

// templatePart is literal text or, where claim is set, a claim's place.
type templatePart struct {
	literal  string
	claim    string
	optional bool
}

var identityClaims = []string{"subject", "issuer", "tenant", "roles", "scopes"}

func compileTemplate(header, text string, extra []string) (headerTemplate, error) {
	if text == "" {
		return headerTemplate{}, errors.New("the template is empty")
	}
	if _, err := headerText(text); err != nil {
		return headerTemplate{}, fmt.Errorf("the template %w", err)
	}
	compiled := headerTemplate{header: header}
	for text != "" {
		part, rest, err := nextPart(text)
		if err != nil {
			return headerTemplate{}, err
		}
		if part.claim != "" && !slices.Contains(identityClaims, part.claim) && !slices.Contains(extra, part.claim) {
			return headerTemplate{}, fmt.Errorf("{%s} is no claim known here: use %s, or name it in an issuer's claims.extra",
				part.claim, "{"+strings.Join(identityClaims, "}, {")+"}")
		}
		compiled.parts = append(compiled.parts, part)
		text = rest
	}
	return compiled, nil
}

// nextPart cuts the first part off a template.
func nextPart(text string) (part templatePart, rest string, err error) {
	at := strings.IndexAny(text, "{}")
	switch {
	case at < 0:
		return templatePart{literal: text}, "", nil
	case at > 0:
		return templatePart{literal: text[:at]}, text[at:], nil
	case text[0] == '}':
		return templatePart{}, "", errors.New("the template has a } without its {")
	}
	claim, rest, closed := strings.Cut(text[1:], "}")
	if !closed || strings.Contains(claim, "{") {
		return templatePart{}, "", errors.New("the template has a { without its }")
	}
	claim, optional := strings.CutSuffix(claim, "?")
	if claim == "" {
		return templatePart{}, "", errors.New("the template has braces that name no claim")
	}
	return templatePart{claim: claim, optional: optional}, rest, nil
}

// fill puts the caller's claims in their places; ok is false where the header
// is left out. Errors: ErrForbidden.
func (t headerTemplate) fill(sc SecurityContext) (value string, ok bool, err error) {
	var b strings.Builder
	ok = true
	for _, part := range t.parts {
		if part.claim == "" {
			b.WriteString(part.literal)
			continue
		}
		text, err := claimText(sc, part.claim)
		if err == nil && text == "" && !part.optional {
			err = errors.New("is missing or empty")
		}
		if err != nil {
			return "", false, fmt.Errorf("%w: the claim %s, which the header %s tells the upstream, %w",
				ErrForbidden, part.claim, t.header, err)
		}
		if text == "" {
			ok = false
		}
		b.WriteString(text)
	}
	return b.String(), ok, nil
}
