package executor

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"

	"asyncgate/internal/executor/raw"
)

// fingerprint tells submissions under one idempotency key apart: it is over
// the document's text, the operation name and the variables, whose keys are
// sorted and whose scalars count as written. Absent variables and empty ones
// are one.
func fingerprint(document, operationName string, variables raw.Digest) [32]byte {
	h := sha256.New()
	writePart(h, []byte(document))
	writePart(h, []byte(operationName))
	writePart(h, variables.Sum[:])
	return [32]byte(h.Sum(nil))
}

// writePart is length first, so that no two sequences of parts are alike.
func writePart(h hash.Hash, part []byte) {
	_, _ = h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
	_, _ = h.Write(part)
}
