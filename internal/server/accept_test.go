package server

import (
	"testing"

	"asyncgate/graph"
)

func TestAcceptIsNegotiatedByWeight(t *testing.T) {
	t.Parallel()
	both := accepted{single: mediaJSON, events: true}
	cases := map[string]accepted{
		"":                 {single: mediaJSON},
		"*/*":              {single: mediaJSON},
		"application/*":    {single: mediaJSON},
		"application/json": {single: mediaJSON},
		"application/json; charset=utf-8, */*;q=0.1":                {single: mediaJSON},
		"application/graphql-response+json":                         {single: mediaGraphQL},
		"application/graphql-response+json, application/json":       {single: mediaGraphQL},
		"application/json, application/graphql-response+json":       {single: mediaJSON},
		"application/json;q=0.8, application/graphql-response+json": {single: mediaGraphQL},
		"application/graphql-response+json;q=0.8, application/json": {single: mediaJSON},
		"*/*, application/graphql-response+json":                    {single: mediaGraphQL},
		"*/*, application/json;q=0":                                 {single: mediaGraphQL},
		"APPLICATION/JSON":                                          {single: mediaJSON},
		"garbage, application/json":                                 {single: mediaJSON},
		"application/json, text/event-stream":                       both,
		"text/event-stream":                                         {events: true, eventsFirst: true},
		"text/event-stream, */*;q=0.1":                              {single: mediaJSON, events: true, eventsFirst: true},
		"text/event-stream;q=0, */*":                                {single: mediaJSON},
		"text/*, application/json":                                  {single: mediaJSON},
	}
	for header, want := range cases {
		if got, err := negotiate([]string{header}); err != nil || got != want {
			t.Errorf("%s: %+v, %v; want %+v", header, got, err, want)
		}
	}
}

func TestWhatCannotBeAcceptedIs406(t *testing.T) {
	t.Parallel()
	f := start(t)
	for _, accept := range []string{"text/html", "application/json;q=0", "text/event-stream;q=0", "text/*"} {
		f.post(t, `{"query":"query who"}`, "Accept: "+accept).mustRefuse(t, 406, graph.CodeBadUserInput)
	}
}
