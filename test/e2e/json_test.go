package e2e

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"asyncgate/internal/executor/raw"
)

// at cuts a value out of JSON text, byte for byte. A number in path is an index
// into an array.
func at(t *testing.T, text []byte, path ...string) json.RawMessage {
	t.Helper()
	value := json.RawMessage(text)
	for _, name := range path {
		next, ok := inside(value, name)
		if !ok {
			t.Fatalf("there is no %s in %s", strings.Join(path, "."), text)
		}
		value = next
	}
	return value
}

func inside(value json.RawMessage, name string) (json.RawMessage, bool) {
	if raw.Kind(value) == '[' {
		elements, err := raw.Array(value)
		i, indexErr := strconv.Atoi(name)
		if err != nil || indexErr != nil || i >= len(elements) {
			return nil, false
		}
		return elements[i], true
	}
	members, err := raw.Object(value)
	if err != nil {
		return nil, false
	}
	return raw.Get(members, name)
}

// textAt is the string at a path.
func textAt(t *testing.T, text []byte, path ...string) string {
	t.Helper()
	var s string
	if err := json.Unmarshal(at(t, text, path...), &s); err != nil {
		t.Fatalf("%s is no string in %s", strings.Join(path, "."), text)
	}
	return s
}

// body is a GraphQL request. variables are JSON text, "" for none.
func body(document, variables string) []byte {
	text := `{"query":` + quote(document)
	if variables != "" {
		text += `,"variables":` + variables
	}
	return []byte(text + `}`)
}

// object is a JSON object of names and JSON texts, in turns.
func object(members ...string) string {
	var text strings.Builder
	for i := 0; i < len(members); i += 2 {
		text.WriteString("," + quote(members[i]) + ":" + members[i+1])
	}
	return "{" + strings.TrimPrefix(text.String(), ",") + "}"
}

func quote(s string) string { return string(raw.Quote(s)) }
