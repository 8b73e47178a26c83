package server

import (
	"mime"
	"net/http"
	"strconv"
	"strings"

	"asyncgate/graph"
)

// The media types of responses.
const (
	mediaJSON    = "application/json"
	mediaGraphQL = "application/graphql-response+json"
	mediaEvents  = "text/event-stream"
)

// accepted is what a client takes.
type accepted struct {
	// single is the media type for one response, "" where it takes neither.
	single string
	// events: it takes an event stream; only where it says so by name.
	events bool
	// eventsFirst: it would rather have a stream than one response.
	eventsFirst bool
}

// negotiate reads an Accept header. A client without one takes application/json.
// Errors: a refusal with 406.
func negotiate(header []string) (accepted, error) {
	ranges := parseAccept(strings.Join(header, ","))
	if len(ranges) == 0 {
		return accepted{single: mediaJSON}, nil
	}
	plain, response, events := weigh(ranges, mediaJSON), weigh(ranges, mediaGraphQL), weigh(ranges, mediaEvents)
	a := accepted{events: events.q > 0 && events.exact == named}
	switch {
	case response.q > 0 && response.better(plain):
		a.single = mediaGraphQL
	case plain.q > 0:
		a.single = mediaJSON
	}
	a.eventsFirst = a.events && events.q > max(plain.q, response.q)
	if a.single == "" && !a.events {
		return a, &refusal{
			status: http.StatusNotAcceptable, code: graph.CodeBadUserInput,
			message: "Accept must allow " + mediaJSON + ", " + mediaGraphQL + " or " + mediaEvents + ".",
		}
	}
	return a, nil
}

// mediaRange is an element of an Accept header.
type mediaRange struct {
	pattern string // "type/subtype", "type/*" or "*/*"
	q       float64
}

func parseAccept(header string) []mediaRange {
	var ranges []mediaRange
	for element := range strings.SplitSeq(header, ",") {
		pattern, params, err := mime.ParseMediaType(element)
		if err != nil {
			continue
		}
		q := 1.0
		if text, ok := params["q"]; ok {
			if q, err = strconv.ParseFloat(text, 64); err != nil || !(q >= 0 && q <= 1) {
				continue
			}
		}
		ranges = append(ranges, mediaRange{pattern, q})
	}
	return ranges
}

// named: the media type stands in the header in full.
const named = 2

// weight is how much a client wants a media type.
type weight struct {
	q        float64
	exact    int // named, 1: type/*, 0: */*, -1: not at all
	position int
}

// better reports whether a client wants w rather than other. Equal wishes are
// decided by what is named more exactly and then by what is named first.
func (w weight) better(other weight) bool {
	switch {
	case w.q != other.q:
		return w.q > other.q
	case w.exact != other.exact:
		return w.exact > other.exact
	default:
		return w.exact == named && w.position < other.position
	}
}

// weigh finds the most exact range for a media type: a later, less exact one
// does not change what an exact one says.
func weigh(ranges []mediaRange, mediaType string) weight {
	major, _, _ := strings.Cut(mediaType, "/")
	patterns := []string{"*/*", major + "/*", mediaType}
	found := weight{exact: -1}
	for position, r := range ranges {
		for exact, pattern := range patterns {
			if r.pattern == pattern && exact > found.exact {
				found = weight{q: r.q, exact: exact, position: position}
			}
		}
	}
	return found
}
