package server

import (
	"strconv"
	"strings"
	"time"
)

// maxWait bounds how long a request may wait for an operation's end.
const maxWait = 60 * time.Second

// preferences is what a client would rather have, by RFC 7240, of what there
// is here. What is not understood is ignored, and so is a repetition.
type preferences struct {
	async bool           // respond-async
	wait  *time.Duration // wait, at most maxWait
}

// parsePrefer reads Prefer headers.
func parsePrefer(header []string) (p preferences) {
	seen := map[string]bool{}
	for preference := range splitList(strings.Join(header, ","), ',') {
		name, value := readPreference(preference)
		if seen[name] {
			continue
		}
		seen[name] = true
		switch name {
		case "respond-async":
			p.async = p.async || value == ""
		case "wait":
			p.wait = seconds(value)
		}
	}
	return p
}

// readPreference answers the name in lower case and the value, without quotes
// and without parameters.
func readPreference(text string) (name, value string) {
	for first := range splitList(text, ';') {
		name, value, _ = strings.Cut(first, "=")
		break
	}
	value = strings.Trim(value, " \t")
	if inner, quoted := strings.CutPrefix(value, `"`); quoted {
		value = strings.TrimSuffix(inner, `"`) // nothing here has a value that needs escapes
	}
	return strings.ToLower(strings.Trim(name, " \t")), value
}

// splitList yields the parts of a header between separators outside of quoted
// strings.
func splitList(text string, separator byte) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		begin, quoted := 0, false
		for i := 0; i < len(text); i++ {
			switch c := text[i]; {
			case c == '"':
				quoted = !quoted
			case c == '\\' && quoted:
				i++
			case c == separator && !quoted:
				if !yield(text[begin:i]) {
					return
				}
				begin = i + 1
			}
		}
		yield(text[begin:])
	}
}

// seconds reads a number of seconds, nil where it is none.
func seconds(text string) *time.Duration {
	if text == "" || strings.Trim(text, "0123456789") != "" {
		return nil
	}
	wait := maxWait
	if n, err := strconv.Atoi(text); err == nil { // else it is beyond any number
		wait = min(wait, time.Duration(min(n, 3600))*time.Second)
	}
	return &wait
}

// milliseconds is the wait as waitMs has it, nil where there is none.
func (p preferences) milliseconds() *int {
	if p.wait == nil {
		return nil
	}
	ms := int(p.wait.Milliseconds())
	return &ms
}

// applied is the Preference-Applied header for what was done as preferred.
func (p preferences) applied() string {
	var applied []string
	if p.async {
		applied = append(applied, "respond-async")
	}
	if p.wait != nil {
		applied = append(applied, "wait="+strconv.Itoa(int(p.wait.Seconds())))
	}
	return strings.Join(applied, ", ")
}
