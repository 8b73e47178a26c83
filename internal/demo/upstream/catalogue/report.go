package catalogue

import (
	"fmt"
	"hash/fnv"
	"strings"
	"time"
)

// Report is a text about a tenant's products at one moment.
type Report struct {
	ID        string
	Title     string
	Author    string
	Body      string
	Checksum  *BigInt // FNV-1a of Body, 64 bits
	CreatedAt time.Time
}

func newReport(id, title, author string, products []Product) (Report, error) {
	if strings.TrimSpace(title) == "" {
		return Report{}, fmt.Errorf("%w: a report needs a title", ErrInvalid)
	}
	body := reportBody(products)
	sum := fnv.New64a()
	_, _ = sum.Write([]byte(body)) // a hash takes everything
	return Report{
		ID: id, Title: title, Author: author,
		Body: body, Checksum: NewBigInt(sum.Sum64()),
		CreatedAt: time.Now().UTC(),
	}, nil
}

func reportBody(products []Product) string {
	var body strings.Builder
	total := 0
	for _, product := range products {
		fmt.Fprintf(&body, "%s: %s, %s\n", product.SKU, product.Name, cents(product.PriceCents))
		total += product.PriceCents
	}
	fmt.Fprintf(&body, "%d products, one of each: %s\n", len(products), cents(total))
	return body.String()
}

func cents(n int) string { return fmt.Sprintf("%d.%02d", n/100, n%100) }
