package executor_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"asyncgate/internal/asyncop"
	"asyncgate/internal/executor"
)

// directory serves one tenant.
type directory struct{ tenant *executor.Tenant }

func (d directory) Tenant(context.Context, string) (*executor.Tenant, error) { return d.tenant, nil }

// attempt makes one attempt of a payment.
func attempt(ctx context.Context, tenant *executor.Tenant) executor.Attempted {
	worker := executor.Worker{Tenants: directory{tenant}, Log: quiet}
	return worker.Attempt(ctx, context.Background(), asyncop.Claim{Authority: ada.Encode(), Operation: asyncop.Operation{
		ID: uuid.Must(uuid.NewV7()), Document: `mutation { pay(amount: 1) { thing { id } } }`,
		Attempts: 1, CreatedAt: time.Now(),
	}})
}

// raw is an upstream of which a test writes every byte: it gets each
// connection once a whole request was read from it, and how many came before.
func rawUpstream(t *testing.T, serve func(conn net.Conn, request int)) (url string, requests *atomic.Int32) {
	t.Helper()
	var listen net.ListenConfig
	ln, err := listen.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	requests = &atomic.Int32{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			serveRequests(conn, requests, serve)
		}
	}()
	t.Cleanup(func() {
		_ = ln.Close()
		<-done
	})
	return "http://" + ln.Addr().String(), requests
}

func serveRequests(conn net.Conn, requests *atomic.Int32, serve func(conn net.Conn, request int)) {
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	reader := bufio.NewReader(conn)
	for {
		request, err := http.ReadRequest(reader)
		if err != nil {
			return
		}
		_, _ = io.Copy(io.Discard, request.Body)
		serve(conn, int(requests.Add(1)))
	}
}

const fine = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 23\r\n\r\n" + `{"data":{"pay":null}}  `

// The body of a 101 is the connection itself: reading it went on after the
// attempt's timeout, for as long as the upstream kept the connection open.
func TestAnUpstreamThatSwitchesProtocolsIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	given := make(chan struct{})
	url, _ := rawUpstream(t, func(conn net.Conn, _ int) {
		_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n")
		select {
		case <-given:
		case <-time.After(5 * time.Second):
			t.Error("still waiting for the connection to end")
		}
		_ = conn.Close()
	})
	got := attempt(t.Context(), newShop(t, executor.RemoteOptions{URL: url}))
	close(given)
	if got.Failure == nil || got.Failure.Code != asyncop.CodeOutcomeUnknown || got.Failure.Execution != asyncop.UnknownExecution {
		t.Errorf("got %+v", got)
	}
}

// Sealing the connection of an answer that could not be decompressed broke the
// next request on it: by then it was idle, and in use again.
func TestAnAnswerThatCannotBeReadSpoilsNoOther(t *testing.T) {
	t.Parallel()
	url, _ := rawUpstream(t, func(conn net.Conn, request int) {
		answer := fine
		if request == 1 {
			answer = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 11\r\n\r\n" + `{"data":{}}`
		}
		_, _ = io.WriteString(conn, answer)
	})
	tenant := newShop(t, executor.RemoteOptions{URL: url})
	if got := attempt(t.Context(), tenant); got.Failure == nil || got.Failure.Code != asyncop.CodeOutcomeUnknown {
		t.Errorf("got %+v", got)
	}
	if got := attempt(t.Context(), tenant); got.Failure != nil {
		t.Errorf("got %+v", got.Failure)
	}
}

