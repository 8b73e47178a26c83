package server

import (
	"encoding/json"
	"maps"
	"mime"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// document is what docs/openapi.yaml promises, as far as it is held here.
type document struct {
	Paths      map[string]map[string]any
	Components struct {
		Headers   map[string]documentedHeader
		Responses map[string]documentedResponse
		Schemas   map[string]struct{ Properties map[string]any }
	}
}

type documentedResponse struct {
	Ref     string `yaml:"$ref"`
	Headers map[string]documentedHeader
	Content map[string]any
}

type documentedHeader struct {
	Ref      string `yaml:"$ref"`
	Required bool
}

// telling are the headers that a response may have only where it is
// documented.
var telling = []string{"Location", "Preference-Applied", "Retry-After", "WWW-Authenticate", "ETag"}

// example is a request that has a documented response.
type example struct {
	path   string
	body   string // of the request
	header []string
}

// deferring is a request to defer a mutation of a script.
func deferring(script string, header ...string) example {
	return example{path: "/graphql", body: `{"query":"mutation ` + script + `"}`, header: append([]string{"Prefer: respond-async"}, header...)}
}

func reading(path string, header ...string) example { return example{path: path, header: header} }

// examples answers requests for each documented response, by "path method status".
// Together those of a response have each of its headers.
func examples() map[string][]example {
	const (
		one, result = "/operations/", "/result"
		wait        = "Prefer: wait=2"
		stranger    = "Authorization: Bearer nonsense"
		homeless    = "Authorization: Bearer homeless"
		patient     = "Authorization: Bearer patient"
	)
	all := map[string][]example{
		"/graphql post 200": {
			deferring("allowed soon", "Prefer: respond-async, wait=2"), deferring("awkward"),
			deferring("allowed soon", "Prefer: respond-async, wait=2", "Accept: application/graphql-response+json"),
		},
		"/graphql post 202": {deferring("allowed runs"), deferring("allowed done")},
		"/graphql post 400": {deferring("allowed runs", `Idempotency-Key: "malformed`), {path: "/graphql", body: `[]`}},
		"/graphql post 401": {deferring("awkward", stranger), deferring("awkward", "Authorization: ")},
		"/graphql post 403": {deferring("awkward", homeless), deferring("awkward", "Sec-Fetch-Site: cross-site")},
		"/graphql post 406": {deferring("awkward", "Accept: text/html")},
		"/graphql post 410": {deferring("allowed purged", "Prefer: respond-async, wait=2")},
		"/graphql post 413": {deferring(strings.Repeat(" ", 5<<10))},
		"/graphql post 415": {deferring("awkward", "Content-Type: text/plain"), deferring("awkward", "Content-Type: multipart/form-data; boundary=x")},
		"/graphql post 422": {deferring("allowed runs", "Idempotency-Key: reused")},
		"/graphql post 429": {deferring("allowed quota")},
		"/graphql post 503": {deferring("allowed away"), deferring("awkward", patient)},

		"/operations/{id} delete 200": {reading(one + queuedID)},
		"/operations/{id} delete 202": {reading(one + runningID)},
		"/operations/{id} delete 401": {reading(one+queuedID, stranger)},
		"/operations/{id} delete 403": {reading(one+queuedID, homeless), reading(one+queuedID, "Sec-Fetch-Site: cross-site")},
		"/operations/{id} delete 404": {reading(one + nobodysID), reading(one + "1")},
		"/operations/{id} delete 409": {reading(one + succeededID)},
		"/operations/{id} delete 503": {reading(one + awayID), reading(one+queuedID, patient)},

		"/operations/{id} get 200":        {reading(one + runningID), reading(one+soonID, wait)},
		"/operations/{id}/result get 200": {reading(one + succeededID + result), reading(one+soonID+result, wait)},
		"/operations/{id}/result get 202": {reading(one + queuedID + result), reading(one+runningID+result, wait)},
		"/operations/{id}/result get 410": {reading(one + purgedID + result), reading(one+purgedID+result, wait)},
		"/operations/{id} get 304":        {reading(one+runningID, "If-None-Match: *", wait)},
		"/operations/{id}/result get 304": {reading(one+succeededID+result, "If-None-Match: *", wait)},
	}
	for path, suffix := range map[string]string{"/operations/{id} get ": "", "/operations/{id}/result get ": result} {
		all[path+"401"] = []example{reading(one+queuedID+suffix, stranger)}
		all[path+"403"] = []example{reading(one+queuedID+suffix, homeless)}
		all[path+"404"] = []example{reading(one + nobodysID + suffix), reading(one + "1" + suffix)}
		all[path+"503"] = []example{reading(one + awayID + suffix), reading(one+queuedID+suffix, patient)}
	}
	all["/operations/{id}/result get 404"] = append(all["/operations/{id}/result get 404"], reading(one+failedID+result, wait))
	return all
}

func readDocument(t *testing.T) document {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "openapi.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var d document
	if err := yaml.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// responses are the documented ones, by "path method status", without
// references. The default response is for what no request provokes.
func (d document) responses(t *testing.T) map[string]documentedResponse {
	t.Helper()
	found := map[string]documentedResponse{}
	for path, methods := range d.Paths {
		for method, operation := range methods {
			text, err := yaml.Marshal(operation)
			var o struct{ Responses map[string]documentedResponse }
			if method == "parameters" {
				continue
			}
			if err == nil {
				err = yaml.Unmarshal(text, &o)
			}
			if err != nil {
				t.Fatal(err)
			}
			for status, response := range o.Responses {
				if name, ok := strings.CutPrefix(response.Ref, "#/components/responses/"); ok {
					response = d.Components.Responses[name]
				}
				if status != "default" {
					found[path+" "+method+" "+status] = response
				}
			}
		}
	}
	return found
}

// header answers what is promised of a header of a response.
func (d document) header(response documentedResponse, name string) (promised documentedHeader, ok bool) {
	promised, ok = response.Headers[name]
	if target, isRef := strings.CutPrefix(promised.Ref, "#/components/headers/"); isRef {
		promised, ok = d.Components.Headers[target]
	}
	return promised, ok
}

func TestEveryDocumentedResponseIsServed(t *testing.T) {
	t.Parallel()
	d, f := readDocument(t), start(t)
	responses, examples := d.responses(t), examples()
	if documented, tried := slices.Sorted(maps.Keys(responses)), slices.Sorted(maps.Keys(examples)); !slices.Equal(documented, tried) {
		t.Fatalf("documented are\n%s\nand examples are of\n%s", strings.Join(documented, "\n"), strings.Join(tried, "\n"))
	}
	for name, response := range responses {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			parts := strings.Fields(name)
			unseen, unsent := maps.Clone(response.Headers), maps.Clone(response.Content)
			for _, e := range examples[name] {
				got := f.call(t, strings.ToUpper(parts[1]), e.path, e.body, e.header...)
				if want := parts[2]; strconv.Itoa(got.status) != want {
					t.Errorf("%s %v: answered %d %s", e.path, e.header, got.status, got.body)
				}
				d.holdsHeaders(t, response, got, unseen)
				d.holdsContent(t, response, got, unsent)
			}
			for header := range unseen {
				t.Errorf("no example has %s", header)
			}
			for mediaType := range unsent {
				if mediaType != mediaGraphQL || parts[0] != "/graphql" {
					t.Errorf("no example is %s", mediaType)
				}
			}
		})
	}
}

