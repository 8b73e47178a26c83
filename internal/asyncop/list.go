package asyncop

import (
	"encoding/base64"
	"encoding/binary"
	"time"

	"github.com/google/uuid"
)

// Filter narrows a list. Zero fields do not narrow.
type Filter struct {
	States         []State
	Mutation       string // a root field name
	Label          string
	IdempotencyKey string
	Submitter      string // a subject
}

// List asks for a page, newest first.
type List struct {
	Scope  Scope
	Filter Filter
	After  *Cursor // nil: from the newest
	First  int     // 1..100
}

// Page is part of a list, newest first.
type Page struct {
	Operations []Operation
	HasNext    bool
}

// Cursor is a place in a list: just after the operation that it names.
type Cursor struct {
	CreatedAt time.Time
	ID        uuid.UUID
}

// CursorOf is the place just after o.
func CursorOf(o Operation) Cursor { return Cursor{CreatedAt: o.CreatedAt, ID: o.ID} }

// String encodes c. Clients treat it as opaque.
func (c Cursor) String() string {
	raw := binary.BigEndian.AppendUint64(nil, uint64(c.CreatedAt.UnixMicro()))
	return base64.RawURLEncoding.EncodeToString(append(raw, c.ID[:]...))
}

// ParseCursor decodes what String encoded. Errors: ErrBadCursor.
func ParseCursor(s string) (Cursor, error) {
	raw, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil || len(raw) != 8+len(uuid.UUID{}) {
		return Cursor{}, ErrBadCursor
	}
	micros := int64(binary.BigEndian.Uint64(raw))
	if micros < 0 || micros > latestMicros {
		return Cursor{}, ErrBadCursor
	}
	return Cursor{CreatedAt: time.UnixMicro(micros).UTC(), ID: uuid.UUID(raw[8:])}, nil
}

// latestMicros is the year 9999: no database refuses a time up to it.
const latestMicros = 253402300799_000000
