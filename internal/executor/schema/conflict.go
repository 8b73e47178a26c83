package schema

import (
	"fmt"
	"strings"
)

// definitionLength bounds how much of a definition an error shows.
const definitionLength = 300

// conflicts collects what two schemas define differently.
type conflicts []string

func (c *conflicts) add(what, upstream, gateway string) {
	*c = append(*c, fmt.Sprintf("%s: the upstream has `%s`, the gateway has `%s`", what, shorten(upstream), shorten(gateway)))
}

// err is ErrConflict with all that was collected, or nil.
func (c conflicts) err() error {
	if len(c) == 0 {
		return nil
	}
	return fmt.Errorf("%w; rename in the upstream, or give its schema as a file without them:\n  %s",
		ErrConflict, strings.Join(c, "\n  "))
}

func shorten(sdl string) string {
	runes := []rune(sdl)
	if len(runes) > definitionLength {
		return string(runes[:definitionLength-1]) + "…"
	}
	return sdl
}
