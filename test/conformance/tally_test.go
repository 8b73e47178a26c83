package conformance

import (
	"fmt"
	"strings"
	"sync/atomic"
	"text/tabwriter"
)

// tally counts documents and differences. It is safe for concurrent use.
type tally struct{ documents, differences atomic.Int64 }

func (c *tally) add(same bool) {
	c.documents.Add(1)
	if !same {
		c.differences.Add(1)
	}
}

// table is the tallies of all servers, to read.
func table(pairs []*pair) string {
	var text strings.Builder
	columns := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprint(columns, "\nserver\tdocuments\tdifferences\n")
	for _, p := range pairs {
		fmt.Fprintf(columns, "%s\t%d\t%d\n", p.name, p.tally.documents.Load(), p.tally.differences.Load())
	}
	_ = columns.Flush() // into memory
	return text.String()
}
