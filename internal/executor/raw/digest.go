package raw

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"slices"
	"strings"
)

// Digest is what one pass over a value tells of it.
type Digest struct {
	// Sum is equal for two values if and only if they differ in white space
	// and the order of their objects' members alone: scalars count as written.
	Sum [32]byte
	// Depth is how deep objects and arrays are nested: 0 for a scalar.
	Depth int
	// NULKey: a name of a member, anywhere, holds U+0000.
	NULKey bool
}

// DigestOf reads a value once, however deep it is nested. Errors: ErrSyntax.
func DigestOf(value []byte) (Digest, error) {
	d := digester{scanner: scanner{text: value}}
	err := d.document(0, func() (err error) {
		d.Sum, err = d.digest(0)
		return err
	})
	return d.Digest, err
}

// digester sums a tree from its leaves: an object's sum is over those of its
// members, so that sorting them copies no text.
type digester struct {
	scanner
	Digest
}

// The first byte of what is summed tells kinds of values apart.
const (
	sumObject = '{'
	sumArray  = '['
	sumScalar = 's'
)

func (d *digester) digest(depth int) ([32]byte, error) {
	d.space()
	switch d.peek() {
	case '{':
		return d.object(depth + 1)
	case '[':
		return d.array(depth + 1)
	default:
		start := d.at
		if err := d.value(depth); err != nil {
			return [32]byte{}, err
		}
		h := sha256.New()
		writeSummed(h, sumScalar, d.text[start:d.at])
		return [32]byte(h.Sum(nil)), nil
	}
}

func (d *digester) object(depth int) ([32]byte, error) {
	type member struct {
		name string
		sum  [32]byte
	}
	var members []member
	err := d.members(depth, func(name []byte) error {
		plain, err := unquote(name)
		if err != nil {
			return err
		}
		d.NULKey = d.NULKey || strings.ContainsRune(plain, 0)
		sum, err := d.digest(depth)
		members = append(members, member{plain, sum})
		return err
	})
	if err != nil {
		return [32]byte{}, err
	}
	slices.SortStableFunc(members, func(a, b member) int { return cmp.Compare(a.name, b.name) })
	h := sha256.New()
	for _, m := range members {
		writeSummed(h, sumObject, []byte(m.name))
		_, _ = h.Write(m.sum[:])
	}
	return d.nested(depth, h, sumObject), nil
}

func (d *digester) array(depth int) ([32]byte, error) {
	h := sha256.New()
	err := d.elements(depth, func() error {
		sum, err := d.digest(depth)
		_, _ = h.Write(sum[:])
		return err
	})
	return d.nested(depth, h, sumArray), err
}

// nested ends the sum of an object or an array.
func (d *digester) nested(depth int, h hash.Hash, kind byte) [32]byte {
	d.Depth = max(d.Depth, depth)
	writeSummed(h, kind, nil)
	return [32]byte(h.Sum(nil))
}

// writeSummed is length first, so that no two sequences are alike.
func writeSummed(h hash.Hash, kind byte, text []byte) {
	_, _ = h.Write(binary.BigEndian.AppendUint64([]byte{kind}, uint64(len(text))))
	_, _ = h.Write(text)
}
