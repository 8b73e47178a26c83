package raw

import (
	"bytes"
	"testing"
)

func TestPlainFindsTheFirstByteThatIsNot(t *testing.T) {
	t.Parallel()
	for c := range 256 {
		want := c < 0x20 || c == '"' || c == '\\'
		for at := range 20 {
			text := bytes.Repeat([]byte{'x'}, 20)
			text[at] = byte(c)
			if got := plain(text); want && got != at || !want && got != len(text) {
				t.Errorf("byte %#x at %d: got %d", c, at, got)
			}
			if at < 19 { // what follows it must not matter
				text[at+1] = byte(c) ^ 1
				if got := plain(text); want && got != at {
					t.Errorf("byte %#x at %d and another: got %d", c, at, got)
				}
			}
		}
	}
}
