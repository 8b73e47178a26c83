package auth

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/lestrrat-go/jwx/v3/jwa"
	"github.com/lestrrat-go/jwx/v3/jws"
)

var secret = []byte("a secret of at least thirty-two bytes")

func theIssuer() Issuer {
	return Issuer{
		Issuer: "https://id.example/", Audience: "asyncgate", HS256Secret: secret, Admin: true,
		Claims:  Claims{Tenant: "org.tenant", Roles: "realm.roles", Extra: []string{"email", "limits.credit"}},
		Tenants: []string{AnyTenant}, Leeway: 30 * time.Second,
	}
}

func newVerifier(t testing.TB, tenancy bool, issuers ...Issuer) *Verifier {
	t.Helper()
	v, err := NewVerifier(Policy{
		Tenancy: tenancy, Issuers: issuers,
		TenantAdminRoles: []string{"lead"}, AdminRoles: []string{"root"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// sign signs a payload as our issuer would, whatever it says.
func sign(t testing.TB, alg jwa.SignatureAlgorithm, payload string) string {
	t.Helper()
	token, err := jws.Sign([]byte(payload), jws.WithKey(alg, secret))
	if err != nil {
		t.Fatal(err)
	}
	return string(token)
}

// signRaw signs with our issuer's secret by HS256, whatever the header says.
func signRaw(header, payload string) string {
	encode := base64.RawURLEncoding.EncodeToString
	signed := encode([]byte(header)) + "." + encode([]byte(payload))
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(signed))
	return signed + "." + encode(mac.Sum(nil))
}

// payload is a believable token's, with some claims changed; a claim set to ""
// is left out.
func payload(t testing.TB, changes map[string]string) string {
	t.Helper()
	now := time.Now().Unix()
	claims := map[string]json.RawMessage{
		"iss": json.RawMessage(`"https://id.example/"`), "sub": json.RawMessage(`"ada"`),
		"aud": json.RawMessage(`"asyncgate"`), "org": json.RawMessage(`{"tenant":"acme"}`),
		"iat": json.RawMessage(fmt.Sprint(now)), "exp": json.RawMessage(fmt.Sprint(now + 600)),
	}
	for name, value := range changes {
		if claims[name] = json.RawMessage(value); value == "" {
			delete(claims, name)
		}
	}
	raw, err := json.Marshal(claims)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func TestVerifyReadsWhatTheIssuerSigned(t *testing.T) {
	t.Parallel()
	v := newVerifier(t, true, theIssuer())
	token := sign(t, jwa.HS256(), payload(t, map[string]string{
		"realm": `{"roles":["editor","lead"]}`, "scope": `"read write"`, "aud": `["other","asyncgate"]`,
		"email": `"ada@acme.example"`, "limits": `{"credit":12345678901234567890.10}`, "exp": "4102444800.5",
	}))
	sc, err := v.Verify(t.Context(), token)
	if err != nil {
		t.Fatal(err)
	}
	want := SecurityContext{
		Issuer: "https://id.example/", Subject: "ada", Tenant: "acme",
		Roles: []string{"editor", "lead"}, Scopes: []string{"read", "write"},
		Extra: map[string]json.RawMessage{
			"email": json.RawMessage(`"ada@acme.example"`), "limits.credit": json.RawMessage(`12345678901234567890.10`),
		},
		IssuedAt: sc.IssuedAt, ExpiresAt: time.Unix(4102444800, 5e8).UTC(),
	}
	if diff := cmp.Diff(want, sc); diff != "" {
		t.Fatal(diff)
	}
	if time.Since(sc.IssuedAt) > time.Minute {
		t.Fatalf("issued at %v", sc.IssuedAt)
	}
}

func TestVerifyRefusesClaims(t *testing.T) {
	t.Parallel()
	at := func(d time.Duration) string { return fmt.Sprint(time.Now().Add(d).Unix()) }
	tests := map[string]struct {
		changes map[string]string
		want    string
	}{
		"NoExpiry":            {map[string]string{"exp": ""}, "no exp"},
		"NullExpiry":          {map[string]string{"exp": "null"}, "no exp"},
		"ExpiryIsText":        {map[string]string{"exp": `"4102444800"`}, "is no time"},
		"ExpiryOverflows":     {map[string]string{"exp": "1e300"}, "is no time"},
		"Expired":             {map[string]string{"exp": at(-31 * time.Second)}, "expired"},
		"ExpiredLongAgo":      {map[string]string{"exp": "0"}, "expired"},
		"NotYet":              {map[string]string{"nbf": at(35 * time.Second)}, "nbf"},
		"IssuedInTheFuture":   {map[string]string{"iat": at(35 * time.Second)}, "iat"},
		"NoIssuer":            {map[string]string{"iss": ""}, "issuer"},
		"AnotherIssuer":       {map[string]string{"iss": `"https://id.example"`}, "issuer"},
		"IssuerIsAList":       {map[string]string{"iss": `["https://id.example/"]`}, "issuer"},
		"NoAudience":          {map[string]string{"aud": ""}, "audience"},
		"AnotherAudience":     {map[string]string{"aud": `["asyncgate2"]`}, "audience"},
		"NoSubject":           {map[string]string{"sub": ""}, "sub is empty"},
		"EmptySubject":        {map[string]string{"sub": `""`}, "sub is empty"},
		"SubjectIsANumber":    {map[string]string{"sub": "7"}, "sub is empty"},
		"SubjectIsLong":       {map[string]string{"sub": `"` + strings.Repeat("a", 256) + `"`}, "longer than 255"},
		"SubjectHoldsNUL":     {map[string]string{"sub": `"a\u0000b"`}, "not allowed"},
		"SubjectIsHalfAPair":  {map[string]string{"sub": `"a\ud800"`}, "not allowed"},
		"RolesAreANumber":     {map[string]string{"realm": `{"roles":5}`}, "realm.roles"},
		"ARoleIsAnObject":     {map[string]string{"realm": `{"roles":[{"name":"root"}]}`}, "realm.roles"},
		"ARoleIsNull":         {map[string]string{"realm": `{"roles":[null]}`}, "realm.roles"},
		"ScopeIsAnObject":     {map[string]string{"scope": `{}`}, "scope"},
		"SubjectInOtherCases": {map[string]string{"sub": "", "SUB": `"ada"`}, "sub is empty"},
	}
	v := newVerifier(t, true, theIssuer())
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := v.Verify(t.Context(), sign(t, jwa.HS256(), payload(t, test.changes)))
			if !errors.Is(err, ErrUnauthenticated) || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("got %v, want ErrUnauthenticated with %q", err, test.want)
			}
		})
	}
}

