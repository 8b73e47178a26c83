package demo

import (
	_ "embed"
	"fmt"
	"io"
	"strings"
)

// Config is the configuration, in the format of gateway.yaml. It reads the
// variables DEMO_DIR, DEMO_SECRET and DEMO_UPSTREAM.
//
//go:embed gateway.yaml
var Config []byte

// Issuer is the issuer of the demo's tokens.
const Issuer = "demo"

// Caller is someone to try the demo as.
type Caller struct {
	Subject string
	Tenant  string
}

// Callers are one of each tenant. The commands are the first one's.
var Callers = []Caller{{Subject: "ada", Tenant: "acme"}, {Subject: "grace", Tenant: "globex"}}

// Introduce tells how to try a gateway at address. tokens are the callers', in
// their order.
func Introduce(w io.Writer, address string, tokens []string) error {
	url := "http://" + address + "/graphql"
	var text strings.Builder
	fmt.Fprintf(&text, "asyncgate demo on %s\n\nTokens, each for a day:\n", url)
	for i, caller := range Callers {
		fmt.Fprintf(&text, "  %s of %s\n  %s\n", caller.Subject, caller.Tenant, tokens[i])
	}
	fmt.Fprintf(&text, "\nPaste these three into another terminal, one after the other, as %s.\n", Callers[0].Subject)
	for i, command := range commands(url, tokens[0]) {
		fmt.Fprintf(&text, "\n# %d. %s\n%s\n", i+1, command.what, command.line)
	}
	text.WriteString("\nCtrl-C ends the demo.\n")
	_, err := io.WriteString(w, text.String())
	return err
}

// command is a line to paste.
type command struct{ what, line string }

func commands(url, token string) []command {
	const curl = "curl -sS "
	common := fmt.Sprintf("%s -H 'Authorization: Bearer %s' -H 'Content-Type: application/json'", url, token)
	submit := `{"query":"mutation($in: SubmitAsyncInput!) { submitAsync(input: $in) { id state } }",` +
		`"variables":{"in":{"document":"mutation($title: String!) { generateReport(title: $title, seconds: 10) { id title author checksum } }",` +
		`"variables":{"title":"Sales of 2026"}}}}`
	query := `{"query":"{ asyncOperation(id: \"'$ID'\") { state attempts pollAfterMs result } }"}`
	subscribe := `{"query":"subscription { operationResult(id: \"'$ID'\") { state result } }"}`
	return []command{
		{
			"Submit a report that takes ten seconds: the handle comes back at once.",
			"ID=$(" + curl + common + " -d '" + submit + "' | tee /dev/stderr | sed 's/.*\"id\":\"\\([^\"]*\\)\".*/\\1/'); echo",
		},
		{"Query the operation: it runs in the background.", curl + common + " -d '" + query + "'; echo"},
		{
			"Subscribe: the result is pushed as soon as it is there, then the stream completes.",
			curl + "-N " + common + " -H 'Accept: text/event-stream' -d '" + subscribe + "'",
		},
	}
}
