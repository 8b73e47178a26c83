package upstream_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"asyncgate/internal/demo/upstream"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestIntrospectionNeedsNoIdentity(t *testing.T) {
	t.Parallel()
	answer := post(t, upstream.New(), caller{}, `{ __schema { mutationType { fields { name } } } }`, nil)
	if !strings.Contains(answer, `"generateReport"`) || strings.Contains(answer, `"errors"`) {
		t.Errorf("answered %s", answer)
	}
}

func TestWhoDoesNotSayWhoCallsIsUnauthenticated(t *testing.T) {
	t.Parallel()
	api := upstream.New()
	for _, who := range []caller{{}, {ID: "ada"}, {Tenant: "acme"}} {
		for _, document := range []string{
			`{ me { id } }`, `{ products { id } }`, `{ product(id: "1") { id } }`, `{ report(id: "1") { id } }`,
			`{ mutationCalls { calls } }`, `mutation { generateReport(title: "t", seconds: 0) { id } }`,
			`mutation { importCatalog(products: []) { same } }`, `mutation { chargeCard(amount: 1) { id } }`,
		} {
			if answer := post(t, api, who, document, nil); !strings.Contains(answer, `"code":"UNAUTHENTICATED"`) {
				t.Errorf("%+v %s: answered %s", who, document, answer)
			}
		}
	}
}

func TestTenantsShareNothing(t *testing.T) {
	t.Parallel()
	api := upstream.New()
	post(t, api, ada("acme"), `mutation { importCatalog(products: [{sku: "SECRET", name: "s", priceCents: 1}]) { created } }`, nil)
	if answer := post(t, api, ada("acme"), `{ products(search: "secret") { sku } }`, nil); !strings.Contains(answer, "SECRET") {
		t.Errorf("acme does not see its own: %s", answer)
	}
	answer := post(t, api, ada("globex"), `{ products(search: "secret") { sku } mutationCalls { calls } }`, nil)
	if answer != `{"data":{"products":[],"mutationCalls":[]}}` {
		t.Errorf("globex sees acme's: %s", answer)
	}
}

func TestImportIsIdempotent(t *testing.T) {
	t.Parallel()
	api := upstream.New()
	document := `mutation ($products: [ProductInput!]!) {
		importCatalog(products: $products) { created changed same products { sku priceCents ean } }
	}`
	variables := json.RawMessage(`{"products": [
		{"sku": "MUG-01", "name": "Mug", "priceCents": 1},
		{"sku": "NEW", "name": "New", "priceCents": 2, "ean": 12345678901234567890123}
	]}`)
	products := `"products":[{"sku":"MUG-01","priceCents":1,"ean":null},{"sku":"NEW","priceCents":2,"ean":12345678901234567890123}]`
	for _, counts := range []string{`"created":1,"changed":1,"same":0,`, `"created":0,"changed":0,"same":2,`} {
		want := `{"data":{"importCatalog":{` + counts + products + `}}}`
		if answer := post(t, api, ada("acme"), document, variables); answer != want {
			t.Errorf("answered %s\nwant %s", answer, want)
		}
	}
}

func TestAnImportWithOneBadProductChangesNothing(t *testing.T) {
	t.Parallel()
	api := upstream.New()
	answer := post(t, api, ada("acme"), `mutation { importCatalog(products: [
		{sku: "GOOD", name: "g", priceCents: 1}, {sku: "BAD", name: "b", priceCents: -1}
	]) { created } }`, nil)
	if !strings.Contains(answer, `"code":"BAD_USER_INPUT"`) {
		t.Errorf("answered %s", answer)
	}
	if answer := post(t, api, ada("acme"), `{ products(search: "GOOD") { sku } }`, nil); answer != `{"data":{"products":[]}}` {
		t.Errorf("half an import stayed: %s", answer)
	}
}