func TestWhatTheTransportSawDecidesTheOutcome(t *testing.T) {
	t.Parallel()
	type outcome struct {
		code      asyncop.Code
		execution asyncop.Execution
	}
	answers := map[string]struct {
		answer string
		want   outcome
	}{
		"ErrorsWithData":           {status(200, `{"errors":[{"message":"x"}],"data":null}`), outcome{asyncop.CodeExecutionFailed, asyncop.Executed}},
		"ErrorsWithoutData":        {status(400, `{"errors":[{"message":"x"}]}`), outcome{asyncop.CodeExecutionFailed, asyncop.UnknownExecution}},
		"DataWithA500":             {status(500, `{"data":{"pay":null}}`), outcome{}},
		"DataWithEmptyErrors":      {status(200, `{"errors":[],"data":{"pay":null}}`), outcome{}},
		"RateLimited":              {status(429, `{"data":{"pay":null}}`), outcome{asyncop.CodeUpstreamUnavailable, asyncop.NotExecuted}},
		"A400WithData":             {status(400, `{"data":{"pay":null}}`), outcome{}},
		"A500OfText":               {status(500, `oops`), outcome{asyncop.CodeOutcomeUnknown, asyncop.UnknownExecution}},
		"A503OfJSON":               {status(503, `{"message":"no"}`), outcome{asyncop.CodeOutcomeUnknown, asyncop.UnknownExecution}},
		"AGzipBomb":                {zipped(`{"data":{"pay":"` + strings.Repeat("0", 32<<20) + `"}}`), outcome{asyncop.CodeResultTooLarge, asyncop.Executed}},
		"AGzippedAnswer":           {zipped(`{"data":{"pay":null}}`), outcome{}},
		"ARedirect":                {"HTTP/1.1 307 X\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n", outcome{asyncop.CodeUpstreamRejected, asyncop.NotExecuted}},
		"A404OfHTML":               {status(404, `<html>`), outcome{asyncop.CodeUpstreamRejected, asyncop.NotExecuted}},
		"A502OfHTML":               {status(502, `<html>`), outcome{asyncop.CodeOutcomeUnknown, asyncop.UnknownExecution}},
		"A200OfHTML":               {status(200, `<html>`), outcome{asyncop.CodeOutcomeUnknown, asyncop.UnknownExecution}},
		"JSONThatIsNoGraphQL":      {status(200, `{"ok":true}`), outcome{asyncop.CodeOutcomeUnknown, asyncop.UnknownExecution}},
		"EmptyErrorsAlone":         {status(200, `{"errors":[]}`), outcome{asyncop.CodeOutcomeUnknown, asyncop.UnknownExecution}},
		"TornJSON":                 {status(200, `{"data":{"pay":`), outcome{asyncop.CodeOutcomeUnknown, asyncop.UnknownExecution}},
		"ATornBody":                {"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"data\":", outcome{asyncop.CodeOutcomeUnknown, asyncop.UnknownExecution}},
		"NoAnswer":                 {"", outcome{asyncop.CodeOutcomeUnknown, asyncop.UnknownExecution}},
		"NotHTTP":                  {"220 smtp ready\r\n", outcome{asyncop.CodeOutcomeUnknown, asyncop.UnknownExecution}},
		"AnAnswerBeyondTheLimit":   {status(200, `{"data":{"pay":"`+strings.Repeat("x", 2000)+`"}}`), outcome{asyncop.CodeResultTooLarge, asyncop.Executed}},
		"HTMLBeyondTheLimit":       {status(500, strings.Repeat("<p>", 2000)), outcome{asyncop.CodeOutcomeUnknown, asyncop.UnknownExecution}},
		"InvalidUTF8InTheEnvelope": {status(200, "{\"data\":{\"pay\":\"\xff\"}}"), outcome{asyncop.CodeOutcomeUnknown, asyncop.UnknownExecution}},
	}
	for name, c := range answers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url, requests := rawUpstream(t, func(conn net.Conn, _ int) {
				_, _ = io.WriteString(conn, c.answer)
				_ = conn.Close()
			})
			got := attempt(t.Context(), newShop(t, executor.RemoteOptions{URL: url, MaxAnswer: 1000}))
			if got.Failure == nil {
				got.Failure = &asyncop.Failure{}
			}
			if got.Failure.Code != c.want.code || got.Failure.Execution != c.want.execution {
				t.Errorf("got %s, %s (%s)", got.Failure.Code, got.Failure.Execution, got.Failure.Message)
			}
			if strings.Contains(got.Failure.Message, "127.0.0.1") {
				t.Errorf("the message tells the address: %s", got.Failure.Message)
			}
			if n := requests.Load(); n != 1 {
				t.Errorf("the upstream was called %d times", n)
			}
		})
	}
}

// zipped is a response whose body is compressed.
func zipped(body string) string {
	var text bytes.Buffer
	w := gzip.NewWriter(&text)
	_, _ = io.WriteString(w, body)
	_ = w.Close()
	return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%s", text.Len(), text.String())
}

func status(code int, body string) string {
	return fmt.Sprintf("HTTP/1.1 %d X\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", code, len(body), body)
}

func TestAnUpstreamThatCannotBeReachedIsUnavailable(t *testing.T) {
	t.Parallel()
	refused, _ := rawUpstream(t, func(net.Conn, int) {})
	plain, _ := rawUpstream(t, func(net.Conn, int) {})
	closedPort := httptest.NewServer(http.NotFoundHandler())
	closedPort.Close()
	for name, url := range map[string]string{
		"Refused": closedPort.URL,
		"DNS":     "http://upstream.invalid/graphql",
		"TLS":     strings.Replace(plain, "http", "https", 1),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := attempt(t.Context(), newShop(t, executor.RemoteOptions{URL: url}))
			// A TLS handshake writes bytes, but none of the request.
			if got.Failure == nil || got.Failure.Code != asyncop.CodeUpstreamUnavailable || got.Failure.Execution != asyncop.NotExecuted {
				t.Errorf("got %+v", got.Failure)
			}
		})
	}
	_ = refused
}