func TestLeewayIsForBothSidesOfTime(t *testing.T) {
	t.Parallel()
	v := newVerifier(t, true, theIssuer())
	now := time.Now().Unix()
	token := sign(t, jwa.HS256(), payload(t, map[string]string{
		"exp": fmt.Sprint(now - 20), "nbf": fmt.Sprint(now + 20), "iat": fmt.Sprint(now + 20),
	}))
	if _, err := v.Verify(t.Context(), token); err != nil {
		t.Fatal(err)
	}
}

func TestATokenCannotChooseHowItIsVerified(t *testing.T) {
	t.Parallel()
	v := newVerifier(t, true, theIssuer())
	good := payload(t, nil)
	signed := sign(t, jwa.HS256(), good)
	parts := strings.Split(signed, ".")
	encode := base64.RawURLEncoding.EncodeToString
	foreign, err := jws.Sign([]byte(good), jws.WithKey(jwa.HS256(), []byte("another secret of thirty-two bytes or more")))
	if err != nil {
		t.Fatal(err)
	}
	tokens := map[string]string{
		"Empty":            "",
		"NotAToken":        "ada",
		"AlgNone":          encode([]byte(`{"alg":"none"}`)) + "." + parts[1] + ".",
		"AlgNoneSigned":    signRaw(`{"alg":"none"}`, good),
		"NoAlg":            signRaw(`{}`, good),
		"AlgInOtherCase":   signRaw(`{"alg":"hs256"}`, good),
		"HeaderIsNull":     signRaw(`null`, good),
		"HS512":            sign(t, jwa.HS512(), good),
		"ForeignKey":       string(foreign),
		"EmbeddedKey":      signRaw(`{"alg":"HS256","jwk":{"kty":"oct","k":"AAAA"}}`, good),
		"KeyAddress":       signRaw(`{"alg":"HS256","jku":"https://evil.example/keys"}`, good),
		"Critical":         signRaw(`{"alg":"HS256","crit":["x"],"x":1}`, good),
		"Unencoded":        signRaw(`{"alg":"HS256","b64":false}`, good),
		"OtherType":        signRaw(`{"alg":"HS256","typ":"logout+jwt"}`, good),
		"TypeIsANumber":    signRaw(`{"alg":"HS256","typ":1}`, good),
		"NoSignature":      parts[0] + "." + parts[1] + ".",
		"OtherPayload":     parts[0] + "." + encode([]byte(payload(t, map[string]string{"sub": `"root"`}))) + "." + parts[2],
		"FourParts":        signed + ".",
		"Padded":           signed + "=",
		"LineBreak":        signed[:len(signed)-4] + "\n" + signed[len(signed)-4:],
		"JSONForm":         `{"payload":"` + parts[1] + `","protected":"` + parts[0] + `","signature":"` + parts[2] + `"}`,
		"PayloadIsAList":   signRaw(`{"alg":"HS256"}`, `[]`),
		"PayloadIsNull":    signRaw(`{"alg":"HS256"}`, `null`),
		"PayloadIsNotUTF8": signRaw(`{"alg":"HS256"}`, strings.Replace(good, "ada", "ad\xff", 1)),
		"Long":             signRaw(`{"alg":"HS256"}`, payload(t, map[string]string{"x": `"` + strings.Repeat("x", maxToken) + `"`})),
	}
	for name, token := range tokens {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if sc, err := v.Verify(t.Context(), token); !errors.Is(err, ErrUnauthenticated) {
				t.Fatalf("got %v and %v, want ErrUnauthenticated", sc, err)
			}
		})
	}
	for _, typ := range []string{"JWT", "jwt", "at+jwt"} {
		if _, err := v.Verify(t.Context(), signRaw(`{"typ":"`+typ+`","alg":"HS256"}`, good)); err != nil {
			t.Errorf("typ %s: %v", typ, err)
		}
	}
}