func TestConcurrentImportsLoseNothing(t *testing.T) {
	t.Parallel()
	const imports = 20
	api := upstream.New()
	var all sync.WaitGroup
	for range imports {
		all.Go(func() {
			post(t, api, ada("acme"), `mutation { importCatalog(products: [{sku: "ZEBRA", name: "z", priceCents: 1}]) { same } }`, nil)
		})
	}
	all.Wait()
	want := `{"data":{"products":[{"sku":"ZEBRA"}],"mutationCalls":[{"calls":20}]}}`
	if answer := post(t, api, ada("acme"), `{ products(search: "zebra") { sku } mutationCalls { calls } }`, nil); answer != want {
		t.Errorf("answered %s\nwant %s", answer, want)
	}
}

func TestChargeCardIsDeclined(t *testing.T) {
	t.Parallel()
	answer := post(t, upstream.New(), ada("acme"), `mutation { chargeCard(amount: 5) { id } }`, nil)
	want := `{"errors":[{"message":"the card was declined","path":["chargeCard"],"locations":[{"line":1,"column":12}],"extensions":{"code":"CARD_DECLINED"}}],"data":null}`
	if answer != want {
		t.Errorf("answered %s\nwant %s", answer, want)
	}
}

func TestAReportTakesItsTimeAndStays(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		api := upstream.New()
		began := time.Now()
		answer := post(t, api, ada("acme"), `mutation { generateReport(title: "Q3") { id title author checksum } }`, nil)
		if took := time.Since(began); took != 2*time.Second {
			t.Errorf("took %v, want the default of 2s", took)
		}
		var envelope struct {
			Data struct {
				GenerateReport struct{ ID, Title, Author string }
			}
		}
		if err := json.Unmarshal([]byte(answer), &envelope); err != nil || envelope.Data.GenerateReport.Author != "ada" {
			t.Fatalf("answered %s (%v)", answer, err)
		}
		read := post(t, api, ada("acme"), `{ report(id: "`+envelope.Data.GenerateReport.ID+`") { title body } }`, nil)
		if !strings.Contains(read, `"title":"Q3"`) {
			t.Errorf("read %s", read)
		}
	})
}

func TestAReportEndsWithItsRequest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		api := upstream.New()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		ask(ctx, t, api, ada("acme"), `mutation { generateReport(title: "Q3", seconds: 3600) { id } }`, nil)
		if took := time.Since(began); took != time.Second {
			t.Errorf("went on for %v after its request had ended", took-time.Second)
		}
		if answer := post(t, api, ada("acme"), `{ mutationCalls { mutation calls } }`, nil); answer !=
			`{"data":{"mutationCalls":[{"mutation":"generateReport","calls":1}]}}` {
			t.Errorf("answered %s", answer)
		}
	})
}

func TestSecondsOutOfRangeAreRefused(t *testing.T) {
	t.Parallel()
	for _, seconds := range []string{"-1", "3601", "1e300"} {
		answer := post(t, upstream.New(), ada("acme"), `mutation { generateReport(title: "t", seconds: `+seconds+`) { id } }`, nil)
		if !strings.Contains(answer, `"code":"BAD_USER_INPUT"`) {
			t.Errorf("%s seconds: answered %s", seconds, answer)
		}
	}
}

type caller struct{ ID, Tenant string }

func ada(tenant string) caller { return caller{ID: "ada", Tenant: tenant} }

func (c caller) sign(request *http.Request) {
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("X-Roles", "editor,viewer")
	if c.ID != "" {
		request.Header.Set("X-User-Id", c.ID)
	}
	if c.Tenant != "" {
		request.Header.Set("X-Tenant", c.Tenant)
	}
}

// post asks the API with no network between, and returns the body.
func post(t *testing.T, api http.Handler, who caller, document string, variables json.RawMessage) string {
	t.Helper()
	return ask(t.Context(), t, api, who, document, variables)
}

func ask(ctx context.Context, t *testing.T, api http.Handler, who caller, document string, variables json.RawMessage) string {
	t.Helper()
	body, err := json.Marshal(map[string]any{"query": document, "variables": variables})
	if err != nil {
		t.Fatal(err)
	}
	request := httptest.NewRequestWithContext(ctx, http.MethodPost, "/graphql", bytes.NewReader(body))
	who.sign(request)
	recorder := httptest.NewRecorder()
	api.ServeHTTP(recorder, request)
	return recorder.Body.String()
}
