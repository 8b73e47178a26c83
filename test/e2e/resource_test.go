package e2e

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
)

// response is an answer with its headers.
type response struct {
	answer
	header http.Header
}

// everything selects what an operation as a resource has, in its order.
const everything = `id state done mutations operationName document variables label attempts maxAttempts priority submitter
	submitterIssuer tenant cancellationRequested result error { code message retryable execution }
	attemptLog { startedAt finishedAt node code execution } purged retryOf idempotencyKey pollAfterMs createdAt notBefore
	startBefore startedAt finishedAt`

// call sends a request to a path of the node. headers are names and values, in
// turns.
func (c caller) call(t *testing.T, method, path, body string, headers ...string) response {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*patience)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(c.endpoint, "/graphql")+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if c.token != "" {
		request.Header.Set("Authorization", "Bearer "+c.token)
	}
	if method == http.MethodPost {
		request.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	got, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Body.Close()
	text, err := io.ReadAll(got.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response{answer{got.StatusCode, text}, got.Header}
}

// is fails the test where a response has another status or headers, which are
// names and values, in turns: "" for one that must not be there.
func (r response) is(t *testing.T, status int, headers ...string) response {
	t.Helper()
	if r.status != status {
		t.Errorf("got %d %s, want %d", r.status, r.body, status)
	}
	for i := 0; i < len(headers); i += 2 {
		if got := r.header.Get(headers[i]); got != headers[i+1] {
			t.Errorf("%s is %q, want %q", headers[i], got, headers[i+1])
		}
	}
	return r
}

// refuses fails the test where a response is no GraphQL envelope with this code.
func (r response) refuses(t *testing.T, status int, code string) response {
	t.Helper()
	if r.status != status || r.code() != code {
		t.Errorf("got %d %s, want %d %s", r.status, r.body, status, code)
	}
	return r
}

// answered is an upstream's answer in which every byte matters.
const answered = `{ "extensions":{}, "data" : {"work":"\u0000<b>"},"n":9007199254740993, "d":1.10}`

// resourceActs are what the upstream does in tests of resources, by tag.
var resourceActs = map[string]act{
	"quick": says(200, answered),
	"slow":  after(2*time.Second, says(200, answered)),
	"lost":  closes,
	"hangs": hangs,
	"fails": says(200, `{"errors":[{"message":"no"}],"data":{"work":null}}`),
}

func TestAnOperationIsAResource(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, store string) {
		ada := before(t, store, perform(t, resourceActs).url).serve(t).as(token(t, "ada", ""))
		id := ada.submit(t, tagged("work", "slow")).ID
		path := "/operations/" + id

		running := ada.call(t, "GET", path, "").is(t, 200, "Content-Type", "application/json; charset=utf-8", "Cache-Control", "no-store")
		if after := running.header.Get("Retry-After"); after != "1" {
			t.Errorf("Retry-After is %q", after)
		}
		ada.call(t, "GET", path+"/result", "").is(t, 202, "Retry-After", "1")
		waiting := time.Now()
		done := ada.call(t, "GET", path, "", "Prefer", "wait=20").is(t, 200, "Preference-Applied", "wait=20", "Retry-After", "")
		within(t, 10*time.Second, "the end of the operation", waiting)
		want := at(t, ada.ask(t, `{ asyncOperation(id: "`+id+`") { `+everything+` } }`, "").body, "data", "asyncOperation")
		if string(done.body) != string(want) {
			t.Errorf("the resource is\n%s\nand GraphQL says\n%s", done.body, want)
		}
		tag := done.header.Get("ETag")
		if unchanged := ada.call(t, "GET", path, "", "If-None-Match", tag).is(t, 304, "ETag", tag); len(unchanged.body) > 0 || tag == "" {
			t.Errorf("unchanged %s: %s", tag, unchanged.body)
		}
		ada.call(t, "GET", path, "", "If-None-Match", running.header.Get("ETag")).is(t, 200)
		ada.call(t, "HEAD", path, "").is(t, 200, "ETag", tag)
		result := ada.call(t, "GET", path+"/result", "").is(t, 200, "Content-Type", "application/graphql-response+json; charset=utf-8")
		if string(result.body) != answered {
			t.Errorf("the result is %s", result.body)
		}
		ada.call(t, "DELETE", path, "").refuses(t, 409, "ALREADY_DONE")
		ada.call(t, "PUT", path, "").refuses(t, 405, "BAD_USER_INPUT").is(t, 405, "Allow", "GET, HEAD, DELETE, OPTIONS")
		ada.call(t, "DELETE", path+"/result", "").refuses(t, 405, "BAD_USER_INPUT").is(t, 405, "Allow", "GET, HEAD, OPTIONS")
	})
}