func TestTheLastBitsOfASignatureCount(t *testing.T) {
	t.Parallel()
	// 32 bytes in base64 leave two bits over: lax decoders take four spellings.
	signed := sign(t, jwa.HS256(), payload(t, nil))
	v := newVerifier(t, true, theIssuer())
	accepted := 0
	for _, last := range "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_" {
		if _, err := v.Verify(t.Context(), signed[:len(signed)-1]+string(last)); err == nil {
			accepted++
		}
	}
	if accepted != 1 {
		t.Fatalf("%d spellings were accepted", accepted)
	}
}

func TestRolesMayBeAListOrText(t *testing.T) {
	t.Parallel()
	v := newVerifier(t, true, theIssuer())
	for raw, want := range map[string][]string{
		`["a b","c"]`: {"a b", "c"}, `"a b,c, d"`: {"a", "b", "c", "d"}, `""`: nil, `[]`: nil, `null`: nil, `[""]`: nil,
	} {
		sc, err := v.Verify(t.Context(), sign(t, jwa.HS256(), payload(t, map[string]string{"realm": `{"roles":` + raw + `}`})))
		if err != nil || !slices.Equal(sc.Roles, want) {
			t.Errorf("%s: got %q and %v, want %q", raw, sc.Roles, err, want)
		}
	}
}

func TestScopesComeFromScopeOrScp(t *testing.T) {
	t.Parallel()
	v := newVerifier(t, true, theIssuer())
	for _, changes := range []map[string]string{
		{"scope": `"a b"`}, {"scp": `["a","b"]`}, {"scp": `"a b"`}, {"scope": `"a b"`, "scp": `"c"`},
	} {
		sc, err := v.Verify(t.Context(), sign(t, jwa.HS256(), payload(t, changes)))
		if err != nil || !slices.Equal(sc.Scopes, []string{"a", "b"}) {
			t.Errorf("%v: got %q and %v", changes, sc.Scopes, err)
		}
	}
}

