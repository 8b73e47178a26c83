package catalogue

import "fmt"

// Product is something a tenant sells.
type Product struct {
	ID         string
	SKU        string
	Name       string
	PriceCents int
	EAN        *BigInt
}

// equal reports whether two products are the same in every field.
func (p Product) equal(other Product) bool {
	sameEAN := p.EAN == other.EAN || (p.EAN != nil && other.EAN != nil && p.EAN.Cmp(&other.EAN.Int) == 0)
	return sameEAN && p.ID == other.ID && p.SKU == other.SKU && p.Name == other.Name && p.PriceCents == other.PriceCents
}

// ProductInput is a product as it is imported; the sku says which.
type ProductInput struct {
	SKU        string
	Name       string
	PriceCents int
	EAN        *BigInt
}

func (p ProductInput) validate() error {
	switch {
	case p.SKU == "":
		return fmt.Errorf("%w: a product needs a sku", ErrInvalid)
	case p.PriceCents < 0:
		return fmt.Errorf("%w: the price of %s is negative", ErrInvalid, p.SKU)
	default:
		return nil
	}
}

// ImportResult counts what an import did, and has the products after it in the
// order of the import.
type ImportResult struct {
	Created, Changed, Same int
	Products               []Product
}

// MutationCalls is how often a mutation was called.
type MutationCalls struct {
	Mutation string
	Calls    int
}

// samples is what a tenant sells before it imports anything.
var samples = []ProductInput{
	{SKU: "MUG-01", Name: "Mug, blue", PriceCents: 1290, EAN: NewBigInt(4006381333931)},
	{SKU: "PEN-01", Name: "Fountain pen", PriceCents: 4900, EAN: NewBigInt(4012345678901)},
	{SKU: "PAD-01", Name: "Writing pad, ruled", PriceCents: 690},
}