func TestADeleteCancels(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, store string) {
		upstream := perform(t, resourceActs)
		ada := before(t, store, upstream.url).serve(t).as(token(t, "ada", ""))
		later := ada.submit(t, input(`mutation { unlisted: typed }`, "notBefore", instant(time.Now().Add(10*time.Minute)))).ID
		now := ada.call(t, "DELETE", "/operations/"+later, "").is(t, 200)
		if got := textAt(t, now.body, "outcome") + " " + textAt(t, now.body, "operation", "state"); got != "CANCELLED CANCELLED" {
			t.Errorf("got %s", got)
		}
		ada.call(t, "GET", "/operations/"+later+"/result", "").refuses(t, 404, "NOT_FOUND")
		running := ada.submit(t, tagged("work", "slow")).ID
		eventually(t, "the upstream is called", func() bool { return upstream.count("slow") == 1 })
		requested := ada.call(t, "DELETE", "/operations/"+running, "").is(t, 202)
		if got := textAt(t, requested.body, "outcome") + " " + textAt(t, requested.body, "operation", "state"); got != "CANCEL_REQUESTED RUNNING" {
			t.Errorf("got %s", got)
		}
		ada.call(t, "GET", "/operations/"+running, "", "Prefer", "wait=20").is(t, 200)
		again := ada.call(t, "DELETE", "/operations/"+running, "").refuses(t, 409, "ALREADY_DONE")
		if state := textAt(t, again.body, "errors", "0", "extensions", "operation", "state"); state != "SUCCEEDED" {
			t.Errorf("the true outcome is %s", state)
		}
	})
}

func TestAStrangersResourceIsNotThere(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, store string) {
		n := before(t, store, perform(t, resourceActs).url).serve(t)
		ada, eve := n.as(token(t, "ada", "")), n.as(token(t, "eve", ""))
		id := ada.submit(t, input(`mutation { typed }`, "notBefore", instant(time.Now().Add(10*time.Minute)))).ID
		nobodys := uuid.Must(uuid.NewV7()).String()
		for _, request := range []struct{ method, suffix string }{{"GET", ""}, {"GET", "/result"}, {"DELETE", ""}} {
			want := eve.call(t, request.method, "/operations/"+nobodys+request.suffix, "").refuses(t, 404, "NOT_FOUND")
			for _, other := range []string{id, "1", strings.ToUpper(id)[:35]} {
				if got := eve.call(t, request.method, "/operations/"+other+request.suffix, ""); !got.equals(want.answer) {
					t.Errorf("%s %s: got %d %s", request.method, other, got.status, got.body)
				}
			}
			n.as("").call(t, request.method, "/operations/"+id+request.suffix, "").
				refuses(t, 401, "UNAUTHENTICATED").is(t, 401, "WWW-Authenticate", "Bearer")
		}
		ada.call(t, "GET", "/operations/"+id, "").is(t, 200)
		n.as(token(t, "root", "", "operator")).call(t, "GET", "/operations/"+id, "").is(t, 200)
	})
}

func TestAPurgedResultIsGone(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, store string) {
		g := before(t, store, perform(t, resourceActs).url)
		n := g.serve(t)
		deferred := []string{"Prefer", "respond-async, wait=20", "Idempotency-Key", "k"}
		n.as(token(t, "ada", "")).call(t, "POST", "/graphql", deferrable("quick"), deferred...).is(t, 200)
		n.Stop(t)
		purge(t, store)
		ada := g.serve(t).as(token(t, "ada", ""))
		ids := ada.list(t)
		if len(ids) != 1 {
			t.Fatalf("the list holds %v", ids)
		}
		ada.call(t, "GET", "/operations/"+ids[0]+"/result", "").refuses(t, 410, "NOT_FOUND")
		ada.call(t, "POST", "/graphql", deferrable("quick"), deferred...).refuses(t, 410, "NOT_FOUND")
		ada.call(t, "GET", "/operations/"+ids[0], "").is(t, 200)
	})
}

