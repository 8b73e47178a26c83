package main

import (
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"asyncgate/internal/demo/upstream"
)

// sample is a running sample upstream: it has generateReport.
func sample(t *testing.T) (url string) {
	t.Helper()
	server := httptest.NewServer(upstream.New())
	t.Cleanup(server.Close)
	return server.URL + "/graphql"
}

// down is a url that nothing listens at.
func down(t *testing.T) (url string) {
	t.Helper()
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	return server.URL
}

// setUp writes a configuration beside its schema files.
func setUp(t *testing.T, config string, schemas map[string]string) (path string) {
	t.Helper()
	dir := t.TempDir()
	for name, sdl := range schemas {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(sdl), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	path = filepath.Join(dir, "gateway.yaml")
	if err := os.WriteFile(path, []byte("auth: {jwt: ["+oneIssuer+"]}\n"+config), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// checkJSON runs a check and answers its report.
func checkJSON(t *testing.T, path string) (checkReport, int) {
	t.Helper()
	code, out, stderr := gateway(t, "check", "--config", path, "--json")
	var report checkReport
	if err := json.Unmarshal([]byte(out), &report); err != nil {
		t.Fatalf("%v: %s%s", err, out, stderr)
	}
	if report.OK != (code == exitOK) {
		t.Errorf("ok is %t and the exit code %d", report.OK, code)
	}
	return report, code
}

// oneFault runs a check that finds one fault, in its only tenant.
func oneFault(t *testing.T, path, want string) {
	t.Helper()
	report, code := checkJSON(t, path)
	if code != exitFailed || len(report.Tenants) != 1 || len(report.Tenants[0].Faults) != 1 || !strings.Contains(report.Tenants[0].Faults[0], want) {
		t.Errorf("got %d and %+v, want %q", code, report, want)
	}
}

const payer = `type Query { ok: Boolean } type Mutation { pay: Boolean refund: Boolean }`

func TestAConfigurationWithoutFaultsPassesTheCheck(t *testing.T) {
	t.Parallel()
	path := setUp(t, `
tenants:
  acme: {upstream: {url: "`+sample(t)+`"}}
  globex: {upstream: {url: "`+sample(t)+`", schema: globex.graphqls}}
mutations: {generateReport: {}}
`, map[string]string{"globex.graphqls": `type Query { ok: Boolean } type Mutation { generateReport: Boolean }`})
	report, code := checkJSON(t, path)
	if code != exitOK || len(report.Tenants) != 2 || len(report.Warnings) != 0 {
		t.Fatalf("got %d and %+v", code, report)
	}
	acme, globex := report.Tenants[0], report.Tenants[1]
	if *acme.Tenant != "acme" || acme.Schema != "introspection" || !acme.Reached || acme.LatencyMs == nil || *acme.Mutations < 2 || acme.Allowed != 1 {
		t.Errorf("got %+v", acme)
	}
	if *globex.Tenant != "globex" || globex.Schema != "file" || !globex.Reached || *globex.Mutations != 1 {
		t.Errorf("got %+v", globex)
	}
	if code, out, stderr := gateway(t, "check", "--config", path); code != exitOK || strings.Count(out, "\n") != 3 || stderr != "" {
		t.Errorf("got %d, %q and %q", code, out, stderr)
	}
}

func TestTheStoreIsNotTouched(t *testing.T) {
	t.Parallel()
	path := setUp(t, `upstream: {url: "`+sample(t)+`"}`+"\nmutations: {generateReport: {}}\n", nil)
	if report, code := checkJSON(t, path); code != exitOK || report.Tenants[0].Tenant != nil {
		t.Errorf("got %d and %+v", code, report)
	}
	files, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(files) != 1 {
		t.Errorf("the check left %v (%v)", files, err)
	}
}

func TestEveryMistakeOfTheFileIsReportedAtOnce(t *testing.T) {
	t.Parallel()
	path := setUp(t, "upstream: {}\nlisen: x\n", nil)
	code, out, stderr := gateway(t, "check", "--config", path)
	for _, want := range []string{path + ":2: upstream.url: is missing", path + ":3: lisen: ", path + ":1: mutations: "} {
		if code != exitFailed || out != "" || !strings.Contains(stderr, want) {
			t.Errorf("got %d, %q and %q, want %q", code, out, stderr, want)
		}
	}
	report, code := checkJSON(t, path)
	if code != exitFailed || len(report.Mistakes) != 3 || len(report.Tenants) != 0 {
		t.Fatalf("got %d and %+v", code, report)
	}
	if m := report.Mistakes[1]; m.File != path || m.Line != 2 || m.Path != "upstream.url" || m.Message != "is missing" {
		t.Errorf("got %+v", m)
	}
	if report, code := checkJSON(t, "nowhere.yaml"); code != exitFailed || len(report.Mistakes) != 1 {
		t.Errorf("got %d and %+v", code, report)
	}
}

func TestANameThatTheSchemaLacksIsAFaultAndANearMissIsSuggested(t *testing.T) {
	t.Parallel()
	path := setUp(t, `upstream: {url: "`+sample(t)+`"}`+"\nmutations: {generateRaport: {}}\n", nil)
	oneFault(t, path, "did you mean generateReport?")
	if report, _ := checkJSON(t, path); report.Tenants[0].Unserved[0] != (checkedGap{"generateRaport", "generateReport"}) {
		t.Errorf("got %+v", report.Tenants[0].Unserved)
	}
	oneFault(t, setUp(t, `upstream: {url: "`+sample(t)+`"}`+"\nmutations: {zzz: {}}\n", nil), "take it off the allowlist")
}

func TestAnUpstreamIsReachedThoughItsSchemaIsAFile(t *testing.T) {
	t.Parallel()
	schemas := map[string]string{"s.graphqls": payer}
	oneFault(t, setUp(t, `upstream: {url: "`+down(t)+`", schema: s.graphqls}`+"\nmutations: {pay: {}}\n", schemas), "connection refused")
	html := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) }))
	t.Cleanup(html.Close)
	oneFault(t, setUp(t, `upstream: {url: "`+html.URL+`", schema: s.graphqls}`+"\nmutations: {pay: {}}\n", schemas), "without a GraphQL response")
}

