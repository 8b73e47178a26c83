package auth

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func ada() SecurityContext {
	return SecurityContext{
		Issuer: "https://id.example/", Subject: "ada", Tenant: "acme", Roles: []string{"editor"}, Scopes: []string{"read"},
		Extra:    map[string]json.RawMessage{"limits.credit": json.RawMessage(`12345678901234567890.10`)},
		IssuedAt: time.Unix(1700000000, 0).UTC(), ExpiresAt: time.Unix(1700000600, 5e8).UTC(),
	}
}

func TestDecodeReturnsWhatEncodeStored(t *testing.T) {
	t.Parallel()
	for _, sc := range []SecurityContext{ada(), {Issuer: "i", Subject: "s"}} {
		got, err := Decode(sc.Encode())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(sc, got); diff != "" {
			t.Fatal(diff)
		}
	}
}

// What is stored today must be readable by every later version.
func TestStoredFormIsFixed(t *testing.T) {
	t.Parallel()
	const want = `{"v":1,"iss":"https://id.example/","sub":"ada","tenant":"acme","roles":["editor"],"scopes":["read"],` +
		`"extra":{"limits.credit":12345678901234567890.10},"iat":"2023-11-14T22:13:20Z","exp":"2023-11-14T22:23:20.5Z"}`
	if got := string(ada().Encode()); got != want {
		t.Fatalf("got  %s\nwant %s", got, want)
	}
}

func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{``, `null`, `[]`, `{}`, `{"v":2,"iss":"i","sub":"s"}`, `{"v":1}`, `{"v":1,"iss":"i","sub":5}`} {
		if sc, err := Decode(json.RawMessage(raw)); err == nil {
			t.Errorf("%s: got %v", raw, sc)
		}
	}
	if _, err := Decode(json.RawMessage(`{"v":2}`)); !errors.Is(err, ErrContextVersion) {
		t.Errorf("got %v, want ErrContextVersion", err)
	}
	broken := ada()
	broken.Extra = map[string]json.RawMessage{"x": json.RawMessage(`{`)}
	if _, err := Decode(broken.Encode()); err == nil {
		t.Error("an extra claim that is no JSON was stored")
	}
}

func TestTheContextCarriesTheCaller(t *testing.T) {
	t.Parallel()
	if _, err := FromContext(t.Context()); !errors.Is(err, ErrUnauthenticated) {
		t.Fatalf("got %v, want ErrUnauthenticated", err)
	}
	got, err := FromContext(NewContext(t.Context(), ada()))
	if err != nil || got.Subject != "ada" {
		t.Fatalf("got %v and %v", got, err)
	}
}

func TestHasAnyRole(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		roles []string
		want  bool
	}{{nil, false}, {[]string{"root"}, false}, {[]string{"root", "editor"}, true}, {[]string{"Editor"}, false}} {
		if got := ada().HasAnyRole(test.roles); got != test.want {
			t.Errorf("%q: got %v", test.roles, got)
		}
	}
}

func TestLogsHoldNoClaimsAndNoSecrets(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "caller", ada(), "issuer", theIssuer())
	for _, word := range []string{"editor", "read", "credit", "thirty-two"} {
		if strings.Contains(log.String(), word) {
			t.Errorf("the log holds %q: %s", word, log.String())
		}
	}
}
