package executor

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"hash"
	"slices"
	"strings"

	"asyncgate/internal/executor/raw"
)

// fingerprint tells submissions under one idempotency key apart: it is over
// the document's text, the operation name and the variables, whose keys are
// sorted and whose scalars count as written. Absent, null and empty variables
// are one. Variables must be an object, or null.
func fingerprint(document, operationName string, variables json.RawMessage) [32]byte {
	h := sha256.New()
	writePart(h, []byte(document))
	writePart(h, []byte(operationName))
	var canonical bytes.Buffer
	if !raw.IsNull(variables) {
		writeCanonical(&canonical, variables)
	}
	if canonical.String() == "{}" {
		canonical.Reset()
	}
	writePart(h, canonical.Bytes())
	return [32]byte(h.Sum(nil))
}

// writePart is length first, so that no two sequences of parts are alike.
func writePart(h hash.Hash, part []byte) {
	_, _ = h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
	_, _ = h.Write(part)
}

func writeCanonical(w *bytes.Buffer, value json.RawMessage) {
	switch raw.Kind(value) {
	case '{':
		members, _ := raw.Object(value)
		slices.SortStableFunc(members, func(a, b raw.Member) int { return strings.Compare(a.Name, b.Name) })
		w.WriteByte('{')
		for i, member := range members {
			if i > 0 {
				w.WriteByte(',')
			}
			w.Write(raw.Quote(member.Name))
			w.WriteByte(':')
			writeCanonical(w, member.Value)
		}
		w.WriteByte('}')
	case '[':
		elements, _ := raw.Array(value)
		w.WriteByte('[')
		for i, element := range elements {
			if i > 0 {
				w.WriteByte(',')
			}
			writeCanonical(w, element)
		}
		w.WriteByte(']')
	default:
		w.Write(bytes.TrimSpace(value))
	}
}
