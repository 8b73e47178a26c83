package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"asyncgate/graph"
	"asyncgate/internal/auth"
	"asyncgate/internal/config"
	"asyncgate/internal/executor"
)

// checkCommand finds what is wrong with a configuration before it serves.
type checkCommand struct {
	Config string `required:"" placeholder:"FILE" help:"The configuration."`
	JSON   bool   `name:"json" help:"Report as JSON."`
}

// The bounds of a check: upstreams asked at a time, and the time for each.
const (
	checksAtOnce = 16
	checkTimeout = 10 * time.Second
)

// Run checks and reports. It touches nothing: neither the store nor any
// operation of an upstream but introspection. Errors: that there are faults;
// without --json, the mistakes of the file themselves.
func (c *checkCommand) Run(ctx context.Context, std stdio) error {
	cfg, err := config.Load(c.Config, std.env)
	report := checkReport{File: c.Config, Mistakes: mistakesOf(c.Config, err)}
	switch {
	case err != nil && !c.JSON:
		return err
	case err == nil:
		report.check(ctx, cfg)
	}
	report.OK = report.faults() == 0
	write := report.writeTable
	if c.JSON {
		write = report.writeJSON
	}
	if err := write(std.out); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	switch faults := report.faults(); faults {
	case 0:
		return nil
	case 1:
		return errors.New("1 fault was found")
	default:
		return fmt.Errorf("%d faults were found", faults)
	}
}

// mistakesOf lists what is wrong with the file, all of it at once.
func mistakesOf(file string, err error) []checkMistake {
	mistakes := []checkMistake{}
	var inFile *config.FileError
	switch {
	case errors.As(err, &inFile):
		for _, m := range inFile.Mistakes {
			mistakes = append(mistakes, checkMistake{File: inFile.File, Line: m.Line, Path: m.Path, Message: m.Message})
		}
	case err != nil:
		mistakes = append(mistakes, checkMistake{File: file, Message: err.Error()})
	}
	return mistakes
}

// check looks at everything that a file without mistakes names.
func (r *checkReport) check(ctx context.Context, cfg *config.Config) {
	if longest := cfg.LongestTimeout(); cfg.Worker.DrainTimeout < longest {
		r.Warnings = append(r.Warnings, fmt.Sprintf(
			"worker.drain_timeout is %s, and a mutation may take %s: a deploy can cut it off; raise drain_timeout, or leave it out",
			cfg.Worker.DrainTimeout, longest))
	}
	if _, err := auth.NewVerifier(cfg.Policy()); err != nil {
		r.Faults = append(r.Faults, err.Error())
	}
	reader, err := newTenantReader(cfg)
	if err != nil {
		r.Faults = append(r.Faults, err.Error())
		return
	}
	upstreams := upstreamsOf(cfg)
	names := slices.Sorted(maps.Keys(upstreams))
	engines := executor.NewEngines(graph.Surface(&executor.Operations{}, slog.New(slog.DiscardHandler)))
	r.Tenants = make([]checkedTenant, len(names))
	var checks errgroup.Group
	checks.SetLimit(checksAtOnce)
	for i, name := range names {
		options, err := reader.read(name, upstreams[name])
		checks.Go(func() error {
			r.Tenants[i] = checkTenant(ctx, engines, options, upstreams[name], err)
			return nil
		})
	}
	_ = checks.Wait() // each check's faults are in its tenant
}

// checkTenant looks at one tenant; unreadable is why its schema file could not
// be read, or nil.
func checkTenant(ctx context.Context, engines executor.Engines, options executor.TenantOptions, upstream config.Upstream, unreadable error) checkedTenant {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	probed := engines.Probe(ctx, options)
	t := newCheckedTenant(options, upstream, probed)
	hide := secretsOf(upstream)
	if unreadable != nil {
		// What the upstream says of itself is not what is served: of its schema
		// nothing but the file's fault is told.
		t.Mutations, probed.Unserved, probed.Unusable = nil, nil, nil
		t.fault(unreadable.Error())
	}
	if probed.Unreached != nil {
		t.fault(hide.from(reason(probed.Unreached)) + "; check its url, and that it runs")
	}
	if probed.Unusable != nil {
		t.fault(hide.from(reason(probed.Unusable)))
	}
	t.compare(probed.Unserved)
	if !probed.Asked {
		t.warn("stands for upstreams whose names are not known here, so none was asked")
	}
	return t
}

// compare tells of each name on the allowlist that the schema lacks.
func (t *checkedTenant) compare(unserved []executor.Unserved) {
	for _, gap := range unserved {
		t.Unserved = append(t.Unserved, checkedGap{Mutation: gap.Mutation, DidYouMean: gap.Suggestion})
		advice := "take it off the allowlist, or name it only in the tenants that have it"
		if gap.Suggestion != "" {
			advice = "did you mean " + gap.Suggestion + "?"
		}
		t.fault(fmt.Sprintf("the allowlist names the mutation %s, which the upstream does not have; %s", gap.Mutation, advice))
	}
}

// reason is an error's text, or what a time limit means here.
func reason(err error) string {
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Sprintf("the upstream did not answer within %s", checkTimeout)
	}
	return err.Error()
}
