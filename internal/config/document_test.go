package config

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"testing"
)

// keyPaths says where the keys of a set stand in docs/configuration.md, by the
// set's name in keys.
var keyPaths = map[string]string{
	"top": "", "auth": "auth.", "issuer": "auth.jwt[].", "claims": "auth.jwt[].claims.", "authority": "authority.",
	"tenant": "tenants.NAME.", "upstream": "upstream.", "identity": "identity.", "mutation": "mutations.NAME.",
	"worker": "worker.", "retention": "retention.", "limits": "limits.", "cors": "cors.", "log": "log.", "breaker": "breaker.",
}

// sectionKeys have no line of their own: their keys have.
var sectionKeys = []string{
	"auth", "auth.jwt", "auth.jwt[].claims", "authority", "upstream", "tenants", "identity", "mutations",
	"worker", "breaker", "retention", "limits", "cors", "log",
}

var documentedKey = regexp.MustCompile("(?m)^\\| `([^`]+)` \\|")

func TestTheDocumentHasEveryKeyThatCanBeUsedAndNoOther(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "configuration.md"))
	if err != nil {
		t.Fatal(err)
	}
	var documented []string
	for _, match := range documentedKey.FindAllSubmatch(text, -1) {
		documented = append(documented, string(match[1]))
	}
	var usable []string
	sets := reflect.TypeOf(keys)
	for i := range sets.NumField() {
		name := sets.Field(i).Name
		path, ok := keyPaths[name]
		if !ok {
			t.Errorf("keyPaths does not say where the keys of %s stand", name)
		}
		now := reflect.ValueOf(keys).Field(i).FieldByName("now")
		for k := range now.Len() {
			usable = append(usable, path+now.Index(k).String())
		}
	}
	for _, key := range usable {
		if !slices.Contains(documented, key) && !slices.Contains(sectionKeys, key) {
			t.Errorf("%s has no line in docs/configuration.md", key)
		}
	}
	for i, key := range documented {
		if !slices.Contains(usable, key) || slices.Contains(documented[:i], key) {
			t.Errorf("docs/configuration.md has a line for %s that is not to be there", key)
		}
	}
}
