package config

import "time"

// section is a mapping with fixed keys, opened: its unknown and unavailable
// keys have been noted. Reading a key that is not there answers the default.
type section struct {
	*reader
	at     entry
	values map[string]entry
	// broken: it is no mapping, which has been noted; nothing is missing in it.
	broken bool
}

// open opens a section.
func (r *reader) open(at entry, known keySet) section {
	list, ok := r.entries(at)
	s := section{reader: r, at: at, values: map[string]entry{}, broken: !ok}
	for _, e := range list {
		if reason := known.unusable(e.name); reason != "" {
			r.mistake(e, "%s", reason)
			continue
		}
		s.values[e.name] = e
	}
	return s
}

// section opens the section under key; an absent one is empty.
func (s section) section(key string, known keySet) section {
	e, ok := s.values[key]
	if !ok {
		return section{reader: s.reader, at: s.missing(key)}
	}
	if !s.present(e) {
		return section{reader: s.reader, at: e, broken: true}
	}
	return s.open(e, known)
}

// named returns the entries under key, whose keys are names of the file's own.
func (s section) named(key string) []entry {
	e, ok := s.values[key]
	if !ok || !s.present(e) {
		return nil
	}
	list, _ := s.entries(e)
	return list
}

// missing is where a key would stand.
func (s section) missing(key string) entry {
	return entry{path: join(s.at.path, key), name: key, line: s.at.line}
}

// required reads a text that has no default.
func (s section) required(key string) (string, entry, bool) {
	e, ok := s.values[key]
	if !ok {
		if !s.broken {
			s.mistake(s.missing(key), "is missing")
		}
		return "", s.missing(key), false
	}
	text, ok := s.reader.text(e)
	return text, e, ok
}

// text reads a text.
func (s section) text(key, otherwise string) string {
	if e, ok := s.values[key]; ok {
		if text, ok := s.reader.text(e); ok {
			return text
		}
	}
	return otherwise
}

// oneOf reads a text that must be one of words.
func (s section) oneOf(key, otherwise string, words ...string) string {
	if e, ok := s.values[key]; ok {
		if word, ok := s.reader.oneOf(e, words); ok {
			return word
		}
	}
	return otherwise
}

// texts reads a list of texts.
func (s section) texts(key string, otherwise []string) []string {
	if e, ok := s.values[key]; ok {
		return s.reader.texts(e)
	}
	return otherwise
}

// duration reads a duration of at least that long.
func (s section) duration(key string, otherwise, least time.Duration) time.Duration {
	if e, ok := s.values[key]; ok {
		if d, ok := s.reader.duration(e, least); ok {
			return d
		}
	}
	return otherwise
}

// size reads a number of bytes.
func (s section) size(key string, otherwise int64) int64 {
	if e, ok := s.values[key]; ok {
		if n, ok := s.reader.size(e); ok {
			return n
		}
	}
	return otherwise
}

// integer reads a number from least to most.
func (s section) integer(key string, otherwise, least, most int) int {
	if e, ok := s.values[key]; ok {
		if n, ok := s.reader.integer(e, least, most); ok {
			return n
		}
	}
	return otherwise
}

// boolean reads true or false.
func (s section) boolean(key string, otherwise bool) bool {
	if e, ok := s.values[key]; ok {
		if b, ok := s.reader.boolean(e); ok {
			return b
		}
	}
	return otherwise
}
