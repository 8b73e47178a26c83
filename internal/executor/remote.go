package executor

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"asyncgate/internal/asyncop"
	"asyncgate/internal/auth"
	"asyncgate/internal/executor/raw"
)

// RemoteOptions configure a remote upstream.
type RemoteOptions struct {
	URL string
	// Timeout bounds a synchronous request; attempts have their mutation's.
	Timeout time.Duration
	// IdleTimeout closes connections before the upstream does: a request that
	// meets a closing connection has an unknown outcome.
	IdleTimeout time.Duration
	Headers     map[string]string // sent with every request
	// Identity tells the upstream who calls.
	Identity *auth.Headers
	// MaxAnswer cuts an answer off, in bytes after decompression; 0 never does.
	MaxAnswer int64
	// Tenant and Breaker are for the breaker of this upstream.
	Tenant  string
	Breaker BreakerOptions
}

// Remote is a GraphQL server over HTTP, as a graphql.ExecutableSchema. Each
// execution is one POST, never replayed and never redirected.
type Remote struct {
	options   RemoteOptions
	url       *url.URL
	transport *http.Transport
	breaker   *breaker
	schema    *ast.Schema
}

// NewRemote makes a remote upstream. It does not connect: its schema is set
// once it is known.
func NewRemote(options RemoteOptions) (*Remote, error) {
	address, err := url.Parse(options.URL)
	if err != nil {
		return nil, fmt.Errorf("parse upstream url: %w", err)
	}
	return &Remote{options: options, url: address, breaker: newBreaker(options.Tenant, options.Breaker), transport: &http.Transport{
		Proxy:               nil, // not from the environment
		DialContext:         countedDial(&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}),
		TLSHandshakeTimeout: 10 * time.Second,
		IdleConnTimeout:     options.IdleTimeout,
		MaxIdleConnsPerHost: 256,
	}}, nil
}

// Schema is the upstream's.
func (r *Remote) Schema() *ast.Schema { return r.schema }

// Complexity leaves fields at the default cost.
func (r *Remote) Complexity(context.Context, string, string, int, map[string]any) (int, bool) {
	return 0, false
}

// Exec forwards the operation of ctx. Its answer is in the exchange; the
// response is for whoever drives the schema without one.
func (r *Remote) Exec(ctx context.Context) graphql.ResponseHandler {
	return once(func(ctx context.Context) *graphql.Response {
		x := exchangeFrom(ctx)
		x.answer = r.forward(ctx, graphql.GetOperationContext(ctx), x)
		return x.answer.passed()
	})
}

// Close closes idle connections.
func (r *Remote) Close() { r.transport.CloseIdleConnections() }

func (r *Remote) forward(ctx context.Context, oc *graphql.OperationContext, x *exchange) *answer {
	header, err := r.header(ctx, x.attempt)
	if err != nil {
		return failed(asyncop.CodeForbidden, asyncop.NotExecuted, err.Error())
	}
	timeout := r.options.Timeout
	if x.attempt != nil {
		timeout = x.attempt.timeout
	}
	passage, ok := r.breaker.begin()
	if !ok {
		return failed(asyncop.CodeUpstreamUnavailable, asyncop.NotExecuted,
			"The upstream has failed again and again, and is not asked for a while.")
	}
	timed, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	done := r.post(timed, requestBody(oc, x.variables), header)
	passage.end(ctx, done.failure)
	return done
}

// header is what every forward says: who calls, and of which operation this
// is an attempt.
func (r *Remote) header(ctx context.Context, a *attempt) (http.Header, error) {
	header := http.Header{}
	for name, value := range r.options.Headers {
		header.Set(name, value)
	}
	identity, err := r.identity(ctx)
	if err != nil {
		return nil, err
	}
	maps.Copy(header, identity)
	header.Set("Content-Type", "application/json")
	header.Set("Accept", "application/graphql-response+json, application/json;q=0.9")
	header.Set("User-Agent", "asyncgate")
	if a != nil {
		header.Set("Idempotency-Key", `"`+a.id.String()+`"`)
		header.Set("X-Async-Operation-Id", a.id.String())
		header.Set("X-Async-Attempt", strconv.Itoa(a.number))
	}
	return header, nil
}

// identity tells who calls, or nothing where nobody does on purpose. Errors:
// auth.ErrUnauthenticated where nobody knows who calls, auth.ErrForbidden.
func (r *Remote) identity(ctx context.Context) (http.Header, error) {
	if auth.IsAnonymous(ctx) {
		return nil, nil
	}
	caller, err := auth.FromContext(ctx)
	if err != nil || r.options.Identity == nil {
		return nil, err
	}
	return r.options.Identity.For(caller)
}

// requestBody is the upstream request. An empty operationName and absent
// variables are left out: some servers refuse them.
func requestBody(oc *graphql.OperationContext, variables json.RawMessage) []byte {
	var body bytes.Buffer
	body.WriteString(`{"query":`)
	body.Write(raw.Quote(oc.RawQuery))
	if oc.OperationName != "" {
		body.WriteString(`,"operationName":`)
		body.Write(raw.Quote(oc.OperationName))
	}
	if !raw.IsNull(variables) {
		body.WriteString(`,"variables":`)
		body.Write(variables)
	}
	body.WriteByte('}')
	return body.Bytes()
}

