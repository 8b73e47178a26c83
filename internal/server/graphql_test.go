package server

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"asyncgate/graph"
)

// reply is what a client sees of a response.
type reply struct {
	status int
	header http.Header
	body   string
}

// call sends a request as ada, unless header says otherwise: "Name: value",
// where an empty value leaves the header out.
func (f *fixture) call(t *testing.T, method, path, body string, header ...string) reply {
	t.Helper()
	base, _ := strings.CutSuffix(f.url, "/graphql")
	r, err := http.NewRequestWithContext(t.Context(), method, base+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer ada")
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/json")
	}
	for _, line := range header {
		name, value, _ := strings.Cut(line, ": ")
		r.Header.Set(name, value)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply{answer.StatusCode, answer.Header, string(text)}
}

func (f *fixture) post(t *testing.T, body string, header ...string) reply {
	t.Helper()
	return f.call(t, http.MethodPost, "/graphql", body, header...)
}

// mustRefuse checks the status, the code and that nothing secret is told.
func (r reply) mustRefuse(t *testing.T, status int, code string) {
	t.Helper()
	if r.status != status || !strings.Contains(r.body, `{"errors":[{"message":"`) || !strings.Contains(r.body, `"code":"`+code+`"`) {
		t.Errorf("answered %d %s, want %d %s", r.status, r.body, status, code)
	}
	if strings.Contains(r.body, "secret") {
		t.Errorf("the answer tells a secret: %s", r.body)
	}
}

func TestAnEnvelopeIsWrittenAsItIs(t *testing.T) {
	t.Parallel()
	f := start(t)
	for _, query := range []string{"query awkward", "mutation awkward"} {
		r := f.post(t, `{"query":"`+query+`"}`)
		if r.status != http.StatusOK || r.body != awkward {
			t.Errorf("%s: answered %d %q", query, r.status, r.body)
		}
		for name, want := range map[string]string{
			"Content-Type": "application/json; charset=utf-8", "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff",
		} {
			if got := r.header.Get(name); got != want {
				t.Errorf("%s: %q, want %q", name, got, want)
			}
		}
		if r.header.Get("X-Request-Id") == "" {
			t.Error("there is no request id")
		}
	}
}

func TestVariablesAndExtensionsKeepTheirBytes(t *testing.T) {
	t.Parallel()
	f := start(t)
	const object = `{"n":9007199254740993, "d":1.10,"Query":"\u0000<","n":2}`
	want := `{"data":{"operationName":"A","variables":` + object + `,"extensions":` + object + `}}`
	byPost := f.post(t, `{"Query":1,"query":"query params","operationName":"A","variables": `+object+` ,"extensions":`+object+`,"more":[]}`)
	if byPost.body != want {
		t.Errorf("POST: %s", byPost.body)
	}
	values := url.Values{"query": {"query params"}, "operationName": {"A"}, "variables": {object}, "extensions": {object}}
	if byGet := f.call(t, http.MethodGet, "/graphql?"+values.Encode(), ""); byGet.body != want {
		t.Errorf("GET: %s", byGet.body)
	}
}

func TestNullAndAbsentMembersAreNone(t *testing.T) {
	t.Parallel()
	f := start(t)
	const want = `{"data":{"operationName":"","variables":null,"extensions":null}}`
	for _, body := range []string{
		`{"query":"query params"}`,
		`{"query":"query params","operationName":null,"variables":null,"extensions":null}`,
	} {
		if r := f.post(t, body); r.body != want {
			t.Errorf("%s: %s", body, r.body)
		}
	}
	if r := f.call(t, http.MethodGet, "/graphql?query=query+params&operationName=&variables=&extensions=null", ""); r.body != want {
		t.Errorf("GET: %s", r.body)
	}
}

func TestTheCallerReachesTheRun(t *testing.T) {
	t.Parallel()
	f := start(t)
	if r := f.post(t, `{"query":"query who"}`); r.body != `{"data":"ada"}` {
		t.Errorf("answered %s", r.body)
	}
}

func TestWhatIsNoRequestIsRefused(t *testing.T) {
	t.Parallel()
	f := start(t)
	for _, body := range []string{
		``, `null`, `"secret"`, `secret`, `{"query":"query awkward"`, `{"query":"query awkward"} secret`,
		`[{"query":"query awkward"}]`, `{}`, `{"query":""}`, `{"query":null}`, `{"query":["secret"]}`, `{"QUERY":"query awkward"}`,
		`{"query":"query awkward","operationName":1}`, `{"query":"query awkward","variables":[1]}`,
		`{"query":"query awkward","variables":"secret"}`, `{"query":"query awkward","extensions":true}`,
		"{\"query\":\"query \xff\"}",
	} {
		for _, accept := range []string{mediaJSON, mediaGraphQL, mediaEvents} {
			f.post(t, body, "Accept: "+accept).mustRefuse(t, http.StatusBadRequest, graph.CodeBadUserInput)
		}
	}
	for _, query := range []string{"", "query=", "query=%ff", "query=%zz", "query=query+awkward&variables=[1]", "query=query+awkward&variables={", "query=query+awkward&extensions=secret"} {
		f.call(t, http.MethodGet, "/graphql?"+query, "").mustRefuse(t, http.StatusBadRequest, graph.CodeBadUserInput)
	}
}

func TestOnlyPlainJSONIsTaken(t *testing.T) {
	t.Parallel()
	f := start(t)
	const body = `{"query":"query who"}`
	for _, contentType := range []string{"application/json; charset=utf-8", `Application/JSON;charset="UTF-8"`} {
		if r := f.post(t, body, "Content-Type: "+contentType); r.status != http.StatusOK {
			t.Errorf("%s: %d", contentType, r.status)
		}
	}
	for _, contentType := range []string{"", "text/plain", "application/graphql", "application/json; charset=latin1", "application/x-www-form-urlencoded"} {
		f.post(t, body, "Content-Type: "+contentType).mustRefuse(t, http.StatusUnsupportedMediaType, graph.CodeBadUserInput)
	}
	multipart := f.post(t, body, "Content-Type: multipart/form-data; boundary=x")
	multipart.mustRefuse(t, http.StatusUnsupportedMediaType, graph.CodeBadUserInput)
	if !strings.Contains(multipart.body, "Multipart") {
		t.Errorf("the refusal does not say why: %s", multipart.body)
	}
	f.post(t, body, "Content-Encoding: gzip").mustRefuse(t, http.StatusUnsupportedMediaType, graph.CodeBadUserInput)
}

func TestALargeBodyIsRefused(t *testing.T) {
	t.Parallel()
	f := start(t)
	f.post(t, `{"query":"`+strings.Repeat("x", 8<<10)+`"}`).mustRefuse(t, http.StatusRequestEntityTooLarge, graph.CodePayloadTooLarge)
}

func TestNoBodyIsReadForAStranger(t *testing.T) {
	t.Parallel()
	f := start(t)
	address := strings.TrimSuffix(strings.TrimPrefix(f.url, "http://"), "/graphql")
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(patience))
	fmt.Fprintf(conn, "POST /graphql HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n")
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil || !strings.Contains(line, "401") {
		t.Errorf("answered %q, %v before the body came", line, err)
	}
}