// net/http resends a POST that carries an Idempotency-Key when a reused
// connection dies before the answer. A mutation would be doubled.
func TestARequestOnAReusedConnectionIsNeverReplayed(t *testing.T) {
	t.Parallel()
	url, requests := rawUpstream(t, func(conn net.Conn, request int) {
		if request == 1 {
			_, _ = io.WriteString(conn, fine)
			return
		}
		_ = conn.Close() // read in full, and no answer
	})
	tenant := newShop(t, executor.RemoteOptions{URL: url})
	if first := attempt(t.Context(), tenant); first.Failure != nil {
		t.Fatalf("got %+v", first.Failure)
	}
	second := attempt(t.Context(), tenant)
	if second.Failure == nil || second.Failure.Code != asyncop.CodeOutcomeUnknown {
		t.Errorf("got %+v", second.Failure)
	}
	if n := requests.Load(); n != 2 {
		t.Errorf("two attempts made %d requests", n)
	}
}

// A request that was cut off before it was read may have been read as well, for
// all that the gateway can see: bytes of it had left.
func TestAConnectionClosedUnreadIsUnknown(t *testing.T) {
	t.Parallel()
	var listen net.ListenConfig
	ln, err := listen.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		conn, err := ln.Accept()
		if err != nil {
			return
		}
		_, _ = conn.Read(make([]byte, 1)) // the first byte is there, the rest is not looked at
		_ = conn.Close()
	}()
	t.Cleanup(func() {
		_ = ln.Close()
		<-done
	})
	got := attempt(t.Context(), newShop(t, executor.RemoteOptions{URL: "http://" + ln.Addr().String()}))
	if got.Failure == nil || got.Failure.Code != asyncop.CodeOutcomeUnknown || got.Failure.Execution != asyncop.UnknownExecution {
		t.Errorf("got %+v", got.Failure)
	}
}

func TestRetryAfterIsHeard(t *testing.T) {
	t.Parallel()
	url, _ := rawUpstream(t, func(conn net.Conn, _ int) {
		_, _ = io.WriteString(conn, "HTTP/1.1 429 X\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n")
		_ = conn.Close()
	})
	if got := attempt(t.Context(), newShop(t, executor.RemoteOptions{URL: url})); got.RetryAfter != 7*time.Second {
		t.Errorf("got %s", got.RetryAfter)
	}
}

func TestAnUpstreamThatNeverAnswersTimesOut(t *testing.T) {
	t.Parallel()
	hang := make(chan struct{})
	url, _ := rawUpstream(t, func(net.Conn, int) { <-hang })
	t.Cleanup(func() { close(hang) })
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	got := attempt(ctx, newShop(t, executor.RemoteOptions{URL: url}))
	if got.Failure == nil || got.Failure.Code != asyncop.CodeTimeout || got.Failure.Execution != asyncop.UnknownExecution {
		t.Errorf("got %+v", got.Failure)
	}
}

func TestAnAttemptCutOffBeforeItBeganIsGivenBack(t *testing.T) {
	t.Parallel()
	url, requests := rawUpstream(t, func(conn net.Conn, _ int) { _, _ = io.WriteString(conn, fine) })
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	got := attempt(ctx, newShop(t, executor.RemoteOptions{URL: url}))
	if got.Failure == nil || got.Failure.Code != asyncop.CodeUpstreamUnavailable || got.Failure.Execution != asyncop.NotExecuted {
		t.Errorf("got %+v", got.Failure)
	}
	if requests.Load() != 0 {
		t.Error("the upstream was called")
	}
}

func TestEveryAttemptNamesItsOperation(t *testing.T) {
	t.Parallel()
	url, heard := scripted(t, `{"data":{"pay":null}}`)
	tenant := newShop(t, executor.RemoteOptions{URL: url})
	id := uuid.Must(uuid.NewV7())
	executor.Worker{Tenants: directory{tenant}, Log: quiet}.Attempt(t.Context(), t.Context(), asyncop.Claim{Authority: ada.Encode(), Operation: asyncop.Operation{
		ID: id, Document: `mutation { pay(amount: 1) { thing { id } } }`, Attempts: 3, CreatedAt: time.Now(),
	}})
	header := hear(t, heard).Header
	if header.Get("Idempotency-Key") != `"`+id.String()+`"` || header.Get("X-Async-Operation-Id") != id.String() || header.Get("X-Async-Attempt") != "3" {
		t.Errorf("got %v", header)
	}
}

func TestASynchronousFailureSaysItsExecution(t *testing.T) {
	t.Parallel()
	url, _ := rawUpstream(t, func(conn net.Conn, _ int) { _ = conn.Close() })
	reply := ask(t.Context(), newShop(t, executor.RemoteOptions{URL: url}), executor.Params{Query: `mutation { one: wipe refund(amount: 1) { id } }`})
	for _, part := range []string{`"code":"OUTCOME_UNKNOWN"`, `"execution":"UNKNOWN"`, `"path":["one"]`, `"path":["refund"]`, `"data":{"one":null,"refund":null}`} {
		if !strings.Contains(string(reply.Envelope), part) {
			t.Errorf("%s is missing in %s", part, reply.Envelope)
		}
	}
}
