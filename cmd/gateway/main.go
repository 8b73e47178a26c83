// Command gateway makes the slow mutations of a GraphQL API durable.
//
// One file is one command. Here they are put together, and here alone the
// process ends.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"
)

// grammar is the command line.
type grammar struct {
	Demo    demoCommand    `cmd:"" help:"Serve everything in one process: a gateway, a sample upstream, two tenants, tokens to try it with."`
	Serve   serveCommand   `cmd:"" help:"Serve."`
	Migrate migrateCommand `cmd:"" help:"Bring the store's schema to this version."`
	Check   checkCommand   `cmd:"" help:"Validate the configuration, reach every upstream and compare the allowlist with their schemas. Exits with 1 on a fault."`
	Token   tokenCommand   `cmd:"" help:"Print a token that the gateway accepts, signed as an issuer with hs256_secret."`
	Version versionCommand `cmd:"" help:"Print the version."`
}

// stdio is what a command has of the process.
type stdio struct {
	out, err io.Writer
	env      func(string) (string, bool)
}

// The exit codes.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

func main() {
	os.Exit(untilSignal(os.Args[1:], stdio{out: os.Stdout, err: os.Stderr, env: os.LookupEnv}))
}

// untilSignal runs a command whose context ends at the first SIGINT or
// SIGTERM. A second one ends the process at once.
func untilSignal(args []string, std stdio) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	return run(ctx, args, std)
}

// run runs the command that args name and answers the exit code.
func run(ctx context.Context, args []string, std stdio) int {
	var commands grammar
	told := false // help was asked for and told
	parser, err := kong.New(&commands,
		kong.Name("gateway"),
		kong.Description("A GraphQL gateway that makes slow mutations durable."),
		kong.Writers(std.out, std.err),
		kong.Exit(func(int) { told = true }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}))
	if err != nil {
		return fail(std, err)
	}
	command, err := parser.Parse(args)
	if told {
		return exitOK
	}
	if err != nil {
		fmt.Fprintf(std.err, "gateway: %v; see gateway --help\n", err)
		return exitUsage
	}
	command.BindTo(ctx, (*context.Context)(nil))
	if err := command.Run(std); err != nil {
		return fail(std, err)
	}
	return exitOK
}

func fail(std stdio, err error) int {
	fmt.Fprintf(std.err, "gateway: %v\n", err)
	return exitFailed
}
