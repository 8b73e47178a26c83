package server

import (
	"testing"
	"time"
)

func TestPreferencesAreReadAsRFC7240HasThem(t *testing.T) {
	t.Parallel()
	const none = ""
	for header, want := range map[string]string{
		"respond-async":                          "respond-async",
		"Respond-Async , WAIT = 10":              "respond-async, wait=10",
		`wait="10"`:                              "wait=10",
		"wait=10; strict, respond-async; x=y":    "respond-async, wait=10",
		"wait=0":                                 "wait=0",
		"wait=60":                                "wait=60",
		"wait=61":                                "wait=60",
		"wait=99999999999999999999":              "wait=60",
		"wait=5, wait=9":                         "wait=5",
		"wait=soon, wait=9":                      none,
		"wait=-1":                                none,
		"wait=1.5":                               none,
		"wait=":                                  none,
		"wait":                                   none,
		"respond-async=no":                       none,
		"return=minimal, handling=lenient":       none,
		`foo="a, respond-async", bar="wait=3;x"`: none,
		`foo="a\", respond-async", wait=3`:       "wait=3",
		`foo="never closed, respond-async`:       none,
		",, ;=, respond-async":                   "respond-async",
		none:                                     none,
	} {
		if got := parsePrefer([]string{header}).applied(); got != want {
			t.Errorf("%s: %q, want %q", header, got, want)
		}
	}
	if got := parsePrefer([]string{"wait=2", "respond-async"}).applied(); got != "respond-async, wait=2" {
		t.Errorf("in two headers: %q", got)
	}
}

// Whatever a client prefers, no request waits longer than it may, and what is
// said to be applied reads back the same.
func FuzzPrefer(f *testing.F) {
	for _, seed := range []string{"respond-async, wait=10", `a="\"b,", wait="7";c=d`, "wait=99999999999999999999", ";,=\"\\"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, header string) {
		p := parsePrefer([]string{header})
		if p.wait != nil && (*p.wait < 0 || *p.wait > maxWait || *p.wait%time.Second != 0) {
			t.Fatalf("%q: waits %s", header, *p.wait)
		}
		if again := parsePrefer([]string{p.applied()}); again.applied() != p.applied() {
			t.Fatalf("%q: %q reads back as %q", header, p.applied(), again.applied())
		}
	})
}
