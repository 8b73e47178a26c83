package catalogue

import (
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"strconv"
)

// BigInt is a whole number of any size. In JSON it is a number, written digit
// by digit.
type BigInt struct{ big.Int }

// NewBigInt returns n as a BigInt.
func NewBigInt(n uint64) *BigInt {
	b := new(BigInt)
	b.SetUint64(n)
	return b
}

// MarshalGQL writes the digits, with no quotes.
func (b BigInt) MarshalGQL(w io.Writer) {
	_, _ = io.WriteString(w, b.String()) // gqlgen's writers are buffers
}

// UnmarshalGQL reads a whole number, or a string that holds one. Errors:
// ErrInvalid.
func (b *BigInt) UnmarshalGQL(v any) error {
	if _, ok := b.SetString(digits(v), 10); !ok {
		return fmt.Errorf("%w: a BigInt is a whole number", ErrInvalid)
	}
	return nil
}

// digits returns the text of what gqlgen reads an input number or string as,
// and "" for all else.
func digits(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	case int64:
		return strconv.FormatInt(v, 10)
	default:
		return ""
	}
}
