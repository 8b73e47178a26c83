package upstreams_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"asyncgate/test/upstreams"
)

func TestYogaAnswersTextThatNoJavaScriptNumberHolds(t *testing.T) {
	t.Parallel()
	yoga := upstreams.Yoga(t)
	got := post(t, yoga, `mutation { slow(seconds: 0, tag: "t") { json bigs nothing escaped text exponent decimal big } }`, "")
	want := `{"data":{"slow":{` +
		`"json":{"z":1, "a":{"2":null,"1":1.0}, "big":9007199254740993, "z":2,` + "\n\t" + `"e":1E2},` +
		`"bigs":[-123456789012345678901234567890,null,7],"nothing":null,` +
		`"escaped":"\u003Cb\u003e \/ \u00e9 \ud83d\ude80",` +
		`"text":"nul \u0000 <b>&\"quotes\" \\ ` + "\U0001F680 \u2028 \u2029" + ` end",` +
		`"exponent":-0.0E+400,"decimal":1.10,"big":9007199254740993}}}`
	if got != want {
		t.Errorf("answered %s\nwant %s", got, want)
	}
	if last := get(t, strings.Replace(yoga.URL, "/graphql", "/last?tag=t", 1)); last != got {
		t.Errorf("the last answer is told as %s", last)
	}
}

func TestYogaEchoesDigitByDigit(t *testing.T) {
	t.Parallel()
	yoga := upstreams.Yoga(t)
	document := `mutation ($v: JSON, $b: BigInt) { echo(value: $v, big: $b, decimal: 1.10, text: "x") { rawBody value big decimal text } }`
	got := post(t, yoga, document, `{"v":{"n":[1.0,9007199254740993]},"b":12345678901234567890}`)
	if !strings.HasSuffix(got, `"value":{"n":[1.0,9007199254740993]},"big":12345678901234567890,"decimal":1.10,"text":"x"}}}`) {
		t.Errorf("answered %s", got)
	}
	var envelope struct {
		Data struct{ Echo struct{ RawBody string } }
	}
	if err := json.Unmarshal([]byte(got), &envelope); err != nil {
		t.Fatal(err)
	}
	if sent := string(body(t, document, `{"v":{"n":[1.0,9007199254740993]},"b":12345678901234567890}`)); envelope.Data.Echo.RawBody != sent {
		t.Errorf("rawBody is %s\nwant %s", envelope.Data.Echo.RawBody, sent)
	}
}

func TestYogaFailsWithPathAndExtensions(t *testing.T) {
	t.Parallel()
	yoga := upstreams.Yoga(t)
	got := post(t, yoga, `mutation { fail { id } }`, "")
	want := `{"errors":[{"message":"short and stout <&>","locations":[{"line":1,"column":12}],"path":["fail"],` +
		`"extensions":{"code":"TEAPOT","spilled":9007199254740993.10,"nested":{"nothing":null}}}],"data":null}`
	if got != want {
		t.Errorf("answered %s\nwant %s", got, want)
	}
}

func TestYogaAnswersPartialData(t *testing.T) {
	t.Parallel()
	yoga := upstreams.Yoga(t)
	got := post(t, yoga, `mutation { partial { items { id name } } }`, "")
	for _, part := range []string{
		`"data":{"partial":{"items":[{"id":"p1","name":"Bolt"},{"id":"p2","name":null},null]}}`,
		`"path":["partial","items",1,"name"],"extensions":{"code":"LOST"}`,
		`"path":["partial","items",2]`,
	} {
		if !strings.Contains(got, part) {
			t.Errorf("answered %s\nwithout %s", got, part)
		}
	}
}

func TestYogaTellsHeaders(t *testing.T) {
	t.Parallel()
	if got := post(t, upstreams.Yoga(t), `mutation { headers }`, ""); !strings.Contains(got, `"x-probe":"a, b"`) {
		t.Errorf("answered %s", got)
	}
}

func TestYogaResolvesAbstractTypesAndInputs(t *testing.T) {
	t.Parallel()
	yoga := upstreams.Yoga(t)
	got := post(t, yoga, `mutation { addItem(input: {name: "n", weight: 1.10}) { id name color } }`, "")
	if got != `{"data":{"addItem":{"id":"i1","name":"n","color":"GREEN"}}}` {
		t.Errorf("answered %s", got)
	}
	got = post(t, yoga, `{ search(by: {name: "e"}) { __typename ... on Named { name } ... on Item { owner { id } } } }`, "")
	if got != `{"data":{"search":[{"__typename":"Item","name":"Wheel","owner":{"id":"ada"}}]}}` {
		t.Errorf("answered %s", got)
	}
}

func TestYogaCountsWhatBeganThoughItsCallerHasGone(t *testing.T) {
	t.Parallel()
	yoga := upstreams.Yoga(t)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := ask(ctx, yoga.URL, body(t, `mutation { slow(seconds: 0.6, tag: "gone") { tag } }`, "")); err == nil {
		t.Fatal("the slow mutation was quick")
	}
	const document = `{ calls(tag: "gone") slow: calls(tag: "gone", mutation: "slow") none: calls(tag: "other") finished(tag: "gone") }`
	want := `{"data":{"calls":1,"slow":1,"none":0,"finished":1}}`
	for began := time.Now(); ; {
		got := post(t, yoga, document, "")
		if got == want {
			return
		}
		if time.Since(began) > 10*time.Second {
			t.Fatalf("answered %s\nwant %s", got, want)
		}
		<-time.After(20 * time.Millisecond)
	}
}

func TestAStoppedServerIsGone(t *testing.T) {
	t.Parallel()
	yoga := upstreams.Yoga(t)
	began := time.Now()
	yoga.Stop()
	yoga.Stop()
	if took := time.Since(began); took > 4*time.Second {
		t.Errorf("took %v: it did not end by itself when its standard input closed", took)
	}
	if answer, err := ask(t.Context(), yoga.URL, body(t, `{ headers }`, "")); err == nil {
		t.Errorf("still answers %s", answer)
	}
}

func body(t *testing.T, document, variables string) []byte {
	t.Helper()
	query, err := json.Marshal(document)
	if err != nil {
		t.Fatal(err)
	}
	if variables == "" {
		variables = "{}"
	}
	return []byte(`{"query": ` + string(query) + `, "variables": ` + variables + `}`)
}

func post(t *testing.T, server *upstreams.Server, document, variables string) string {
	t.Helper()
	answer, err := ask(t.Context(), server.URL, body(t, document, variables))
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

func ask(ctx context.Context, url string, body []byte) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header["X-Probe"] = []string{"a", "b"}
	return do(request)
}

func get(t *testing.T, url string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := do(request)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

// do uses a connection of its own, so that none is left behind.
func do(request *http.Request) (string, error) {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	return string(answer), err
}
