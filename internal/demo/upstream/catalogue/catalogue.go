// Package catalogue is what the sample upstream is about: the products and
// reports of one tenant, in memory. It knows neither HTTP nor GraphQL, but for
// how a BigInt is written.
package catalogue

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/google/uuid"
)

// ErrInvalid: a product or report that cannot be. What wraps it says why.
var ErrInvalid = errors.New("invalid input")

// Catalogue holds one tenant's products and reports and counts what was called.
// It is safe for concurrent use, and gone when the process ends.
type Catalogue struct {
	mu       sync.Mutex
	products map[string]Product // by sku; guarded by mu
	reports  map[string]Report  // by id; guarded by mu
	calls    map[string]int     // by mutation; guarded by mu
}

// New returns a catalogue with a few sample products.
func New() *Catalogue {
	c := &Catalogue{
		products: make(map[string]Product),
		reports:  make(map[string]Report),
		calls:    make(map[string]int),
	}
	for _, sample := range samples {
		c.upsert(sample)
	}
	return c
}

// Count counts a call of a mutation.
func (c *Catalogue) Count(mutation string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls[mutation]++
}

// Calls returns what Count counted, by mutation.
func (c *Catalogue) Calls() []MutationCalls {
	c.mu.Lock()
	defer c.mu.Unlock()
	counts := make([]MutationCalls, 0, len(c.calls))
	for _, mutation := range slices.Sorted(maps.Keys(c.calls)) {
		counts = append(counts, MutationCalls{Mutation: mutation, Calls: c.calls[mutation]})
	}
	return counts
}

// Products returns the products by sku whose sku or name contains search,
// whatever the case. The empty search finds all.
func (c *Catalogue) Products(search string) []Product {
	search = strings.ToLower(search)
	c.mu.Lock()
	defer c.mu.Unlock()
	found := make([]Product, 0, len(c.products))
	for _, product := range c.products {
		if strings.Contains(strings.ToLower(product.SKU+"\n"+product.Name), search) {
			found = append(found, product)
		}
	}
	slices.SortFunc(found, func(a, b Product) int { return cmp.Compare(a.SKU, b.SKU) })
	return found
}

// Product returns the product with that id; ok is false where there is none.
func (c *Catalogue) Product(id string) (product Product, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, product = range c.products {
		if product.ID == id {
			return product, true
		}
	}
	return Product{}, false
}

// Import adds products and changes those whose sku is known: all of them, or
// none. The same import again changes nothing. Errors: ErrInvalid.
func (c *Catalogue) Import(inputs []ProductInput) (ImportResult, error) {
	for _, input := range inputs {
		if err := input.validate(); err != nil {
			return ImportResult{}, err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	result := ImportResult{Products: make([]Product, 0, len(inputs))}
	for _, input := range inputs {
		before, known := c.products[input.SKU]
		product := c.upsert(input)
		switch {
		case !known:
			result.Created++
		case before.equal(product):
			result.Same++
		default:
			result.Changed++
		}
		result.Products = append(result.Products, product)
	}
	return result, nil
}

// upsert needs mu, but in New.
func (c *Catalogue) upsert(input ProductInput) Product {
	id := strconv.Itoa(len(c.products) + 1) // products are never deleted
	if known, ok := c.products[input.SKU]; ok {
		id = known.ID
	}
	product := Product{ID: id, SKU: input.SKU, Name: input.Name, PriceCents: input.PriceCents, EAN: input.EAN}
	c.products[input.SKU] = product
	return product
}

// Report returns the report with that id; ok is false where there is none.
func (c *Catalogue) Report(id string) (report Report, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	report, ok = c.reports[id]
	return report, ok
}

// AddReport writes a report about the products as they are. Errors: ErrInvalid.
func (c *Catalogue) AddReport(title, author string) (Report, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return Report{}, err
	}
	report, err := newReport(id.String(), title, author, c.Products(""))
	if err != nil {
		return Report{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reports[report.ID] = report
	return report, nil
}
