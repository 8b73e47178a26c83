package upstreams_test

import (
	"strings"
	"testing"

	"asyncgate/test/upstreams"
)

// shops are the servers of one schema.
var shops = map[string]func(testing.TB) *upstreams.Server{
	"Yoga": upstreams.YogaShop, "Apollo": upstreams.Apollo, "Mercurius": upstreams.Mercurius, "Gqlgen": upstreams.Gqlgen,
}

func TestEveryShopAnswersNumbersThatNoDoubleHolds(t *testing.T) {
	t.Parallel()
	for name, start := range shops {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := start(t)
			got := post(t, server, `{ values { big bigs decimal } }`, "")
			want := `{"data":{"values":{"big":9007199254740993,"bigs":[-123456789012345678901234567890,null,7],"decimal":1.10}}}`
			if strings.TrimSpace(got) != want {
				t.Errorf("answered %s\nwant %s", got, want)
			}
			got = post(t, server, `query ($j: JSON) { echo { exact(json: $j, big: 12) } }`, `{"j": [9007199254740993, 1.10]}`)
			if !strings.Contains(got, `[9007199254740993,1.10]`) {
				t.Errorf("echoed %s", got)
			}
			got = post(t, server, `mutation { refuse(code: "C") { product { id } } }`, "")
			for _, part := range []string{`"message":"refused"`, `"path":["refuse"]`, `"code":"C"`, `"data":{"refuse":null}`} {
				if !strings.Contains(got, part) {
					t.Errorf("answered %s\nwithout %s", got, part)
				}
			}
		})
	}
}

func TestPostGraphileServesADatabaseOfItsOwn(t *testing.T) {
	t.Parallel()
	server := upstreams.PostGraphile(t)
	got := post(t, server, `{ thingByRowId(rowId: "9007199254740993") { rowId name price color } fails(code: "XX123") }`, "")
	for _, part := range []string{`{"rowId":"9007199254740993","name":"Far","price":"-7","color":"green"}`, `"fails":null`, `"message":"it fails: XX123"`} {
		if !strings.Contains(got, part) {
			t.Errorf("answered %s\nwithout %s", got, part)
		}
	}
}
