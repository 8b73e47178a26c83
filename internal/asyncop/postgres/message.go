package postgres

import (
	"crypto/rand"
	"encoding/hex"
	"strings"

	"github.com/google/uuid"
)

// A notification's payload is words with a space between: the tag of the store
// that sent it, a kind, for kindChanged the ids, and for kindEcho one made up.
const (
	kindDue     = "d"
	kindChanged = "c"
	kindMissed  = "m"
	kindEcho    = "e" // a store's word to itself, which proves that LISTEN works
)

// idsPerPayload keeps a payload below PostgreSQL's 8,000 bytes.
const idsPerPayload = 200

// newTag names one opened store.
func newTag() string {
	var tag [8]byte
	_, _ = rand.Read(tag[:]) // never fails
	return hex.EncodeToString(tag[:])
}

// payloads are w as notifications from tag.
func payloads(tag string, w wakes) []string {
	var out []string
	if w.due {
		out = append(out, tag+" "+kindDue)
	}
	if w.missed {
		out = append(out, tag+" "+kindMissed)
	}
	for ids := w.changed; len(ids) > 0; {
		n := min(len(ids), idsPerPayload)
		words := append([]string{tag, kindChanged}, column(ids[:n], uuid.UUID.String)...)
		out = append(out, strings.Join(words, " "))
		ids = ids[n:]
	}
	return out
}

// parsePayload reads what payloads wrote. Anyone may notify on the channel, so
// what it does not understand it leaves out.
func parsePayload(payload string) (tag, kind string, ids []uuid.UUID) {
	words := strings.Split(payload, " ")
	if len(words) < 2 {
		return "", "", nil
	}
	if words[1] == kindChanged || words[1] == kindEcho {
		for _, word := range words[2:] {
			if id, err := uuid.Parse(word); err == nil {
				ids = append(ids, id)
			}
		}
	}
	return words[0], words[1], ids
}