// An upstream may want to know who asks, and the check has no token.
func TestAnUpstreamThatRefusesInGraphQLWasReached(t *testing.T) {
	t.Parallel()
	strict := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = w.Write([]byte(`{"errors":[{"message":"who are you?"}]}`))
	}))
	t.Cleanup(strict.Close)
	path := setUp(t, `upstream: {url: "`+strict.URL+`", schema: s.graphqls}`+"\nmutations: {pay: {}}\n", map[string]string{"s.graphqls": payer})
	if report, code := checkJSON(t, path); code != exitOK || !report.Tenants[0].Reached {
		t.Errorf("got %d and %+v", code, report)
	}
}

func TestASchemaThatCannotBeUsedIsAFault(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ sdl, want string }{
		"AConflict":    {`type Query { asyncOperation(key: Int): String } type Mutation { pay: Boolean }`, "asyncOperation"},
		"NotSDL":       {`type Query {`, "s.graphqls:1"},
		"NoMutations":  {`type Query { ok: Boolean }`, "the mutation pay"},
		"NothingAtAll": {"", "s.graphqls"}, // an empty file has no query root
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := setUp(t, `upstream: {url: "`+sample(t)+`", schema: s.graphqls}`+"\nmutations: {pay: {}}\n", map[string]string{"s.graphqls": c.sdl})
			oneFault(t, path, c.want)
		})
	}
	oneFault(t, setUp(t, `upstream: {url: "`+sample(t)+`", schema: gone.graphqls}`+"\nmutations: {pay: {}}\n", nil), "gone.graphqls: no such file")
}