// purge removes all results from a store that nobody serves, as a sweep does
// when their retention is over.
func purge(t *testing.T, store string) {
	t.Helper()
	const statement = "UPDATE async_operations SET result = NULL, purged = true, revision = revision + 1"
	if _, err := database(t, store).ExecContext(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}

// deferrable is a request for work with a tag.
func deferrable(tag string) string {
	return string(body(`mutation ($tag: String!) { work(tag: $tag) }`, object("tag", quote(tag))))
}

func TestAMutationIsDeferredAsItIs(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, store string) {
		upstream := perform(t, resourceActs)
		ada := before(t, store, upstream.url).serve(t).as(token(t, "ada", ""))
		sending := time.Now()
		handle := ada.call(t, "POST", "/graphql", deferrable("slow"), "Prefer", "respond-async").
			is(t, 202, "Preference-Applied", "respond-async", "Retry-After", "1")
		within(t, 1500*time.Millisecond, "the handle", sending)
		id := textAt(t, handle.body, "id")
		if location := handle.header.Get("Location"); location != "/operations/"+id {
			t.Errorf("Location is %q", location)
		}
		ada.call(t, "GET", handle.header.Get("Location"), "", "Prefer", "wait=20").is(t, 200)
		if result := ada.call(t, "GET", handle.header.Get("Location")+"/result", ""); string(result.body) != answered {
			t.Errorf("the result is %s", result.body)
		}

		for _, tag := range []string{"quick", "fails"} {
			plain := ada.call(t, "POST", "/graphql", deferrable(tag)).is(t, 200)
			waited := ada.call(t, "POST", "/graphql", deferrable(tag), "Prefer", "respond-async, wait=20").
				is(t, 200, "Preference-Applied", "respond-async, wait=20", "Content-Type", plain.header.Get("Content-Type"))
			if !bytes.Equal(waited.body, plain.body) {
				t.Errorf("%s: waited for %s, plainly %s", tag, waited.body, plain.body)
			}
		}
		ada.call(t, "POST", "/graphql", deferrable("quick"), "Prefer", "respond-async, wait=20", "Accept", "application/graphql-response+json").
			is(t, 200, "Content-Type", "application/graphql-response+json; charset=utf-8")
		ada.call(t, "POST", "/graphql", deferrable("slow"), "Prefer", "respond-async, wait=1").is(t, 202, "Retry-After", "1")
		plain := ada.call(t, "POST", "/graphql", deferrable("lost")).is(t, 200)
		waited := ada.call(t, "POST", "/graphql", deferrable("lost"), "Prefer", "respond-async, wait=20").is(t, 200)
		if !bytes.Equal(waited.body, plain.body) || waited.code() != "OUTCOME_UNKNOWN" {
			t.Errorf("waited for %s, plainly %s", waited.body, plain.body)
		}
	})
}

