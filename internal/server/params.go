package server

import (
	"bytes"
	"encoding/json"
	"net/url"
	"unicode/utf8"

	"asyncgate/internal/executor"
)

// invalid is why a client's text is no request. It never holds any of it.
type invalid string

func (i invalid) Error() string { return string(i) }

// parseParams reads the JSON object of a request. Members that it does not
// know are ignored, and of two with one name the last counts. Errors: invalid.
func parseParams(text []byte) (executor.Params, error) {
	if first := bytes.TrimLeft(text, jsonSpace); len(first) > 0 && first[0] == '[' {
		return executor.Params{}, invalid("Batches are not served: send one request object at a time.")
	}
	members, err := parseObject(text)
	if err != nil {
		return executor.Params{}, invalid("The request must be a JSON object in UTF-8.")
	}
	var p executor.Params
	if err := json.Unmarshal(orNull(members["query"]), &p.Query); err != nil || p.Query == "" {
		return executor.Params{}, invalid("query must be a non-empty string.")
	}
	if err := json.Unmarshal(orNull(members["operationName"]), &p.OperationName); err != nil {
		return executor.Params{}, invalid("operationName must be a string or null.")
	}
	if p.Variables, err = objectOrNull(members["variables"]); err != nil {
		return executor.Params{}, invalid("variables must be an object or null.")
	}
	if p.Extensions, err = objectOrNull(members["extensions"]); err != nil {
		return executor.Params{}, invalid("extensions must be an object or null.")
	}
	return p, nil
}

// parseURLParams reads the request in a query string. Errors: invalid.
func parseURLParams(rawQuery string) (executor.Params, error) {
	values, err := url.ParseQuery(rawQuery)
	if err != nil {
		return executor.Params{}, invalid("The query string is malformed.")
	}
	for _, name := range []string{"query", "operationName", "variables", "extensions"} {
		if !utf8.ValidString(values.Get(name)) {
			return executor.Params{}, invalid(name + " must be UTF-8.")
		}
	}
	p := executor.Params{Query: values.Get("query"), OperationName: values.Get("operationName")}
	if p.Query == "" {
		return executor.Params{}, invalid("query must be a non-empty string.")
	}
	if p.Variables, err = objectOrNull([]byte(values.Get("variables"))); err != nil {
		return executor.Params{}, invalid("variables must be a JSON object.")
	}
	if p.Extensions, err = objectOrNull([]byte(values.Get("extensions"))); err != nil {
		return executor.Params{}, invalid("extensions must be a JSON object.")
	}
	return p, nil
}

const jsonSpace = " \t\r\n"

// parseObject splits a JSON object into its members, whose bytes it keeps. A
// map and not a struct, since encoding/json takes "Query" for "query".
func parseObject(text []byte) (map[string]json.RawMessage, error) {
	var members map[string]json.RawMessage
	if !utf8.Valid(text) {
		return nil, invalid("not UTF-8")
	}
	if err := json.Unmarshal(text, &members); err != nil || members == nil {
		return nil, invalid("not a JSON object")
	}
	return members, nil
}

// objectOrNull answers a JSON object as it was written, and nil where it is
// null or absent. Errors: invalid.
func objectOrNull(text json.RawMessage) (json.RawMessage, error) {
	text = bytes.Trim(text, jsonSpace)
	if len(text) == 0 || string(text) == "null" {
		return nil, nil
	}
	if text[0] != '{' || !json.Valid(text) {
		return nil, invalid("not a JSON object")
	}
	return text, nil
}

func orNull(text json.RawMessage) json.RawMessage {
	if text == nil {
		return json.RawMessage("null")
	}
	return text
}
