package executor

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"asyncgate/internal/asyncop"
	"asyncgate/internal/executor/raw"
)

// answer is what came of a forward. There is an envelope, or a failure; a
// GraphQL body with errors is both.
type answer struct {
	envelope json.RawMessage // the GraphQL body, byte for byte
	data     json.RawMessage // its data member
	failure  *asyncop.Failure
	// retryAfter is the upstream's wish, 0 where it has none.
	retryAfter time.Duration
}

// asEnvelope is the answer as a client of a synchronous request for these root
// fields sees it: the upstream's own, or, where that failed, errors that say so.
func (a *answer) asEnvelope(fields []*ast.Field) json.RawMessage {
	if a.envelope != nil {
		return a.envelope
	}
	response := graphql.Response{}
	var data []raw.Member
	null := false
	for _, field := range fields {
		if field.Name == "__typename" {
			data = append(data, raw.Member{Name: field.Alias, Value: raw.Quote(field.ObjectDefinition.Name)})
			continue
		}
		response.Errors = append(response.Errors, a.failedAt(ast.Path{ast.PathName(field.Alias)}))
		null = null || field.Definition.Type.NonNull
		data = append(data, raw.Member{Name: field.Alias, Value: json.RawMessage("null")})
	}
	if !null {
		response.Data = writeObject(data)
	}
	return envelopeOf(&response)
}

// failedAt is the failure as the error of a synchronous request.
func (a *answer) failedAt(path ast.Path) *gqlerror.Error {
	code := string(a.failure.Code)
	if a.failure.Code == asyncop.CodeResultTooLarge {
		code = "PAYLOAD_TOO_LARGE"
	}
	return &gqlerror.Error{
		Message: a.failure.Message, Path: path,
		Extensions: map[string]any{"code": code, "execution": a.failure.Execution.String()},
	}
}

// passed is what goes through gqlgen's executor for an answer: what clients get
// is in the exchange, as bytes.
func (a *answer) passed() *graphql.Response { return &graphql.Response{Data: a.data} }

// envelopeOf writes a response of the gateway's own. Unlike json.Marshal it
// leaves the data alone, and has no data member where the request was refused.
func envelopeOf(response *graphql.Response) json.RawMessage {
	var envelope bytes.Buffer
	envelope.WriteByte('{')
	if len(response.Errors) > 0 {
		envelope.WriteString(`"errors":`)
		envelope.Write(encode(response.Errors))
		envelope.WriteByte(',')
	}
	envelope.WriteString(`"data":`)
	if response.Data == nil {
		envelope.WriteString("null")
	} else {
		envelope.Write(response.Data)
	}
	if len(response.Extensions) > 0 {
		envelope.WriteString(`,"extensions":`)
		envelope.Write(encode(response.Extensions))
	}
	envelope.WriteByte('}')
	return envelope.Bytes()
}

// encode writes JSON without escaping for HTML. Values are our own.
func encode(value any) json.RawMessage {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return json.RawMessage("null")
	}
	return bytes.TrimSuffix(text.Bytes(), []byte("\n"))
}
