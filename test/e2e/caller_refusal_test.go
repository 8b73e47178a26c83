package e2e

import (
	"bytes"
	"encoding/base64"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"asyncgate/internal/auth"
	"asyncgate/test/upstreams"
)

// strangers are callers who are not let in, by the status and code that they
// get.
func strangers(t *testing.T) map[int]map[string]string {
	t.Helper()
	ada, now := auth.SecurityContext{Subject: "ada", Tenant: "acme"}, time.Now()
	good := mint(t, issuerOne, ada, now)
	parts := strings.Split(good, ".")
	unknown, forged := issuerOne, issuerOne
	unknown.Issuer = "https://three.example/"
	forged.HS256Secret = []byte("some other secret of thirty-two bytes")
	header := func(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }
	return map[int]map[string]string{
		http.StatusUnauthorized: {
			"NoToken":              "",
			"NoTokenAtAll":         "good morning",
			"AnExpiredToken":       mint(t, issuerOne, ada, now.Add(-2*time.Hour)),
			"ATokenOfTomorrow":     mint(t, issuerOne, ada, now.Add(24*time.Hour)),
			"AWrongSecret":         mint(t, forged, ada, now),
			"AnUnknownIssuer":      mint(t, unknown, ada, now),
			"AlgNone":              header(`{"alg":"none","typ":"JWT"}`) + "." + parts[1] + ".",
			"AlgNoneAndASignature": header(`{"alg":"none","typ":"JWT"}`) + "." + parts[1] + "." + parts[2],
			"OtherClaimsSigned":    parts[0] + "." + header(`{"iss":"https://one.example/","sub":"root","tenant":"acme","exp":9999999999}`) + "." + parts[2],
			"NoSignature":          parts[0] + "." + parts[1] + ".",
		},
		http.StatusForbidden: {
			"AnUnknownTenant":         mint(t, issuerOne, auth.SecurityContext{Subject: "ada", Tenant: "initech"}, now),
			"NoTenant":                mint(t, issuerOne, auth.SecurityContext{Subject: "ada"}, now),
			"ATenantNotTheIssuers":    mint(t, issuerTwo, auth.SecurityContext{Subject: "ada", Tenant: "globex"}, now),
			"ATenantInCapitals":       mint(t, issuerOne, auth.SecurityContext{Subject: "ada", Tenant: "Acme"}, now),
			"TheStarThatIsEveryone's": mint(t, issuerOne, auth.SecurityContext{Subject: "ada", Tenant: "*"}, now),
		},
	}
}

func TestCallersWhoAreNotLetInLearnWhyAndNothingElse(t *testing.T) {
	t.Parallel()
	yoga := upstreams.Yoga(t)
	store := stores["SQLite"](t)
	n := beforeYoga(t, store, yoga, yoga).serve(t)
	codes := map[int]string{http.StatusUnauthorized: "UNAUTHENTICATED", http.StatusForbidden: "TENANT_UNKNOWN"}
	for status, tokens := range strangers(t) {
		for name, text := range tokens {
			c := n.as(text)
			for _, accept := range []string{"application/json", "application/graphql-response+json", "text/event-stream"} {
				got := c.ask(t, submitDocument, object("input", input(`mutation { echo { text } }`)), "Accept", accept)
				if got.status != status || got.code() != codes[status] || bytes.Contains(got.body, []byte(`"data"`)) {
					t.Errorf("%s for %s: got %d %s", name, accept, got.status, got.body)
				}
			}
			if code := c.refusedSocket(t); code != 4403 {
				t.Errorf("%s: the websocket was closed with %d", name, code)
			}
		}
	}
	if n := rows(t, store); n != 0 {
		t.Errorf("the store holds %d operations", n)
	}
}

// refusedSocket answers the code with which connection_init is refused.
func (c caller) refusedSocket(t *testing.T) int {
	t.Helper()
	s := c.dial(t)
	s.send(t, object("type", `"connection_init"`, "payload", object("Authorization", quote("Bearer "+c.token))))
	return s.closed(t)
}

func TestASocketThatSpeaksBeforeItIsLetInIsClosed(t *testing.T) {
	t.Parallel()
	yoga := upstreams.Yoga(t)
	n := beforeYoga(t, stores["SQLite"](t), yoga, yoga).serve(t)
	s := n.as(token(t, "ada", "acme")).dial(t)
	s.subscribe(t, resultDocument, `{"id":"01890a5d-ac96-774b-bcce-b302099a8057"}`)
	if code := s.closed(t); code != 4401 {
		t.Errorf("the websocket was closed with %d, want 4401", code)
	}
}

func TestASocketEndsWithItsToken(t *testing.T) {
	t.Parallel()
	yoga := upstreams.Yoga(t)
	g := beforeYoga(t, stores["SQLite"](t), yoga, yoga)
	n := g.serve(t)
	ada := n.as(token(t, "ada", "acme"))
	op := ada.submit(t, slow("0", t.Name(), "notBefore", instant(time.Now().Add(30*time.Minute))))
	ada.token = g.token(t, "--subject", "ada", "--issuer", issuerOne.Issuer, "--tenant", "acme", "--ttl", "2s")
	if code := ada.subscribe(t, updatesDocument, op.ID).closed(t); code != 4403 {
		t.Errorf("the websocket was closed with %d, want 4403", code)
	}
}

func TestRolesReachTheTenantOrEverything(t *testing.T) {
	t.Parallel()
	yoga := upstreams.Yoga(t)
	onEachStore(t, func(t *testing.T, store string) {
		n := beforeYoga(t, store, yoga, yoga).serve(t)
		later := instant(time.Now().Add(30 * time.Minute))
		echo := input(`mutation { echo { text } }`, "notBefore", later)
		adas := n.as(token(t, "ada", "acme")).submit(t, echo).ID
		others := n.as(mint(t, issuerTwo, auth.SecurityContext{Subject: "ada", Tenant: "acme"}, time.Now())).submit(t, echo).ID
		graces := n.as(token(t, "grace", "globex")).submit(t, echo).ID

		manager, operator := n.as(token(t, "max", "acme", "manager")), n.as(token(t, "olga", "globex", "operator"))
		if ids := manager.list(t, "scope", `"TENANT"`); !slices.Equal(ids, []string{others, adas}) {
			t.Errorf("the manager's list is %v", ids)
		}
		if got := manager.ask(t, listDocument, `{"scope":"ALL"}`); got.code() != "FORBIDDEN" {
			t.Errorf("the manager's list of everything is %s", got.body)
		}
		if ids := operator.list(t, "scope", `"ALL"`); !slices.Equal(ids, []string{graces, others, adas}) {
			t.Errorf("the operator's list is %v", ids)
		}
		if ids := operator.list(t, "scope", `"TENANT"`); !slices.Equal(ids, []string{graces}) {
			t.Errorf("the operator's list of their tenant is %v", ids)
		}
		if ids := operator.list(t, "scope", `"ALL"`, "filter", `{"submitter":"grace"}`); !slices.Equal(ids, []string{graces}) {
			t.Errorf("the operator's list of grace's is %v", ids)
		}
		got := operator.ask(t, cancelDocument, object("id", quote(adas)))
		if outcome := textAt(t, got.body, "data", "cancelAsync", "outcome"); outcome != "CANCELLED" {
			t.Errorf("the operator's cancellation is %s", outcome)
		}
		manager.subscribe(t, resultDocument, adas).result(t).ended(t, "CANCELLED", "CANCELLED", "NOT_EXECUTED", 0)
	})
}