// holdsHeaders: a response has all headers that are required and none that is
// not documented. What it has is no longer unseen.
func (d document) holdsHeaders(t *testing.T, response documentedResponse, got reply, unseen map[string]documentedHeader) {
	t.Helper()
	for _, name := range telling {
		promised, documented := d.header(response, name)
		has := got.header.Get(name) != ""
		if has {
			delete(unseen, name)
		}
		if has && !documented || promised.Required && !has {
			t.Errorf("%s is %q, and documented: %v", name, got.header.Get(name), documented)
		}
	}
}

// holdsContent: a response is of a documented type and, where that is an
// operation, has its documented members and no others.
func (d document) holdsContent(t *testing.T, response documentedResponse, got reply, unsent map[string]any) {
	t.Helper()
	if len(response.Content) == 0 {
		if got.body != "" {
			t.Errorf("an undocumented body: %s", got.body)
		}
		return
	}
	mediaType, _, _ := mime.ParseMediaType(got.header.Get("Content-Type"))
	content, ok := response.Content[mediaType]
	if !ok {
		t.Errorf("%s is not documented", mediaType)
	}
	delete(unsent, mediaType)
	text, err := yaml.Marshal(content)
	if err != nil {
		t.Fatal(err)
	}
	_, schema, _ := strings.Cut(string(text), "#/components/schemas/")
	schema = strings.TrimRight(schema, "\"'\n")
	var members map[string]json.RawMessage
	if err := json.Unmarshal([]byte(got.body), &members); err != nil {
		t.Fatalf("%v in %s", err, got.body)
	}
	properties := d.Components.Schemas[schema].Properties
	for member := range members {
		if _, ok := properties[member]; !ok {
			t.Errorf("%s has no %s", schema, member)
		}
	}
	if strings.Contains(schema, "Operation") || strings.Contains(schema, "Cancellation") {
		for property := range properties {
			if _, ok := members[property]; !ok {
				t.Errorf("there is no %s in %s", property, got.body)
			}
		}
	}
}
