package config

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
)

// present notes a key without a value.
func (r *reader) present(e entry) bool {
	if _, null := e.node.(*ast.NullNode); null || e.node == nil {
		r.mistake(e, "has no value")
		return false
	}
	return true
}

// empty reports whether an entry is a list or a mapping of nothing.
func empty(e entry) bool {
	switch node := e.node.(type) {
	case *ast.SequenceNode:
		return len(node.Values) == 0
	case *ast.MappingNode:
		return len(node.Values) == 0
	default:
		return false
	}
}

// text returns a text that is not empty, with the environment put in.
func (r *reader) text(e entry) (string, bool) {
	if !r.present(e) {
		return "", false
	}
	written, ok := writtenText(e.node)
	if !ok {
		r.mistake(e, "must be text; put it in quotes")
		return "", false
	}
	text, ok := r.expand(e, written)
	if ok && text == "" {
		r.mistake(e, "is empty")
		return "", false
	}
	return text, ok
}

// writtenText returns a text as it stands in the file.
func writtenText(node ast.Node) (string, bool) {
	switch node := node.(type) {
	case *ast.StringNode:
		return node.Value, true
	case *ast.LiteralNode:
		return node.Value.Value, true
	default:
		return "", false
	}
}

var environmentName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// expand puts the environment's values in place of each ${NAME}. They are not
// looked at again.
func (r *reader) expand(e entry, text string) (string, bool) {
	var b strings.Builder
	complete := true
	for {
		before, after, found := strings.Cut(text, "${")
		b.WriteString(before)
		if !found {
			return b.String(), complete
		}
		name, rest, closed := strings.Cut(after, "}")
		if !closed || !environmentName.MatchString(name) {
			r.mistake(e, "has a ${ that no name of an environment variable and } follow")
			return "", false
		}
		value, set := r.env(name)
		if !set {
			r.mistake(e, "reads the environment variable %s, which is not set", name)
			complete = false
		}
		b.WriteString(value)
		text = rest
	}
}

// scalar returns a number's or boolean's text: written plainly, or read from
// the environment.
func (r *reader) scalar(e entry) (string, bool) {
	switch node := e.node.(type) {
	case *ast.IntegerNode, *ast.BoolNode:
		return node.GetToken().Value, true
	case *ast.StringNode:
		if strings.Contains(node.Value, "${") {
			return r.expand(e, node.Value)
		}
	}
	return "", true
}

func (r *reader) integer(e entry, least, most int) (int, bool) {
	if !r.present(e) {
		return 0, false
	}
	text, ok := r.scalar(e)
	if !ok {
		return 0, false
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > most {
		if most == math.MaxInt32 {
			r.mistake(e, "must be a whole number, at least %d", least)
		} else {
			r.mistake(e, "must be a whole number from %d to %d", least, most)
		}
		return 0, false
	}
	return n, true
}

func (r *reader) boolean(e entry) (value, ok bool) {
	if !r.present(e) {
		return false, false
	}
	text, ok := r.scalar(e)
	if ok && text != "true" && text != "false" {
		r.mistake(e, "must be true or false")
		return false, false
	}
	return text == "true", ok
}

func (r *reader) duration(e entry, least time.Duration) (time.Duration, bool) {
	if !r.present(e) {
		return 0, false
	}
	written, _ := writtenText(e.node)
	text, ok := r.expand(e, written)
	if !ok {
		return 0, false
	}
	d, err := time.ParseDuration(text)
	switch {
	case err != nil:
		r.mistake(e, "must be a duration such as 500ms, 30s, 5m or 24h")
	case d < least && least == time.Nanosecond:
		r.mistake(e, "must be longer than 0")
	case d < least:
		r.mistake(e, "must be at least %s", least)
	default:
		return d, true
	}
	return 0, false
}

var units = []struct {
	suffix string
	bytes  int64
}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"", 1}}

// size returns a number of bytes: 1MiB, 4096, or 0 for no limit.
func (r *reader) size(e entry) (int64, bool) {
	if !r.present(e) {
		return 0, false
	}
	text, ok := r.scalar(e)
	if ok && text == "" {
		text, _ = writtenText(e.node)
	}
	if !ok {
		return 0, false
	}
	for _, unit := range units {
		number, is := strings.CutSuffix(text, unit.suffix)
		if !is {
			continue
		}
		if n, err := strconv.ParseInt(number, 10, 64); err == nil && n >= 0 && n <= math.MaxInt64/unit.bytes {
			return n * unit.bytes, true
		}
		break
	}
	r.mistake(e, "must be a size such as 256KiB, 8MiB or 1GiB, or 0 for no limit")
	return 0, false
}

func (r *reader) oneOf(e entry, words []string) (string, bool) {
	text, ok := r.text(e)
	if ok && !slices.Contains(words, text) {
		r.mistake(e, "must be one of %s", strings.Join(words, ", "))
		return "", false
	}
	return text, ok
}

// items returns a list's entries.
func (r *reader) items(e entry) []entry {
	if !r.present(e) {
		return nil
	}
	list, ok := e.node.(*ast.SequenceNode)
	if !ok {
		r.mistake(e, "must be a list")
		return nil
	}
	items := make([]entry, len(list.Values))
	for i, node := range list.Values {
		items[i] = entry{path: e.path + "[" + strconv.Itoa(i) + "]", line: e.line, node: node}
		if node != nil && node.GetToken() != nil {
			items[i].line = node.GetToken().Position.Line
		}
	}
	return items
}

func (r *reader) texts(e entry) []string {
	var texts []string
	for _, item := range r.items(e) {
		if text, ok := r.text(item); ok {
			texts = append(texts, text)
		}
	}
	return texts
}
