package schema_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"asyncgate/internal/executor/schema"
)

// The fixture was written by graphql-js, the reference implementation.
func TestIntrospectionSaysWhatTheFileSays(t *testing.T) {
	t.Parallel()
	introspected, err := schema.FromIntrospection([]byte(read(t, "testdata/shop.json")))
	if err != nil {
		t.Fatal(err)
	}
	// Merged, since that spells out the reasons of @deprecated as servers do.
	want, got := merge(t, shop(t), gateway(t)), merge(t, introspected, gateway(t))
	if diff := cmp.Diff(printed(want.Schema), printed(got.Schema)); diff != "" {
		t.Errorf("-file +introspection\n%s", diff)
	}
}

// graphql-js cannot print the default of a custom scalar that is an object.
// Mercurius writes the indexes of an error's path as text.
func TestADefaultThatTheServerCannotPrintIsLeftOut(t *testing.T) {
	t.Parallel()
	answerAt := func(kind, path string) []byte {
		return []byte(`{"errors":[{"message":"Cannot convert value to AST","path":` + path + `}],
			"data":{"__schema":{"queryType":{"name":"Query"},"directives":[],"types":[
				{"kind":"OBJECT","name":"Query","fields":[{"name":"a","args":[],"type":{"kind":"SCALAR","name":"Int"}}]},
				{"kind":"INPUT_OBJECT","name":"In","inputFields":[{"name":"x","type":{"kind":"` + kind + `","name":"Int","ofType":{"kind":"SCALAR","name":"Int"}},"defaultValue":null}]}]}}}`)
	}
	answer := func(kind string) []byte {
		return answerAt(kind, `["__schema","types",1,"inputFields",0,"defaultValue"]`)
	}
	if _, err := schema.FromIntrospection(answerAt("SCALAR", `["__schema","types","1","inputFields","0","defaultValue"]`)); err != nil {
		t.Errorf("indexes as text: %v", err)
	}
	for _, path := range []string{`["__schema","types","x","inputFields","0","defaultValue"]`, `["__schema","types",7,"defaultValue"]`, `["__schema",1,"defaultValue"]`} {
		if _, err := schema.FromIntrospection(answerAt("SCALAR", path)); !errors.Is(err, schema.ErrAnswer) {
			t.Errorf("%s: got %v", path, err)
		}
	}
	if _, err := schema.FromIntrospection(answer("SCALAR")); err != nil {
		t.Errorf("nullable: %v", err)
	}
	if _, err := schema.FromIntrospection(answer("NON_NULL")); !errors.Is(err, schema.ErrAnswer) {
		t.Errorf("non-null: got %v", err)
	}
}

func TestUnusableAnswersSayWhatToDo(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("<p>https://acme.internal:9001/secret ", 5000)
	for name, c := range map[string]struct{ answer, want string }{
		"Empty":     {" \n", "it is empty"},
		"HTML":      {"<html><a href='http://acme.internal/x'>" + long, "it is not what introspection answers"},
		"Escaped":   {`oops http:\/\/acme.internal`, "it is not what introspection answers"},
		"Errors":    {`{"errors":[{"message":"introspection is off, see https://acme.internal/docs ` + strings.Repeat("x", 5000) + `"}],"data":null}`, "introspection is off"},
		"NoData":    {`{"data":null}`, "it has no data"},
		"NoSchema":  {`{"data":{"__schema":null}}`, "it has no data.__schema"},
		"Array":     {`[1]`, "it is not what introspection answers"},
		"WrongType": {`{"data":{"__schema":{"types":"acme.internal"}}}`, "it is not what introspection answers"},
		"Cut":       {`{"data":{"__schema":{"types":[`, "it is not what introspection answers"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := schema.FromIntrospection([]byte(c.answer))
			if !errors.Is(err, schema.ErrAnswer) {
				t.Fatalf("got %v", err)
			}
			text := err.Error()
			if !strings.Contains(text, c.want) || !strings.HasSuffix(text, "or give its schema as a file") {
				t.Errorf("got %s", text)
			}
			if strings.Contains(text, "://") || len(text) > 600 {
				t.Errorf("%d bytes, or a URL: %s", len(text), text)
			}
		})
	}
}

