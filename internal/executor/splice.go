package executor

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"asyncgate/internal/executor/raw"
)

// interrupted is the error of a side that ended without an answer.
var interrupted = json.RawMessage(`{"message":"The request was interrupted.","extensions":{"code":"UNAVAILABLE"}}`)

// part is one side's answer to its share of the root fields.
type part struct {
	data       []raw.Member // nil: the side's data is null or absent
	errors     []json.RawMessage
	extensions json.RawMessage
}

// join runs both sides' shares of a document and joins what they answer,
// field by field in the document's order. It leaves the envelope in the
// exchange, as bytes.
func (c *composite) join(ctx context.Context, oc *graphql.OperationContext, fields []*ast.Field) *graphql.Response {
	x := exchangeFrom(ctx)
	var gatewayFields, upstreamFields []*ast.Field
	for _, field := range fields {
		switch {
		case field.Name == "__typename": // ours to answer: the merged root's name
		case c.merged.IsGatewayField(oc.Operation.Operation, field.Name):
			gatewayFields = append(gatewayFields, field)
		default:
			upstreamFields = append(upstreamFields, field)
		}
	}
	var parts []part
	if len(upstreamFields) > 0 {
		child, y := c.upstreamShare(oc, upstreamFields, x)
		p := run(ctx, x.upstream, child, y)
		p.errors = withoutLocations(p.errors)
		parts = append(parts, p)
	}
	if len(gatewayFields) > 0 {
		child, y := c.gatewayShare(oc, gatewayFields, x)
		parts = append(parts, run(ctx, c.gateway, child, y))
	}
	x.answer = &answer{envelope: c.envelope(oc.Operation.Operation, fields, parts)}
	return x.answer.passed()
}

// forwardPrinted forwards a selection that is not a document's only operation.
// Locations point into the printed text, so they are dropped.
func (c *composite) forwardPrinted(ctx context.Context, oc *graphql.OperationContext, fields []*ast.Field) *graphql.Response {
	x := exchangeFrom(ctx)
	child, y := c.upstreamShare(oc, fields, x)
	ctx = withExchange(graphql.WithOperationContext(ctx, child), y)
	response := x.upstream.Exec(ctx)(ctx)
	if y.answer == nil {
		return response
	}
	if envelope := y.answer.envelope; envelope != nil {
		y.answer.envelope = envelopeWithoutLocations(envelope)
	}
	x.answer = y.answer
	return x.answer.passed()
}

// upstreamShare is the child operation, and its exchange, that forwards fields
// as a document printed anew.
func (c *composite) upstreamShare(oc *graphql.OperationContext, fields []*ast.Field, x *exchange) (*graphql.OperationContext, *exchange) {
	child := childOperation(oc, fields)
	document, used := printOperation(oc, child.Operation)
	child.RawQuery, child.OperationName = document, child.Operation.Name
	return child, &exchange{upstream: x.upstream, variables: pickVariables(x.variables, used), attempt: x.attempt}
}

// run executes one side and reads its answer as bytes where it has them.
func run(ctx context.Context, es graphql.ExecutableSchema, oc *graphql.OperationContext, x *exchange) part {
	ctx = withExchange(graphql.WithOperationContext(ctx, oc), x)
	ctx = graphql.WithFreshResponseContext(ctx)
	response := es.Exec(ctx)(ctx)
	if x.answer != nil {
		return readPart(x.answer.asEnvelope(slices.Collect(rootFields(oc.Operation.SelectionSet))))
	}
	if response == nil {
		return part{errors: []json.RawMessage{interrupted}}
	}
	response.Errors = append(response.Errors, graphql.GetErrors(ctx)...)
	response.Extensions = graphql.GetExtensions(ctx)
	return readPart(envelopeOf(response))
}

// readPart splits an envelope that is known to be a GraphQL body.
func readPart(envelope json.RawMessage) part {
	members, err := raw.Object(envelope)
	if err != nil {
		return part{errors: []json.RawMessage{interrupted}}
	}
	var p part
	if data, ok := raw.Get(members, "data"); ok && !raw.IsNull(data) {
		if p.data, err = raw.Object(data); err == nil && p.data == nil {
			p.data = []raw.Member{}
		}
	}
	if list, ok := raw.Get(members, "errors"); ok {
		p.errors, _ = raw.Array(list)
	}
	p.extensions, _ = raw.Get(members, "extensions")
	return p
}

// envelope writes what both sides answered. A part without data makes
// data null: one of its non-null root fields is null.
func (c *composite) envelope(operation ast.Operation, fields []*ast.Field, parts []part) json.RawMessage {
	var errs []json.RawMessage
	var extensions json.RawMessage
	answered := map[string]json.RawMessage{}
	null := false
	for _, p := range parts {
		errs = append(errs, p.errors...)
		null = null || p.data == nil
		for _, member := range p.data {
			answered[member.Name] = member.Value
		}
		if p.extensions != nil {
			extensions = p.extensions
		}
	}
	var envelope bytes.Buffer
	envelope.WriteByte('{')
	if len(errs) > 0 {
		envelope.WriteString(`"errors":`)
		envelope.Write(writeArray(errs))
		envelope.WriteByte(',')
	}
	envelope.WriteString(`"data":`)
	if null {
		envelope.WriteString("null")
	} else {
		envelope.Write(c.data(operation, fields, answered))
	}
	if extensions != nil {
		envelope.WriteString(`,"extensions":`)
		envelope.Write(extensions)
	}
	envelope.WriteByte('}')
	return envelope.Bytes()
}

func (c *composite) data(operation ast.Operation, fields []*ast.Field, answered map[string]json.RawMessage) json.RawMessage {
	members := make([]raw.Member, len(fields))
	for i, field := range fields {
		value, ok := answered[field.Alias]
		switch {
		case field.Name == "__typename":
			value = raw.Quote(c.merged.RootName(operation))
		case !ok:
			value = json.RawMessage("null")
		}
		members[i] = raw.Member{Name: field.Alias, Value: value}
	}
	return writeObject(members)
}

// envelopeWithoutLocations is an envelope less its errors' locations, the rest
// as written.
func envelopeWithoutLocations(envelope json.RawMessage) json.RawMessage {
	members, err := raw.Object(envelope)
	if err != nil {
		return envelope
	}
	for i, member := range members {
		if list, err := raw.Array(member.Value); member.Name == "errors" && err == nil && len(list) > 0 {
			members[i].Value = writeArray(withoutLocations(list))
		}
	}
	return writeObject(members)
}

func withoutLocations(errs []json.RawMessage) []json.RawMessage {
	for i, e := range errs {
		if members, err := raw.Object(e); err == nil {
			errs[i] = writeObject(slices.DeleteFunc(members, func(m raw.Member) bool { return m.Name == "locations" }))
		}
	}
	return errs
}

func writeObject(members []raw.Member) json.RawMessage {
	var text bytes.Buffer
	text.WriteByte('{')
	for i, member := range members {
		if i > 0 {
			text.WriteByte(',')
		}
		text.Write(raw.Quote(member.Name))
		text.WriteByte(':')
		text.Write(member.Value)
	}
	text.WriteByte('}')
	return text.Bytes()
}

func writeArray(values []json.RawMessage) json.RawMessage {
	var text bytes.Buffer
	text.WriteByte('[')
	for i, value := range values {
		if i > 0 {
			text.WriteByte(',')
		}
		text.Write(value)
	}
	text.WriteByte(']')
	return text.Bytes()
}