func TestABodyThatDoesNotComeIsRefused(t *testing.T) {
	t.Parallel()
	f := start(t, func(s *Server) { s.timing.body = 50 * time.Millisecond })
	body, hold := io.Pipe()
	defer hold.Close()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, f.url, body)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer ada")
	r.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusBadRequest {
		t.Errorf("answered %d", answer.StatusCode)
	}
}

func TestARequestMayTakeLongerThanItsBody(t *testing.T) {
	t.Parallel()
	f := start(t, func(s *Server) { s.timing.body = 300 * time.Millisecond })
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, f.url, strings.NewReader(`{"query":"query waits"}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer ada")
	r.Header.Set("Content-Type", "application/json")
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		if answer, err := http.DefaultClient.Do(r); err == nil {
			answer.Body.Close()
		}
	}()
	awaits(t, f.tenant.begun, 1)
	select {
	case <-answered:
		t.Error("the request ended at the body's deadline")
	case <-time.After(500 * time.Millisecond):
	}
	cancel()
	awaits(t, f.tenant.ended, 1) // the client's going away ends the run
	<-answered
}

func TestStatusOfARefusedRequestDependsOnTheMediaType(t *testing.T) {
	t.Parallel()
	f := start(t)
	for accept, status := range map[string]int{mediaJSON: 200, "*/*": 200, mediaGraphQL: 400} {
		r := f.post(t, `{"query":"x refused"}`, "Accept: "+accept)
		if r.status != status || r.body != string(refused.Envelope) {
			t.Errorf("%s: answered %d %s", accept, r.status, r.body)
		}
	}
	if r := f.post(t, `{"query":"query who"}`, "Accept: "+mediaGraphQL); r.status != 200 || r.header.Get("Content-Type") != mediaGraphQL+"; charset=utf-8" {
		t.Errorf("answered %d %s", r.status, r.header)
	}
}

func TestMethodsThatAreServed(t *testing.T) {
	t.Parallel()
	f := start(t)
	if r := f.call(t, http.MethodGet, "/graphql?query=query+who", ""); r.status != 200 {
		t.Errorf("GET: %d", r.status)
	}
	mutation := f.call(t, http.MethodGet, "/graphql?query=mutation+who", "")
	mutation.mustRefuse(t, http.StatusMethodNotAllowed, graph.CodeBadUserInput)
	if allow := mutation.header.Get("Allow"); allow != "POST" {
		t.Errorf("a mutation by GET: Allow %q", allow)
	}
	for _, method := range []string{http.MethodPut, http.MethodDelete, http.MethodPatch} {
		r := f.call(t, method, "/graphql", "")
		r.mustRefuse(t, http.StatusMethodNotAllowed, graph.CodeBadUserInput)
		if r.header.Get("Allow") != graphqlMethods {
			t.Errorf("%s: Allow %q", method, r.header.Get("Allow"))
		}
	}
	if r := f.call(t, http.MethodOptions, "/graphql", "", "Authorization: "); r.status != 204 || r.header.Get("Allow") != graphqlMethods {
		t.Errorf("OPTIONS: %d %s", r.status, r.header)
	}
}

func TestASubscriptionNeedsAStream(t *testing.T) {
	t.Parallel()
	f := start(t)
	r := f.post(t, `{"query":"subscription three"}`, "Accept: "+mediaGraphQL)
	r.mustRefuse(t, http.StatusBadRequest, graph.CodeBadUserInput)
	if !strings.Contains(r.body, mediaEvents) || !strings.Contains(r.body, subprotocol) {
		t.Errorf("the refusal does not say what to use: %s", r.body)
	}
	f.call(t, http.MethodGet, "/graphql?query=subscription+three", "", "Accept: "+mediaEvents).mustRefuse(t, 400, graph.CodeBadUserInput)
	f.call(t, http.MethodGet, "/graphql?query=query+who", "", "Accept: "+mediaEvents).mustRefuse(t, 400, graph.CodeBadUserInput)
}

func TestCallersWhoAreNotLetIn(t *testing.T) {
	t.Parallel()
	f := start(t)
	cases := []struct {
		authorization, code, header, value string
		status                             int
	}{
		{"", graph.CodeUnauthenticated, "WWW-Authenticate", "Bearer", 401},
		{"Basic YTpi", graph.CodeUnauthenticated, "WWW-Authenticate", "Bearer", 401},
		{"Bearer secret", graph.CodeUnauthenticated, "WWW-Authenticate", `Bearer error="invalid_token"`, 401},
		{"Bearer homeless", codeTenantUnknown, "WWW-Authenticate", "", 403},
		{"Bearer patient", codeUnavailable, "Retry-After", retryAfterSeconds, 503},
		{"Bearer unlucky", graph.CodeInternal, "Retry-After", "", 500},
	}
	for _, c := range cases {
		r := f.post(t, `{"query":"query who"}`, "Authorization: "+c.authorization)
		r.mustRefuse(t, c.status, c.code)
		if got := r.header.Get(c.header); got != c.value {
			t.Errorf("%s: %s is %q, want %q", c.authorization, c.header, got, c.value)
		}
	}
}

func TestAPanicTellsARequestIDAlone(t *testing.T) {
	t.Parallel()
	f := start(t)
	for _, query := range []string{"query panics", "query panics at once"} {
		r := f.post(t, `{"query":"`+query+`"}`)
		r.mustRefuse(t, http.StatusInternalServerError, graph.CodeInternal)
		id := r.header.Get("X-Request-Id")
		if !strings.Contains(r.body, id) || !strings.Contains(f.log.String(), "request_id="+id) || !strings.Contains(f.log.String(), "secret-cause") {
			t.Errorf("the answer %s and the log do not meet in %s", r.body, id)
		}
	}
}

func TestLogsCarryNoDocumentVariableOrToken(t *testing.T) {
	t.Parallel()
	f := start(t)
	f.call(t, http.MethodGet, "/graphql?query=query+who&variables={%22v%22:%22canary%22}", "")
	f.post(t, `{"query":"query canary"`)
	f.post(t, `{"query":"query who"}`, "Authorization: Bearer canary")
	f.stopped(t)
	if log := f.log.String(); strings.Contains(log, "canary") || strings.Count(log, "msg=request ") != 3 {
		t.Errorf("log: %s", log)
	}
}

func TestHealthzAnswersAnyone(t *testing.T) {
	t.Parallel()
	f := start(t)
	if r := f.call(t, http.MethodGet, "/healthz", "", "Authorization: "); r.status != 200 || r.body != "ok\n" {
		t.Errorf("answered %d %q", r.status, r.body)
	}
	f.call(t, http.MethodPost, "/healthz", "").mustRefuse(t, http.StatusMethodNotAllowed, graph.CodeBadUserInput)
	f.call(t, http.MethodGet, "/nothing", "").mustRefuse(t, http.StatusNotFound, codeNotFound)
}

// What a handler left unread was waited for without end, and the connection
// with it, on any path and without a token.
func TestABodyThatNeverComesKeepsNoConnection(t *testing.T) {
	t.Parallel()
	f := start(t, func(s *Server) { s.timing.body = 50 * time.Millisecond })
	address := strings.TrimSuffix(strings.TrimPrefix(f.url, "http://"), "/graphql")
	for _, request := range []string{"GET /healthz", "POST /elsewhere", "DELETE /graphql", "GET /graphql"} {
		var dialer net.Dialer
		conn, err := dialer.DialContext(t.Context(), "tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.SetDeadline(time.Now().Add(patience))
		_, _ = io.WriteString(conn, request+" HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n")
		if _, err := io.Copy(io.Discard, conn); errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%s: the connection is still open", request)
		}
		_ = conn.Close()
	}
}