func TestInvalidAnswersNameThePlace(t *testing.T) {
	t.Parallel()
	wrapped := `{"kind":"SCALAR","name":"Int"}`
	for range 9 {
		wrapped = `{"kind":"LIST","ofType":` + wrapped + `}`
	}
	for name, c := range map[string]struct{ types, want string }{
		"TooDeep":       {object("Query", `{"name":"a","type":{"kind":"LIST","ofType":{"kind":"LIST","ofType":{"kind":"NON_NULL","ofType":null}}}}`), "type Query: field a: its type is missing, or has more than 9 wrappers"},
		"NoType":        {object("Query", `{"name":"a"}`), "type Query: field a: its type is missing"},
		"TwiceNonNull":  {object("Query", `{"name":"a","type":{"kind":"NON_NULL","ofType":{"kind":"NON_NULL","ofType":{"name":"Int"}}}}`), "non-null twice"},
		"Default":       {object("Query", `{"name":"a","type":{"name":"Int"},"args":[{"name":"b","type":{"name":"Int"},"defaultValue":"{\"json\": 1}"}]}`), "type Query: field a: input b: its default"},
		"LongName":      {object("Query", `{"name":"`+strings.Repeat("a b", 5000)+` http://acme.internal"}`), "type Query: field"},
		"Name":          {object("Query", `{"name":"a b","type":{"name":"Int"}}`), `"a b" is no name`},
		"Kind":          {`{"kind":"THING","name":"Query"}`, `type Query: "THING" is no kind of type`},
		"UndefinedType": {object("Query", `{"name":"a","type":{"name":"Nope"}}`), "Undefined type Nope"},
		"NoFields":      {object("Query", ``), "must define one or more fields"},
		"NoRoot":        {object("Other", `{"name":"a","type":{"name":"Int"}}`), "refers to a type Query that does not exist"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := schema.FromIntrospection(answer(c.types))
			if !errors.Is(err, schema.ErrInvalid) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
			if strings.Contains(err.Error(), "://") || len(err.Error()) > 600 {
				t.Errorf("%d bytes, or a URL: %v", len(err.Error()), err)
			}
		})
	}
	if _, err := schema.FromIntrospection(answer(object("Query", `{"name":"a","type":`+wrapped+`}`))); err != nil {
		t.Errorf("nine wrappers: %v", err)
	}
}

func TestDefaultIsOneLiteralAndNothingAfterIt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		literal, want string
	}{
		{`{a: 1, b: {c: [true, null, "x"], d: RED}}`, `{a:1,b:{c:[true,null,"x"],d:RED}}`},
		{`-123456789012345678901234567890.5e-3`, `-123456789012345678901234567890.5e-3`},
		{`"a \"q\" \\ \n \u00e9 \uD83D\uDE00"`, `"a \"q\" \\ \n é 😀"`},
		{`"""block"""`, `"block"`},
		{`[]`, `[]`},
		{`{}`, `{}`},
		{`null`, `null`},
		{` `, ``},
		{`1 # comment`, `1`},
		{`1 @skip(if: true)`, "refused"},
		{`1, $w: T = 2`, "refused"},
		{`1){f} query X($v:T=2`, "refused"},
		{`1){g:f} fragment A on B{f} query($v:T=2`, "refused"},
		{`1){f g(a:2`, "refused"},
		{`$v`, "refused"},
		{`{"json": 1}`, "refused"},
		{`True False`, "refused"},
	} {
		quoted, _ := json.Marshal(c.literal)
		got, err := schema.FromIntrospection(answer(object("Query",
			fmt.Sprintf(`{"name":"a","type":{"name":"Int"},"args":[{"name":"b","type":{"name":"Int"},"defaultValue":%s}]}`, quoted))))
		switch {
		case c.want == "refused" && err == nil:
			t.Errorf("%s is taken", c.literal)
		case c.want == "refused":
		case err != nil:
			t.Errorf("%s: %v", c.literal, err)
		default:
			value := got.Query.Fields.ForName("a").Arguments[0].DefaultValue
			if value == nil && c.want != "" || value != nil && value.String() != c.want {
				t.Errorf("%s became %v", c.literal, value)
			}
		}
	}
}

// object is an object type as introspection answers it.
func object(name, field string) string {
	return fmt.Sprintf(`{"kind":"OBJECT","name":%q,"fields":[%s]}`, name, field)
}

// answer is an introspection answer with Query as root.
func answer(types string) []byte {
	return []byte(`{"data":{"__schema":{"queryType":{"name":"Query"},"types":[` + types + `],"directives":[]}}}`)
}

func FuzzFromIntrospection(f *testing.F) {
	f.Add([]byte(read(f, "testdata/shop.json")))
	f.Add(answer(object("Query", `{"name":"a","type":{"name":"Int"},"args":[{"name":"b","type":{"name":"Int"},"defaultValue":"[1]"}]}`)))
	own := gateway(f)
	f.Fuzz(func(t *testing.T, answer []byte) {
		upstream, err := schema.FromIntrospection(answer)
		if err != nil {
			if !errors.Is(err, schema.ErrInvalid) && !errors.Is(err, schema.ErrAnswer) || len(err.Error()) > 2000 {
				t.Fatal(err)
			}
			return
		}
		bare := *upstream
		bare.Directives = nil // they may have places of tomorrow's
		if _, err := schema.FromSDL("printed.graphqls", printed(&bare)); err != nil {
			t.Fatalf("what was introspected is no valid SDL: %v\n%s", err, printed(&bare))
		}
		if _, err := schema.Merge(upstream, own); err != nil && !errors.Is(err, schema.ErrConflict) && !errors.Is(err, schema.ErrInvalid) {
			t.Fatal(err)
		}
	})
}
