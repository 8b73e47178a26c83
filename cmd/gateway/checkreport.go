package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"
	"unicode/utf8"

	"asyncgate/internal/config"
	"asyncgate/internal/executor"
)

// checkReport is what a check found, as --json writes it.
type checkReport struct {
	OK       bool            `json:"ok"`
	File     string          `json:"file"`
	Mistakes []checkMistake  `json:"mistakes"` // of the file; where there are any, nothing else was looked at
	Faults   []string        `json:"faults"`   // of the configuration as a whole
	Warnings []string        `json:"warnings"`
	Tenants  []checkedTenant `json:"tenants"`
}

// checkMistake is one thing wrong with the file.
type checkMistake struct {
	File    string `json:"file"`
	Line    int    `json:"line"` // 0: the file could not be read
	Path    string `json:"path"`
	Message string `json:"message"`
}

// checkedTenant is what was found of one tenant.
type checkedTenant struct {
	Tenant    *string      `json:"tenant"` // null without tenancy
	Schema    string       `json:"schema"` // file or introspection
	Reached   bool         `json:"reached"`
	LatencyMs *float64     `json:"latencyMs"` // null where it was not reached
	Mutations *int         `json:"mutations"` // of the upstream; null where its schema is not known
	Allowed   int          `json:"allowed"`   // names on the allowlist
	Unserved  []checkedGap `json:"unserved"`
	Faults    []string     `json:"faults"`
	Warnings  []string     `json:"warnings"`
}

// checkedGap is a name on the allowlist that the upstream has no mutation for.
type checkedGap struct {
	Mutation   string `json:"mutation"`
	DidYouMean string `json:"didYouMean,omitempty"`
}

func newCheckedTenant(options executor.TenantOptions, upstream config.Upstream, probed executor.Probed) checkedTenant {
	t := checkedTenant{
		Schema: "introspection", Allowed: len(options.Allowlist),
		Unserved: []checkedGap{}, Faults: []string{}, Warnings: []string{},
	}
	if options.Name != "" {
		t.Tenant = &options.Name
	}
	if upstream.Schema != "" {
		t.Schema = "file"
	}
	if probed.Asked && probed.Unreached == nil {
		ms := float64(probed.Latency.Microseconds()) / 1000
		t.Reached, t.LatencyMs = true, &ms
	}
	if probed.Known {
		t.Mutations = &probed.Mutations
	}
	return t
}

func (t *checkedTenant) fault(text string) { t.Faults = append(t.Faults, text) }
func (t *checkedTenant) warn(text string)  { t.Warnings = append(t.Warnings, text) }

// faults counts what makes the check fail.
func (r *checkReport) faults() int {
	n := len(r.Mistakes) + len(r.Faults)
	for _, t := range r.Tenants {
		n += len(t.Faults)
	}
	return n
}

// writeJSON writes one object.
func (r *checkReport) writeJSON(w io.Writer) error {
	whole := *r
	whole.Faults = append([]string{}, r.Faults...)
	whole.Warnings = append([]string{}, r.Warnings...)
	whole.Tenants = append([]checkedTenant{}, r.Tenants...)
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(whole)
}

// writeTable writes a line for each tenant, and below what is wrong.
func (r *checkReport) writeTable(w io.Writer) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "TENANT\tSCHEMA\tLATENCY\tMUTATIONS\tALLOWED\tRESULT") //nolint:errcheck // Flush tells
	for _, t := range r.Tenants {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%d\t%s\n", t.name(), t.Schema, t.latency(), t.mutations(), t.Allowed, t.result())
	}
	if err := table.Flush(); err != nil {
		return err
	}
	_, err := io.WriteString(w, r.remarks())
	return err
}

// remarks is all faults and then all warnings, in sentences.
func (r *checkReport) remarks() string {
	var faults, warnings strings.Builder
	for _, text := range r.Faults {
		faults.WriteString(paragraph("fault", text))
	}
	for _, text := range r.Warnings {
		warnings.WriteString(paragraph("warning", text))
	}
	for _, t := range r.Tenants {
		for _, text := range t.Faults {
			faults.WriteString(paragraph("fault", t.name()+": "+text))
		}
		for _, text := range t.Warnings {
			warnings.WriteString(paragraph("warning", t.name()+": "+text))
		}
	}
	if faults.Len()+warnings.Len() == 0 {
		return ""
	}
	return "\n" + faults.String() + warnings.String()
}

// longestName is how much of a tenant's name the table shows.
const longestName = 32

func (t *checkedTenant) name() string {
	if t.Tenant == nil {
		return "(upstream)"
	}
	if runes := []rune(*t.Tenant); len(runes) > longestName {
		return harmless(string(runes[:longestName-1])) + "…"
	}
	return harmless(*t.Tenant)
}

func (t *checkedTenant) latency() string {
	if t.LatencyMs == nil {
		return "-"
	}
	latency := time.Duration(*t.LatencyMs * float64(time.Millisecond))
	return latency.Round(100 * time.Microsecond).String()
}

func (t *checkedTenant) mutations() string {
	if t.Mutations == nil {
		return "-"
	}
	return fmt.Sprint(*t.Mutations)
}

func (t *checkedTenant) result() string {
	switch {
	case len(t.Faults) > 0:
		return "FAULT"
	case len(t.Warnings) > 0:
		return "warning"
	default:
		return "ok"
	}
}

// The form of a remark on a terminal.
const (
	terminalWidth = 100
	remarkIndent  = 9
)

// paragraph is a remark, broken between words to fit a terminal.
func paragraph(kind, text string) string {
	var p strings.Builder
	fmt.Fprintf(&p, "%-*s", remarkIndent, kind)
	column := remarkIndent
	for i, word := range strings.Fields(text) {
		word = harmless(word)
		width := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case column+1+width > terminalWidth:
			p.WriteString("\n" + strings.Repeat(" ", remarkIndent))
			column = remarkIndent
		default:
			p.WriteByte(' ')
			column++
		}
		p.WriteString(word)
		column += width
	}
	p.WriteByte('\n')
	return p.String()
}

// harmless is text without what a terminal would obey: an upstream's errors
// are not ours.
func harmless(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '�'
		}
		return r
	}, text)
}

// secrets are texts that no report may show.
type secrets []string

// secretsOf are what an upstream's configuration may hold of them. An upstream
// may quote them in what it answers.
func secretsOf(upstream config.Upstream) secrets {
	var s secrets
	for _, value := range upstream.Headers {
		s = append(s, value)
		if _, credentials, ok := strings.Cut(value, " "); ok {
			s = append(s, credentials) // without its scheme
		}
	}
	if address, err := url.Parse(upstream.URL); err == nil && address.RawQuery != "" {
		s = append(s, address.RawQuery)
		for _, values := range address.Query() {
			s = append(s, values...)
		}
	}
	return s
}

// from is text with every secret struck out. What is too short to be one would
// strike out words.
func (s secrets) from(text string) string {
	for _, secret := range s {
		if len(secret) >= 4 {
			text = strings.ReplaceAll(text, secret, "[hidden]")
		}
	}
	return text
}
