package shape

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/google/uuid"
)

// MarshalID writes an operation's id.
func MarshalID(id uuid.UUID) graphql.Marshaler {
	return graphql.WriterFunc(func(w io.Writer) { _, _ = fmt.Fprintf(w, `"%s"`, id) })
}

// UnmarshalID reads an operation's id. Errors: BadInputError.
func UnmarshalID(v any) (uuid.UUID, error) {
	text, ok := v.(string)
	if !ok {
		return uuid.UUID{}, BadInputError("id must be a UUID in a string")
	}
	if len(text) != len(uuid.UUID{}.String()) { // uuid.Parse takes braces and URNs too
		return uuid.UUID{}, BadInputError("id is not a UUID")
	}
	id, err := uuid.Parse(text)
	if err != nil {
		return uuid.UUID{}, BadInputError("id is not a UUID")
	}
	return id, nil
}

// MarshalJSON writes stored JSON text byte for byte.
func MarshalJSON(raw json.RawMessage) graphql.Marshaler {
	return graphql.WriterFunc(func(w io.Writer) {
		if raw == nil {
			raw = json.RawMessage("null")
		}
		_, _ = w.Write(raw)
	})
}

// UnmarshalJSON reads any JSON value. Resolvers that need the client's own
// bytes ask executor.ArgumentJSON instead: what arrives here went through maps.
func UnmarshalJSON(v any) (json.RawMessage, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, BadInputError("not a JSON value")
	}
	return bytes.TrimSuffix(text.Bytes(), []byte("\n")), nil
}

// MarshalDateTime writes an RFC 3339 instant, UTC, with the database's
// microseconds.
func MarshalDateTime(t time.Time) graphql.Marshaler {
	return graphql.WriterFunc(func(w io.Writer) {
		_, _ = fmt.Fprintf(w, `"%s"`, t.UTC().Format("2006-01-02T15:04:05.000000Z"))
	})
}

// UnmarshalDateTime reads an RFC 3339 instant. Errors: BadInputError.
func UnmarshalDateTime(v any) (time.Time, error) {
	text, ok := v.(string)
	if !ok {
		return time.Time{}, BadInputError("a DateTime is an RFC 3339 instant in a string")
	}
	instant, err := time.Parse(time.RFC3339Nano, text)
	if err != nil || instant.Year() < 1970 || instant.Year() > 9999 {
		return time.Time{}, BadInputError("a DateTime is an RFC 3339 instant such as 2030-01-31T12:00:00Z")
	}
	return instant.UTC(), nil
}

// BadInputError is a value that does not fit, told to the client as it is.
type BadInputError string

// Error is what the client reads.
func (e BadInputError) Error() string { return string(e) }
