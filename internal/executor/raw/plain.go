package raw

import (
	"encoding/binary"
	"math/bits"
)

// A byte in each of a word's eight.
const (
	ones  = 0x0101010101010101
	highs = 0x80 * ones
)

// plain counts the bytes at the beginning of text that stand for themselves in
// a JSON string: no quote, no backslash, no control character. Answers are
// mostly of these, so it looks at eight at a time.
func plain(text []byte) int {
	n := 0
	for ; len(text)-n >= 8; n += 8 {
		word := binary.LittleEndian.Uint64(text[n:])
		// Each marks the high bit of a byte it is about. A borrow may mark bytes
		// above such a one too, so that only the lowest mark counts.
		quoted, escaped := word^'"'*ones, word^'\\'*ones
		quote := (quoted - ones) &^ quoted
		escape := (escaped - ones) &^ escaped
		control := (word - 0x20*ones) &^ word
		if marks := (quote | escape | control) & highs; marks != 0 {
			return n + bits.TrailingZeros64(marks)/8
		}
	}
	for n < len(text) && text[n] >= 0x20 && text[n] != '"' && text[n] != '\\' {
		n++
	}
	return n
}