func TestTheStarIsNotAskedAndItsSchemaFileIsChecked(t *testing.T) {
	t.Parallel()
	const star = `tenants: {"*": {upstream: {url: "http://{tenant}.api.invalid/graphql"%}}}` + "\n"
	path := setUp(t, strings.Replace(star, "%", "", 1)+"mutations: {pay: {}}\n", nil)
	report, code := checkJSON(t, path)
	if code != exitOK || report.Tenants[0].Reached || len(report.Tenants[0].Warnings) != 1 || report.Tenants[0].Mutations != nil {
		t.Errorf("got %d and %+v", code, report)
	}
	withFile := strings.Replace(star, "%", ", schema: s.graphqls", 1)
	oneFault(t, setUp(t, withFile+"mutations: {pai: {}}\n", map[string]string{"s.graphqls": payer}), "did you mean pay?")
}

func TestADrainShorterThanTheLongestMutationIsAWarning(t *testing.T) {
	t.Parallel()
	path := setUp(t, `upstream: {url: "`+sample(t)+`"}`+"\nmutations: {generateReport: {timeout: 10m}}\nworker: {drain_timeout: 1m}\n", nil)
	if report, code := checkJSON(t, path); code != exitOK || len(report.Warnings) != 1 || !strings.Contains(report.Warnings[0], "drain_timeout is 1m0s") {
		t.Errorf("got %d and %+v", code, report)
	}
	if _, out, _ := gateway(t, "check", "--config", path); !strings.Contains(out, "\nwarning  worker.drain_timeout") {
		t.Errorf("got %s", out)
	}
}

// An upstream that is down must not hold up what is said of the others.
func TestUpstreamsAreAskedAtTheSameTime(t *testing.T) {
	t.Parallel()
	const tenants = 8
	var waiting atomic.Int32
	all := make(chan struct{})
	handler := upstream.New()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if waiting.Add(1) == tenants {
			close(all)
		}
		select {
		case <-all:
			handler.ServeHTTP(w, r)
		case <-time.After(5 * time.Second):
		}
	}))
	t.Cleanup(server.Close)
	config := "mutations: {generateReport: {}}\ntenants:\n"
	for _, name := range strings.Split("abcdefgh", "") {
		config += "  " + name + `: {upstream: {url: "` + server.URL + `/graphql"}}` + "\n"
	}
	if report, code := checkJSON(t, setUp(t, config, nil)); code != exitOK {
		t.Errorf("got %+v", report)
	}
}

// The upstream quotes its API key, and sends what a terminal would obey.
func TestReportsHoldNoSecretsAndFitATerminal(t *testing.T) {
	t.Parallel()
	const key = "canary-4fb1c2a97e6d"
	answer := `{"data":null,"errors":[{"message":"` + strings.Repeat("no such key: "+key+" in Bearer ", 20) + `\u001b[2J"}]}`
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(answer)) }))
	t.Cleanup(server.Close)
	path := setUp(t, `tenants: {`+strings.Repeat("n", 200)+`: {upstream: {url: "`+server.URL+`/?token=`+key+`", headers: {Authorization: "Bearer `+key+`"}}}}`+
		"\nmutations: {pay: {}}\n", nil)
	for _, args := range [][]string{{}, {"--json"}} {
		code, out, stderr := gateway(t, append([]string{"check", "--config", path}, args...)...)
		if code != exitFailed || strings.Contains(out+stderr, key) || strings.Contains(out, "\x1b") {
			t.Errorf("got %d, %s and %s", code, out, stderr)
		}
		if !strings.Contains(out, "[hidden]") {
			t.Errorf("the upstream's error is not told: %s", out)
		}
		for line := range strings.Lines(out) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); len(args) == 0 && n > terminalWidth {
				t.Errorf("a line of %d columns: %s", n, line)
			}
		}
	}
}

func TestAnUpstreamThatNeverAnswersIsGivenUp(t *testing.T) {
	t.Parallel()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	path := setUp(t, `upstream: {url: "http://`+ln.Addr().String()+`"}`+"\nmutations: {pay: {}}\n", nil)
	began := time.Now()
	oneFault(t, path, "did not answer within 10s")
	if took := time.Since(began); took > 15*time.Second {
		t.Errorf("it took %s", took)
	}
}