// onceBody is a body that net/http cannot rewind: with a bytes.Reader it would
// set GetBody, and resend a POST that carries an Idempotency-Key.
type onceBody struct{ io.Reader }

func (onceBody) Close() error { return nil }

// post makes the one request and says what came of it, by what the transport
// saw and nothing else.
func (r *Remote) post(ctx context.Context, body []byte, header http.Header) *answer {
	var seen sight
	request := (&http.Request{
		Method: http.MethodPost, URL: r.url, Host: r.url.Host, Header: header,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Body: onceBody{bytes.NewReader(body)}, ContentLength: int64(len(body)),
	}).WithContext(seen.watch(ctx))
	response, err := r.transport.RoundTrip(request) // no client: no redirects, no cookies
	if err != nil {
		return unanswered(ctx, &seen)
	}
	defer func() { _ = response.Body.Close() }()
	if refusal := refusedByStatus(response); refusal != nil {
		return refusal
	}
	text, whole, err := readBody(response, r.options.MaxAnswer)
	switch {
	case err != nil:
		return cutOff(ctx)
	case !whole && raw.Kind(text) == '{':
		return failed(asyncop.CodeResultTooLarge, asyncop.Executed,
			fmt.Sprintf("The upstream's answer is larger than the %d bytes that are kept.", r.options.MaxAnswer))
	}
	return judge(response.StatusCode, text)
}

// unanswered is a request without an answer.
func unanswered(ctx context.Context, seen *sight) *answer {
	if seen.nothingSent() {
		return failed(asyncop.CodeUpstreamUnavailable, asyncop.NotExecuted, "The upstream could not be reached.")
	}
	return cutOff(ctx)
}

// cutOff is a request that was sent and has no whole answer.
func cutOff(ctx context.Context) *answer {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return failed(asyncop.CodeTimeout, asyncop.UnknownExecution,
			"The upstream did not answer in time. Whether it did the work is not known.")
	}
	return failed(asyncop.CodeOutcomeUnknown, asyncop.UnknownExecution,
		"The connection to the upstream was lost. Whether it did the work is not known.")
}

// refusedByStatus is for the statuses that decide whatever the body holds.
func refusedByStatus(response *http.Response) *answer {
	switch status := response.StatusCode; {
	case status == http.StatusTooManyRequests:
		refusal := failed(asyncop.CodeUpstreamUnavailable, asyncop.NotExecuted, "The upstream is rate limiting.")
		refusal.retryAfter = retryAfter(response.Header.Get("Retry-After"), time.Now())
		return refusal
	case status == http.StatusSwitchingProtocols: // its body is the connection, which no context ends
		return failed(asyncop.CodeOutcomeUnknown, asyncop.UnknownExecution,
			"The upstream switched protocols instead of answering. Whether it did the work is not known.")
	case status >= 300 && status < 400:
		return failed(asyncop.CodeUpstreamRejected, asyncop.NotExecuted, "The upstream answered with a redirect, which is not followed.")
	default:
		return nil
	}
}

// judge decides what an answer means: design's table of outcomes.
func judge(status int, text []byte) *answer {
	members, err := raw.Object(text)
	data, hasData := raw.Get(members, "data")
	hasErrors := false
	if list, ok := raw.Get(members, "errors"); ok {
		errorList, listErr := raw.Array(list)
		hasErrors = listErr == nil && len(errorList) > 0
	}
	switch {
	case err == nil && hasErrors && hasData:
		return withErrors(text, data, asyncop.Executed)
	case err == nil && hasErrors:
		return withErrors(text, nil, asyncop.UnknownExecution)
	case err == nil && hasData:
		return &answer{envelope: text, data: data}
	case status >= 400 && status < 500:
		return failed(asyncop.CodeUpstreamRejected, asyncop.NotExecuted,
			fmt.Sprintf("The upstream refused the request with HTTP status %d.", status))
	default:
		return failed(asyncop.CodeOutcomeUnknown, asyncop.UnknownExecution,
			fmt.Sprintf("The upstream answered HTTP status %d without a GraphQL response. Whether it did the work is not known.", status))
	}
}

func withErrors(envelope, data []byte, execution asyncop.Execution) *answer {
	return &answer{envelope: envelope, data: data, failure: &asyncop.Failure{
		Code: asyncop.CodeExecutionFailed, Execution: execution,
		Message: "The upstream answered with errors; the result holds them.",
	}}
}

func failed(code asyncop.Code, execution asyncop.Execution, message string) *answer {
	return &answer{failure: &asyncop.Failure{Code: code, Execution: execution, Message: message}}
}

// retryAfter reads the header's two forms (RFC 9110, section 10.2.3). What
// makes no sense is no wish.
func retryAfter(value string, now time.Time) time.Duration {
	if seconds, err := strconv.Atoi(value); err == nil {
		return time.Duration(min(max(seconds, 0), 24*60*60)) * time.Second
	}
	if at, err := http.ParseTime(value); err == nil {
		return min(max(at.Sub(now), 0), 24*time.Hour)
	}
	return 0
}
