package config

import (
	"net/url"
	"strings"
)

// origins reads a list of web origins: those whose pages may call.
func (s section) origins(key string) []string {
	e, ok := s.values[key]
	if !ok {
		return nil
	}
	var origins []string
	for _, item := range s.items(e) {
		origin, ok := s.reader.text(item)
		switch {
		case !ok:
		case !validOrigin(origin):
			s.mistake(item, `must be an origin as browsers send it, such as https://app.example or http://localhost:3000, or "*"`)
		default:
			origins = append(origins, origin)
		}
	}
	return origins
}

// validOrigin reports whether a browser may send origin, letter by letter: in
// lower case, without path and without the scheme's own port. "*" is every one.
func validOrigin(origin string) bool {
	page, err := url.Parse(origin)
	if origin == "*" || err != nil {
		return err == nil
	}
	usual := map[string]string{"http": "80", "https": "443"}[page.Scheme]
	return page.Scheme != "" && page.Hostname() != "" && origin == page.Scheme+"://"+page.Host &&
		origin == strings.ToLower(origin) && (page.Port() == "" || page.Port() != usual)
}
