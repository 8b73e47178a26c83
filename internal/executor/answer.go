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

// asEnvelope is the answer as a client of a synchronous request sees it: the
// upstream's own, or, where that failed, errors that say so.
func (a *answer) asEnvelope(oc *graphql.OperationContext) json.RawMessage {
	if a.envelope != nil {
		return a.envelope
	}
	code := string(a.failure.Code)
	if a.failure.Code == asyncop.CodeResultTooLarge {
		code = "PAYLOAD_TOO_LARGE"
	}
	response := graphql.Response{}
	data, null := bytes.Buffer{}, false
	for field := range rootFields(oc.Operation.SelectionSet) {
		if field.Name == "__typename" {
			continue
		}
		response.Errors = append(response.Errors, &gqlerror.Error{
			Message: a.failure.Message,
			Path:    ast.Path{ast.PathName(field.Alias)},
			Extensions: map[string]any{
				"code": code, "execution": a.failure.Execution.String(),
			},
		})
		null = null || field.Definition.Type.NonNull
		if data.Len() > 0 {
			data.WriteByte(',')
		}
		data.Write(raw.Quote(field.Alias))
		data.WriteString(":null")
	}
	if !null {
		response.Data = json.RawMessage("{" + data.String() + "}")
	}
	return envelopeOf(&response)
}

// response is the answer as gqlgen's executor passes it on. The envelope that
// clients get is the exchange's: decoding errors here loses their text.
func (a *answer) response(oc *graphql.OperationContext) *graphql.Response {
	members, err := raw.Object(a.asEnvelope(oc))
	if err != nil {
		return &graphql.Response{}
	}
	response := &graphql.Response{}
	response.Data, _ = raw.Get(members, "data")
	if list, ok := raw.Get(members, "errors"); ok {
		_ = json.Unmarshal(list, &response.Errors)
	}
	return response
}

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
