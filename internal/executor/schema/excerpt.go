package schema

import "strings"

const (
	// excerptLength bounds what an error repeats of an upstream's text.
	excerptLength = 200
	// excerptSource bounds how much of that text is looked at.
	excerptSource = 4096
)

// excerpt is the beginning of an upstream's text, safe to show: one line, short,
// and without words that hold a URL.
func excerpt(text string) string {
	text = text[:min(len(text), excerptSource)]
	words := strings.Fields(strings.ToValidUTF8(text, "\ufffd"))
	for i, word := range words {
		if strings.Contains(strings.ReplaceAll(word, `\`, ""), "//") {
			words[i] = "[…]"
		}
	}
	runes := []rune(strings.Join(words, " "))
	if len(runes) > excerptLength {
		return string(runes[:excerptLength-1]) + "…"
	}
	return string(runes)
}
