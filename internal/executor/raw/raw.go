// Package raw reads JSON text without decoding it: values stay the bytes that
// somebody wrote, so that big numbers, escapes and the order of members reach
// the client unchanged. One pass checks the syntax of RFC 8259 in full.
package raw

import (
	"bytes"
	"encoding/json"
	"errors"
	"unicode/utf8"
)

// ErrSyntax: the text is not JSON.
var ErrSyntax = errors.New("malformed JSON")

// maxDepth bounds nesting, and with it the recursion of the scanner.
const maxDepth = 10_000

// Member is a member of an object. Name is the text between the quotes with
// its escapes resolved; Value is the bytes as written.
type Member struct {
	Name  string
	Value json.RawMessage
}

// Object splits an object into its members, in the order written. Errors:
// ErrSyntax (also where text is another kind of value).
func Object(text []byte) ([]Member, error) {
	s := scanner{text: text}
	var members []Member
	err := s.document('{', func() error {
		return s.object(1, func(name, value []byte) error {
			plain, err := unquote(name)
			if err != nil {
				return err
			}
			members = append(members, Member{Name: plain, Value: value})
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	return members, nil
}

// Array splits an array into its elements. Errors: ErrSyntax (also where text
// is another kind of value).
func Array(text []byte) ([]json.RawMessage, error) {
	s := scanner{text: text}
	var elements []json.RawMessage
	err := s.document('[', func() error {
		return s.array(1, func(value []byte) error {
			elements = append(elements, value)
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	return elements, nil
}

// Valid reports whether text is one JSON value in valid UTF-8.
func Valid(text []byte) bool {
	s := scanner{text: text}
	return s.document(0, func() error { return s.value(0) }) == nil
}

// Get answers the last member of that name, as a decoder would.
func Get(members []Member, name string) (json.RawMessage, bool) {
	for i := len(members) - 1; i >= 0; i-- {
		if members[i].Name == name {
			return members[i].Value, true
		}
	}
	return nil, false
}

// IsNull reports whether a value is null or absent.
func IsNull(value []byte) bool {
	return len(value) == 0 || bytes.Equal(bytes.TrimSpace(value), []byte("null"))
}

// Kind is the first byte of a value, white space apart: '{', '[', '"', 't',
// 'f', 'n', '-' or a digit; 0 where there is none.
func Kind(value []byte) byte {
	value = bytes.TrimLeft(value, " \t\r\n")
	if len(value) == 0 {
		return 0
	}
	return value[0]
}

// Quote is s as a JSON string, with nothing escaped that need not be.
func Quote(s string) json.RawMessage {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(s); err != nil { // a string never fails to encode
		panic(err)
	}
	return bytes.TrimSuffix(text.Bytes(), []byte("\n"))
}

// unquote resolves the escapes of a name, quotes included in its bytes.
func unquote(quoted []byte) (string, error) {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return string(quoted[1 : len(quoted)-1]), nil
	}
	var plain string
	if err := json.Unmarshal(quoted, &plain); err != nil {
		return "", ErrSyntax
	}
	return plain, nil
}

// scanner walks over text; at is where it stands.
type scanner struct {
	text []byte
	at   int
}

// document reads one value that begins with opening (any, if 0), and nothing
// after it.
func (s *scanner) document(opening byte, read func() error) error {
	if !utf8.Valid(s.text) {
		return ErrSyntax
	}
	s.space()
	if opening != 0 && s.peek() != opening {
		return ErrSyntax
	}
	if err := read(); err != nil {
		return err
	}
	s.space()
	if s.at != len(s.text) {
		return ErrSyntax
	}
	return nil
}

func (s *scanner) peek() byte {
	if s.at < len(s.text) {
		return s.text[s.at]
	}
	return 0
}

func (s *scanner) space() {
	for s.at < len(s.text) {
		switch s.text[s.at] {
		case ' ', '\t', '\r', '\n':
			s.at++
		default:
			return
		}
	}
}

func (s *scanner) take(c byte) error {
	if s.peek() != c {
		return ErrSyntax
	}
	s.at++
	return nil
}

func (s *scanner) value(depth int) error {
	switch c := s.peek(); {
	case c == '{':
		return s.object(depth+1, nil)
	case c == '[':
		return s.array(depth+1, nil)
	case c == '"':
		return s.str()
	case c == '-' || (c >= '0' && c <= '9'):
		return s.number()
	default:
		return s.word()
	}
}

// object reads an object and tells each, if given, of every member.
func (s *scanner) object(depth int, each func(name, value []byte) error) error {
	return s.members(depth, func(name []byte) error {
		value, err := s.span(depth)
		if err != nil || each == nil {
			return err
		}
		return each(name, value)
	})
}

// members reads an object; read is given each name and reads its value.
func (s *scanner) members(depth int, read func(name []byte) error) error {
	if depth > maxDepth {
		return ErrSyntax
	}
	s.at++ // the caller saw the brace
	s.space()
	if s.peek() == '}' {
		s.at++
		return nil
	}
	for {
		s.space()
		start := s.at
		if s.peek() != '"' {
			return ErrSyntax
		}
		if err := s.str(); err != nil {
			return err
		}
		name := s.text[start:s.at]
		s.space()
		if err := s.take(':'); err != nil {
			return err
		}
		if err := read(name); err != nil {
			return err
		}
		if more, err := s.more('}'); !more {
			return err
		}
	}
}

// array reads an array and tells each, if given, of every element.
func (s *scanner) array(depth int, each func(value []byte) error) error {
	return s.elements(depth, func() error {
		value, err := s.span(depth)
		if err != nil || each == nil {
			return err
		}
		return each(value)
	})
}

// elements reads an array; read reads each of its values.
func (s *scanner) elements(depth int, read func() error) error {
	if depth > maxDepth {
		return ErrSyntax
	}
	s.at++ // the caller saw the bracket
	s.space()
	if s.peek() == ']' {
		s.at++
		return nil
	}
	for {
		if err := read(); err != nil {
			return err
		}
		if more, err := s.more(']'); !more {
			return err
		}
	}
}

// span reads a value and answers its bytes.
func (s *scanner) span(depth int) ([]byte, error) {
	s.space()
	start := s.at
	if err := s.value(depth); err != nil {
		return nil, err
	}
	return s.text[start:s.at:s.at], nil
}

// more reads a comma, or the closing byte.
func (s *scanner) more(closing byte) (bool, error) {
	s.space()
	switch s.peek() {
	case ',':
		s.at++
		return true, nil
	case closing:
		s.at++
		return false, nil
	default:
		return false, ErrSyntax
	}
}

func (s *scanner) str() error {
	for s.at++; ; s.at++ {
		s.at += plain(s.text[s.at:])
		switch s.peek() {
		case '"':
			s.at++
			return nil
		case '\\':
			if err := s.escape(); err != nil {
				return err
			}
		default: // a control character, or the end
			return ErrSyntax
		}
	}
}

// escape reads what follows a backslash and stands on its last byte after it.
func (s *scanner) escape() error {
	s.at++
	switch s.peek() {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return nil
	case 'u':
		for range 4 {
			s.at++
			if !isHex(s.peek()) {
				return ErrSyntax
			}
		}
		return nil
	default:
		return ErrSyntax
	}
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

func (s *scanner) number() error {
	if s.peek() == '-' {
		s.at++
	}
	if s.peek() == '0' {
		s.at++
	} else if !s.digits() {
		return ErrSyntax
	}
	if s.peek() == '.' {
		s.at++
		if !s.digits() {
			return ErrSyntax
		}
	}
	if c := s.peek(); c == 'e' || c == 'E' {
		s.at++
		if c := s.peek(); c == '+' || c == '-' {
			s.at++
		}
		if !s.digits() {
			return ErrSyntax
		}
	}
	return nil
}

func (s *scanner) digits() bool {
	start := s.at
	for c := s.peek(); c >= '0' && c <= '9'; c = s.peek() {
		s.at++
	}
	return s.at > start
}

func (s *scanner) word() error {
	for _, word := range [...]string{"true", "false", "null"} {
		if bytes.HasPrefix(s.text[s.at:], []byte(word)) {
			s.at += len(word)
			return nil
		}
	}
	return ErrSyntax
}