func TestAHeadersIdempotencyKeyIsTheInputs(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, store string) {
		upstream := perform(t, resourceActs)
		ada := before(t, store, upstream.url).serve(t).as(token(t, "ada", ""))
		const async = "respond-async, wait=20"
		first := ada.call(t, "POST", "/graphql", deferrable("quick"), "Prefer", "respond-async", "Idempotency-Key", `"k 1"`).is(t, 202)
		id := textAt(t, first.body, "id")
		again := ada.call(t, "POST", "/graphql", deferrable("quick"), "Prefer", async, "Idempotency-Key", `"k 1"`).
			is(t, 200, "Location", "/operations/"+id)
		if string(again.body) != answered {
			t.Errorf("the replay answers %s", again.body)
		}
		if op := ada.submit(t, input(`mutation ($tag: String!) { work(tag: $tag) }`, "variables", `{"tag":"quick"}`, "idempotencyKey", `"k 1"`)); op.ID != id {
			t.Errorf("by GraphQL the key stands for %s", op.ID)
		}
		ada.call(t, "POST", "/graphql", deferrable("slow"), "Prefer", async, "Idempotency-Key", `"k 1"`).refuses(t, 422, "IDEMPOTENCY_KEY_REUSED")
		for _, malformed := range []string{`"k`, `a b`, `""`, `"` + strings.Repeat("k", 256) + `"`} {
			ada.call(t, "POST", "/graphql", deferrable("quick"), "Prefer", async, "Idempotency-Key", malformed).refuses(t, 400, "BAD_USER_INPUT")
		}
		if n := upstream.count("quick"); n != 1 {
			t.Errorf("the upstream was called %d times", n)
		}
		ada.call(t, "POST", "/graphql", deferrable("quick"), "Idempotency-Key", `"k 1"`).is(t, 200, "Preference-Applied", "", "Location", "")
		if n := upstream.count("quick"); n != 2 {
			t.Errorf("without the preference the upstream was called %d times in all", n)
		}
		if n := rows(t, store); n != 1 {
			t.Errorf("the store holds %d operations", n)
		}
	})
}

func TestWhatCannotBeDeferredRunsNow(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, store string) {
		upstream := perform(t, map[string]act{"": says(200, `{"data":{"nothing":true}}`)})
		ada := before(t, store, upstream.url).serve(t).as(token(t, "ada", ""))
		for document, code := range map[string]string{
			`{ nothing }`:            "",
			`mutation { unlisted }`:  "",
			`mutation { editorial }`: "", // without its role
			`mutation { cancelAsync(id: "01890a5d-ac96-774b-bcce-b302099a8057") { outcome } }`: "NOT_FOUND",
			`mutation { typo }`: "GRAPHQL_VALIDATION_FAILED",
			`mutation {`:        "GRAPHQL_PARSE_FAILED",
		} {
			got := ada.call(t, "POST", "/graphql", string(body(document, "")), "Prefer", "respond-async", "Idempotency-Key", "k").
				is(t, 200, "Preference-Applied", "", "Location", "")
			if got.code() != code {
				t.Errorf("%s: got %s", document, got.body)
			}
		}
		if n := rows(t, store); n != 0 {
			t.Errorf("the store holds %d operations", n)
		}
	})
}

func TestAReadyNodeSaysSo(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, store string) {
		n := before(t, store, "http://127.0.0.1:1/graphql").serve(t) // the upstream makes no difference
		n.as("").call(t, "GET", "/readyz", "").is(t, 200, "Content-Type", "text/plain; charset=utf-8")
		n.as("").call(t, "HEAD", "/readyz", "").is(t, 200)
		n.as("").call(t, "POST", "/readyz", "").refuses(t, 405, "BAD_USER_INPUT")
	})
}

func TestOriginsAreTakenOverByAReload(t *testing.T) {
	t.Parallel()
	g := before(t, stores["SQLite"](t), perform(t, resourceActs).url)
	n := g.serve(t)
	ada := n.as(token(t, "ada", ""))
	page := []string{"Origin", "https://app.example", "Sec-Fetch-Site", "cross-site"}
	ada.call(t, "POST", "/graphql", deferrable("quick"), page...).refuses(t, 403, "FORBIDDEN").is(t, 403, "Access-Control-Allow-Origin", "")
	g.with(t, oneUpstream, "worker:", `cors: {origins: ["https://app.example"]}`+"\nworker:")
	n.Signal(syscall.SIGHUP)
	eventually(t, "the origin is allowed", func() bool {
		return ada.call(t, "POST", "/graphql", deferrable("quick"), page...).status == 200
	})
	ada.call(t, "POST", "/graphql", deferrable("quick"), page...).is(t, 200, "Access-Control-Allow-Origin", "https://app.example")
	n.as("").call(t, "OPTIONS", "/operations/x", "", "Origin", "https://app.example", "Access-Control-Request-Method", "DELETE").
		is(t, 204, "Access-Control-Allow-Methods", "DELETE")
}