func TestWithTenancyATokenNamesATenantOfItsIssuer(t *testing.T) {
	t.Parallel()
	bound := theIssuer()
	bound.Tenants = []string{"acme", "globex"}
	tests := map[string]struct {
		issuer Issuer
		org    string
		want   error
	}{
		"Named":      {bound, `{"tenant":"acme"}`, nil},
		"Any":        {theIssuer(), `{"tenant":"Acme Corp"}`, nil},
		"NotTheirs":  {bound, `{"tenant":"initech"}`, ErrTenantUnknown},
		"StarIsNone": {bound, `{"tenant":"*"}`, ErrTenantUnknown},
		"Missing":    {theIssuer(), ``, ErrTenantUnknown},
		"Empty":      {theIssuer(), `{"tenant":""}`, ErrTenantUnknown},
		"Null":       {theIssuer(), `{"tenant":null}`, ErrTenantUnknown},
		"AList":      {theIssuer(), `{"tenant":["acme"]}`, ErrTenantUnknown},
		"NUL":        {theIssuer(), `{"tenant":"a\u0000"}`, ErrTenantUnknown},
		"Long":       {theIssuer(), `{"tenant":"` + strings.Repeat("a", 256) + `"}`, ErrTenantUnknown},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			token := sign(t, jwa.HS256(), payload(t, map[string]string{"org": test.org}))
			_, err := newVerifier(t, true, test.issuer).Verify(t.Context(), token)
			if !errors.Is(err, test.want) || errors.Is(err, ErrUnauthenticated) {
				t.Errorf("got %v, want %v", err, test.want)
			}
			sc, err := newVerifier(t, false, test.issuer).Verify(t.Context(), token)
			if err != nil || sc.Tenant != "" {
				t.Errorf("without tenancy: got %q and %v", sc.Tenant, err)
			}
		})
	}
}

func TestIssuersAreToldApart(t *testing.T) {
	t.Parallel()
	other := theIssuer()
	other.Issuer, other.HS256Secret = "https://other.example/", []byte("the other secret of thirty-two bytes")
	v := newVerifier(t, true, theIssuer(), other)
	token := sign(t, jwa.HS256(), payload(t, map[string]string{"iss": `"https://other.example/"`}))
	if _, err := v.Verify(t.Context(), token); !errors.Is(err, ErrUnauthenticated) {
		t.Fatalf("one issuer spoke for the other: %v", err)
	}
}

func TestAVerifierNeedsIssuersThatCanBeTrusted(t *testing.T) {
	t.Parallel()
	short, nameless, early := theIssuer(), theIssuer(), theIssuer()
	short.HS256Secret, nameless.Issuer, early.Leeway = []byte("too short a secret"), "", -time.Second
	for name, issuers := range map[string][]Issuer{
		"None": nil, "Twice": {theIssuer(), theIssuer()}, "ShortSecret": {short}, "Nameless": {nameless}, "NegativeLeeway": {early},
	} {
		_, err := NewVerifier(Policy{Issuers: issuers})
		if err == nil || strings.Contains(err.Error(), "too short a secret") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestBearer(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]string{
		"Bearer abc": "abc", "bearer abc": "abc", "BEARER   abc ": "abc",
		"": "", "Bearer": "", "Bearer ": "", "Basic abc": "", "abc": "", "Bearer a b": "", "Bearer\tabc": "",
	} {
		if token, ok := Bearer(header); token != want || ok != (want != "") {
			t.Errorf("%q: got %q and %v", header, token, ok)
		}
	}
}

func FuzzVerifyAcceptsOnlyWhatWasSigned(f *testing.F) {
	v := newVerifier(f, true, theIssuer())
	signed := sign(f, jwa.HS256(), payload(f, nil))
	for _, seed := range []string{signed, signed + "=", "a.b.c", "e30.e30.", strings.ToLower(signed), " " + signed} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, token string) {
		if _, err := v.Verify(t.Context(), token); err == nil && token != signed {
			t.Fatalf("accepted %q", token)
		}
	})
}
