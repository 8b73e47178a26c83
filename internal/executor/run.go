package executor

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"asyncgate/internal/executor/raw"
)

// Params is a GraphQL request as a transport read it. Variables and Extensions
// are JSON objects as the client wrote them, or nil.
type Params struct {
	Query         string
	OperationName string
	Variables     json.RawMessage
	Extensions    json.RawMessage
}

// Reply is one response of a run.
type Reply struct {
	// Envelope is the complete response as JSON text: data, errors,
	// extensions. It is written to clients as it is.
	Envelope json.RawMessage
	// Errors is the list of the envelope's errors where there is no data at
	// all: the request was refused before execution, or a subscription failed
	// before its first event. Otherwise nil.
	Errors json.RawMessage
}

// Run is one request on its way: one reply for a query or a mutation, any
// number for a subscription. It is not safe for concurrent use.
type Run struct {
	ctx      context.Context //nolint:containedctx // of the whole run: it spans the calls of Next
	cancel   context.CancelFunc
	tenant   *Tenant
	oc       *graphql.OperationContext // nil once refused
	exchange *exchange
	handler  graphql.ResponseHandler // nil until the first Next
	refused  *Reply
	ended    bool
	replied  bool
}

// Begin parses, validates and coerces a request. It never fails: a refused
// request has one reply, with Errors. The caller must Close the run. The
// caller's security context is in ctx, and ctx ends the run.
func (t *Tenant) Begin(ctx context.Context, params Params) *Run {
	ctx, cancel := context.WithCancel(graphql.StartOperationTrace(ctx))
	r := &Run{cancel: cancel, tenant: t, exchange: &exchange{upstream: t.upstream, variables: params.Variables}}
	r.ctx = withExchange(ctx, r.exchange)
	oc, errs, err := t.create(r.ctx, params)
	switch {
	case err != nil:
		errs = gqlerror.List{gqlerror.Wrap(err)}
	case oc.Doc != nil && oc.Operation == nil:
		errs = gqlerror.List{gqlerror.Wrap(noOperation(oc.Doc, params.OperationName))}
	case len(errs) == 0:
		errs = t.schema.refuse(oc)
	}
	if len(errs) > 0 {
		r.refuse(oc, errs)
		return r
	}
	r.oc = oc
	return r
}

// Kind is query, mutation or subscription, and "" for a refused request.
// Nothing has been executed yet.
func (r *Run) Kind() ast.Operation {
	if r.oc == nil {
		return ""
	}
	return r.oc.Operation.Operation
}

// Next executes a query or a mutation, or waits for the next event. It
// answers false at the end of the run, and when its context has ended.
func (r *Run) Next() (Reply, bool) {
	if r.ended {
		return Reply{}, false
	}
	if r.refused != nil {
		r.ended = true
		return *r.refused, true
	}
	if r.handler == nil {
		r.handler, r.ctx = r.tenant.executor.DispatchOperation(r.ctx, r.oc)
	}
	r.ended = r.Kind() != ast.Subscription
	r.exchange.answer = nil
	response := r.handler(r.ctx)
	if response == nil {
		r.ended = true
		return Reply{}, false
	}
	return r.reply(response), true
}

// Close ends the run and frees what it holds. It may be called twice.
func (r *Run) Close() { r.cancel() }

func (r *Run) reply(response *graphql.Response) Reply {
	first := !r.replied
	r.replied = true
	if r.exchange.answer != nil {
		return Reply{Envelope: r.exchange.answer.asEnvelope(r.tenant.schema.collect(r.oc))}
	}
	if r.Kind() == ast.Subscription && response.Data == nil {
		r.ended = true // the subscription failed, and there is no event after an error
		if first {
			return refusal(response.Errors)
		}
	}
	return Reply{Envelope: envelopeOf(response)}
}

func (r *Run) refuse(oc *graphql.OperationContext, errs gqlerror.List) {
	ctx := r.ctx
	if oc != nil {
		ctx = graphql.WithOperationContext(ctx, oc)
	}
	reply := refusal(r.tenant.executor.DispatchError(ctx, errs).Errors)
	r.refused = &reply
}

// refusal is a reply without data.
func refusal(errs gqlerror.List) Reply {
	list := encode(errs)
	return Reply{Errors: list, Envelope: json.RawMessage(`{"errors":` + string(list) + `}`)}
}

// decodeVariables makes the map that gqlgen's executor wants; numbers keep
// their digits. Errors: a RefusalError with BAD_USER_INPUT.
func decodeVariables(variables json.RawMessage) (map[string]any, error) {
	if raw.IsNull(variables) {
		return nil, nil
	}
	if raw.Kind(variables) != '{' || !raw.Valid(variables) {
		return nil, badInput("variables must be an object")
	}
	decoder := json.NewDecoder(bytes.NewReader(variables))
	decoder.UseNumber()
	var decoded map[string]any
	if err := decoder.Decode(&decoded); err != nil {
		return nil, badInput("variables must be an object")
	}
	for name, value := range decoded {
		decoded[name] = plainNumbers(value)
	}
	return decoded, nil
}

// plainNumbers writes whole numbers such as 1.0 and 1e3 without fraction and
// exponent: GraphQL takes them for an Int, gqlparser does not.
func plainNumbers(value any) any {
	switch value := value.(type) {
	case json.Number:
		if f, err := value.Float64(); err == nil && strings.ContainsAny(value.String(), ".eE") && f == math.Trunc(f) && math.Abs(f) < 1<<53 {
			return json.Number(strconv.FormatInt(int64(f), 10))
		}
	case []any:
		for i, element := range value {
			value[i] = plainNumbers(element)
		}
	case map[string]any:
		for name, member := range value {
			value[name] = plainNumbers(member)
		}
	}
	return value
}
