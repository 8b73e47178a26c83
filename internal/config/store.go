package config

import (
	"errors"
	"log/slog"
	"net/url"
	"path/filepath"
	"strings"
)

// Store is where operations are kept: exactly one of the two is set.
type Store struct {
	SQLite   string // path of the database file
	Postgres string // connection URL
}

// errStore never repeats the text: it may hold a password.
var errStore = errors.New("must be sqlite:PATH or postgres://USER@HOST/DATABASE")

// ParseStore reads a store's URL: sqlite:PATH, relative to dir, or
// postgres://…. Its errors never repeat the text, which may hold a password.
func ParseStore(text, dir string) (Store, error) {
	if path, ok := strings.CutPrefix(text, "sqlite:"); ok {
		if path == "" || strings.ContainsAny(path, "\x00?") || path == ":memory:" {
			return Store{}, errors.New("must name a file: sqlite:PATH")
		}
		return Store{SQLite: under(dir, path)}, nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Opaque != "" || u.Scheme != "postgres" && u.Scheme != "postgresql" {
		return Store{}, errStore
	}
	return Store{Postgres: text}, nil
}

// LogValue keeps the address out of every log line.
func (s Store) LogValue() slog.Value { return slog.StringValue(s.String()) }

// String names the kind of store, never its address.
func (s Store) String() string {
	if s.Postgres != "" {
		return "postgres"
	}
	return "sqlite"
}

// under returns path relative to dir, unless it is absolute.
func under(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}
