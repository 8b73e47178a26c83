package auth

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestHeadersTellWhoCalls(t *testing.T) {
	t.Parallel()
	h, err := CompileHeaders(map[string]string{
		"x-user-id": "{issuer}#{subject}", "X-Tenant": "tenant={tenant}", "X-Roles": "{roles?}", "X-Scopes": "{scopes?}",
		"X-Email": "{email}", "X-Credit": "{limits.credit}", "X-Teams": "{teams}", "X-Staff": "{staff}",
		"X-Absent": "by {absent?}", "X-Null": "{null?}", "X-Via": "asyncgate",
	}, []string{"email", "limits.credit", "teams", "staff", "absent", "null"})
	if err != nil {
		t.Fatal(err)
	}
	sc := ada()
	sc.Roles, sc.Scopes = []string{"editor", "lead"}, nil
	sc.Extra = map[string]json.RawMessage{
		"email": json.RawMessage(`"ada@acme.example"`), "limits.credit": json.RawMessage(`12345678901234567890.10`),
		"teams": json.RawMessage(` ["a", 7, true]`), "staff": json.RawMessage(`true`), "null": json.RawMessage(`null`),
	}
	got, err := h.For(sc)
	if err != nil {
		t.Fatal(err)
	}
	want := http.Header{
		"X-User-Id": {"https://id.example/#ada"}, "X-Tenant": {"tenant=acme"}, "X-Roles": {"editor,lead"},
		"X-Email": {"ada@acme.example"}, "X-Credit": {"12345678901234567890.10"}, "X-Teams": {"a,7,true"},
		"X-Staff": {"true"}, "X-Via": {"asyncgate"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatal(diff)
	}
}

func TestAnIdentityThatCannotBeToldIsForbidden(t *testing.T) {
	t.Parallel()
	extra := func(raw string) SecurityContext {
		return SecurityContext{Extra: map[string]json.RawMessage{"x": json.RawMessage(raw)}}
	}
	tests := map[string]struct {
		template string
		sc       SecurityContext
	}{
		"Missing":                {"{subject}", SecurityContext{}},
		"EmptyText":              {"{x}", extra(`""`)},
		"EmptyList":              {"{x}", extra(`[]`)},
		"Null":                   {"{x}", extra(`null`)},
		"MissingBesideOptional":  {"{tenant?}{x}", SecurityContext{}},
		"LineBreak":              {"{subject}", SecurityContext{Subject: "secret\r\nX-Admin: true"}},
		"NotASCII":               {"{subject}", SecurityContext{Subject: "secretä"}},
		"NotUTF8":                {"{subject}", SecurityContext{Subject: "secret\xff"}},
		"Tab":                    {"{subject}", SecurityContext{Subject: "secret\t"}},
		"SpaceBefore":            {"{subject}", SecurityContext{Subject: " secret"}},
		"SpaceAfter":             {"<{subject}>", SecurityContext{Subject: "secret "}},
		"ItemWithComma":          {"{roles}", SecurityContext{Roles: []string{"secret,root"}}},
		"ItemWithSpaceBefore":    {"{roles}", SecurityContext{Roles: []string{"a", " secret"}}},
		"EmptyItem":              {"{roles}", SecurityContext{Roles: []string{"secret", ""}}},
		"OptionalIsStillChecked": {"{roles?}", SecurityContext{Roles: []string{"secret,root"}}},
		"Object":                 {"{x}", extra(`{"secret":1}`)},
		"ObjectInList":           {"{x}", extra(`[{"secret":1}]`)},
		"ListInList":             {"{x}", extra(`[["secret"]]`)},
		"NullInList":             {"{x}", extra(`["secret",null]`)},
		"CommaInList":            {"{x}", extra(`["secret,root"]`)},
		"EscapedLineBreak":       {"{x}", extra(`"secret\n"`)},
		"Malformed":              {"{x}", extra(`["secret"`)},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, err := CompileHeaders(map[string]string{"X-Who": test.template}, []string{"x"})
			if err != nil {
				t.Fatal(err)
			}
			got, err := h.For(test.sc)
			if !errors.Is(err, ErrForbidden) || got != nil {
				t.Fatalf("got %v and %v, want ErrForbidden", got, err)
			}
			if strings.Contains(err.Error(), "secret") || !strings.Contains(err.Error(), "X-Who") {
				t.Fatalf("the error must name the header and not the value: %v", err)
			}
		})
	}
}

func TestCompileHeadersRefuses(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"", "X User", "X-User:", "Ä", "Host", "Connection", "connection", "TE", "Transfer-Encoding", "Upgrade", "Authorization",
		"Cookie", "Content-Length", "content-type", "Idempotency-Key", "X-Async-Attempt", "x-async-operation-id", "Proxy-Authorization",
	} {
		if _, err := CompileHeaders(map[string]string{name: "{subject}"}, nil); err == nil {
			t.Errorf("the header %q was accepted", name)
		}
	}
	for _, template := range []string{
		"", "{", "}", "{subject", "subject}", "{}", "{?}", "{{subject}}", "{Subject}", "{email}", "ä", "a\n", " {subject}", "{subject} ",
	} {
		if _, err := CompileHeaders(map[string]string{"X-Who": template}, []string{"other"}); err == nil {
			t.Errorf("the template %q was accepted", template)
		}
	}
	if _, err := CompileHeaders(map[string]string{"X-Who": "a", "x-who": "b"}, nil); err == nil {
		t.Error("one header was accepted twice")
	}
}

func TestCompileHeadersTellsEveryFault(t *testing.T) {
	t.Parallel()
	_, err := CompileHeaders(map[string]string{"Host": "{subject}", "X-Who": "{who}", "X-Ok": "{subject}"}, nil)
	if err == nil || !strings.Contains(err.Error(), "Host") || !strings.Contains(err.Error(), "{who}") {
		t.Fatalf("got %v", err)
	}
}

func FuzzHeadersHoldPrintableASCII(f *testing.F) {
	f.Add("{subject}", "ada", "editor", `"x"`)
	f.Add("u={subject};r={roles?};x={x?}", "a\r\nb", "a,b", `["a",1,true,null]`)
	f.Add("{x}", "ä", "\x00", "\"\\u000a\"")
	f.Fuzz(func(t *testing.T, template, subject, role, extra string) {
		h, err := CompileHeaders(map[string]string{"X-Who": template}, []string{"x"})
		if err != nil {
			return
		}
		header, err := h.For(SecurityContext{
			Subject: subject, Roles: []string{role, "editor"}, Extra: map[string]json.RawMessage{"x": json.RawMessage(extra)},
		})
		if err != nil {
			if !errors.Is(err, ErrForbidden) {
				t.Fatalf("got %v, want ErrForbidden", err)
			}
			return
		}
		for _, value := range header["X-Who"] {
			for i := range len(value) {
				if value[i] < 0x20 || value[i] > 0x7e {
					t.Fatalf("%q has the byte %#x", value, value[i])
				}
			}
		}
	})
}
