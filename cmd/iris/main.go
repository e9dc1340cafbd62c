// Command iris is the operator's tool: it starts a whole Iris on one machine (dev), prepares a database (migrate), makes
// the first users, applications and teams, checks configuration and templates, and measures (bench).
//
// Commands that work on a database take its address from IRIS_DATABASE_URL or the configuration file.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"

	"github.com/alecthomas/kong"

	"github.com/iris-oncall/iris/internal/app"
	"github.com/iris-oncall/iris/internal/fault"
)

// cli is the command line. Each command's Run method does the work.
type cli struct {
	Config string `help:"Configuration file (YAML); environment variables override it." placeholder:"FILE" env:"IRIS_CONFIG" type:"path"`

	Dev         devCommand         `cmd:"" help:"Run everything on this machine, with its own PostgreSQL, a mailbox and demo data."`
	Migrate     migrateCommand     `cmd:"" help:"Bring the database's schema up to this release."`
	CheckConfig checkConfigCommand `cmd:"" help:"Say what is wrong with the configuration, and where."`
	Render      renderCommand      `cmd:"" help:"Render a template from standard input as the engine would."`
	User        userCommand        `cmd:"" help:"Users."`
	App         appCommand         `cmd:"" help:"Applications: the programs that post incidents."`
	Plan        planCommand        `cmd:"" help:"Plans: what holds for all their versions."`
	Template    templateCommand    `cmd:"" help:"Templates: delete them."`
	Team        teamCommand        `cmd:"" help:"Teams."`
	Priority    priorityCommand    `cmd:"" help:"In which mode people hear of what, where nobody chose otherwise."`
	Contact     contactCommand     `cmd:"" help:"Where users are reached."`
	Oncall      oncallCommand      `cmd:"" help:"Say who is on call for a team or service, now or then."`
	Simulate    simulateCommand    `cmd:"" help:"Say who would be paged by a plan, when, how and why. Nothing is sent."`
	Import      importCommand      `cmd:"" help:"Take over the data of a predecessor."`
	Sync        syncCommand        `cmd:"" help:"Bring people and mailing lists in step with LDAP or Slack."`
	Bench       benchCommand       `cmd:"" help:"Measure: post a load and compare it with what arrives."`
	Healthcheck healthcheckCommand `cmd:"" help:"Ask a server whether it is ready; for health checks of containers."`
	Version     versionCommand     `cmd:"" help:"Print the version."`

	API       apiCommand       `cmd:"" name:"api" hidden:"" help:"Run iris-api."`
	Processor processorCommand `cmd:"" name:"processor" hidden:"" help:"Run message-processor."`
	BenchSink benchSinkCommand `cmd:"" name:"bench-sink" hidden:"" help:"Run the mail server of bench."`
}

// env is what commands work with; tests give their own.
type env struct {
	config  string
	environ []string
	stdin   io.Reader
	stdout  io.Writer
	stderr  io.Writer
}

// exitCode is an error that only sets the program's exit code: everything was said already.
type exitCode int

func (c exitCode) Error() string { return fmt.Sprintf("exit code %d", int(c)) }

// usageError is an error in the values of the command line: the exit code is 2, as for a flag that does not exist.
type usageError struct{ error }

func (u usageError) Unwrap() error { return u.error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// invalidIsUsage makes an error about a value that was asked with a usageError. It is for commands whose values all come from the command
// line.
func invalidIsUsage(err error) error {
	if fault.Is(err, fault.Invalid) {
		return usageError{err}
	}
	return err
}

func main() {
	ctx, stop := app.Signals()
	e := &env{environ: os.Environ(), stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr}
	code := run(ctx, os.Args[1:], e)
	stop()
	os.Exit(code)
}

// run parses args and runs the command. It returns the exit code: 1 for failures, 2 for a wrong command line.
func run(ctx context.Context, args []string, e *env) int {
	var c cli
	exited := -1
	parser, err := kong.New(&c,
		kong.Name("iris"), kong.Description("Iris pages the right person, once, in time."),
		kong.Writers(e.stdout, e.stderr), kong.Exit(func(code int) { exited = code }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.BindTo(ctx, (*context.Context)(nil)), kong.Bind(e))
	if err != nil {
		fmt.Fprintf(e.stderr, "iris: %v\n", err)
		return 1
	}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	parsed, err := parser.Parse(args)
	if exited >= 0 {
		return exited
	}
	if err != nil {
		fmt.Fprintf(e.stderr, "iris: %s (see: %s --help)\n", noValue.ReplaceAllString(err.Error(), "needs a value"), command(err))
		return 2
	}
	e.config = c.Config
	err = parsed.Run()
	var code exitCode
	var usage usageError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &code):
		return int(code)
	case errors.As(err, &usage):
		fmt.Fprintf(e.stderr, "iris: %v (see: %s --help)\n", err, parsed.Selected().FullPath())
		return 2
	}
	app.PrintError(e.stderr, "iris", err)
	return 1
}

// noValue matches the parser's error for a flag without its value at the end of the line.
var noValue = regexp.MustCompile(`expected \w+ value but got "EOL" \(<EOL>\)`)

// command is the command whose line was wrong, as far as it was understood.
func command(err error) string {
	name := "iris"
	var wrong *kong.ParseError
	if !errors.As(err, &wrong) || wrong.Context == nil {
		return name
	}
	if node := wrong.Context.Selected(); node != nil {
		return node.FullPath()
	}
	for _, step := range wrong.Context.Path {
		if step.Command != nil {
			name += " " + step.Command.Name
		}
	}
	return name
}

type versionCommand struct{}

// Run prints the version.
func (versionCommand) Run(e *env) error {
	_, err := fmt.Fprintln(e.stdout, "iris", app.Version())
	return err
}

type apiCommand struct{}

// Run is iris-api, for `iris dev`.
func (apiCommand) Run(ctx context.Context, e *env) error {
	return app.ServeAPI(ctx, e.config, e.environ)
}

type processorCommand struct{}

// Run is message-processor, for `iris dev`.
func (processorCommand) Run(ctx context.Context, e *env) error {
	return app.ServeProcessor(ctx, e.config, e.environ)
}
