package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"

	"github.com/alecthomas/kong"
	"golang.org/x/term"

	"github.com/iris-oncall/iris/cmd/iris/internal/commands"
	"github.com/iris-oncall/iris/cmd/iris/internal/remote"
	"github.com/iris-oncall/iris/cmd/iris/internal/text"
	"github.com/iris-oncall/iris/internal/program"
)

// cli is the command line. Each command's Run method does the work.
type cli struct {
	Config string `help:"Configuration file (YAML). Environment variables override it." placeholder:"FILE" env:"IRIS_CONFIG" type:"path"`

	ShowVersion kong.VersionFlag `name:"version" help:"Print the version and exit."`

	Dev          devCommand           `cmd:"" help:"Run Iris on this machine, with PostgreSQL, a mailbox and demo data."`
	Migrate      migrateCommand       `cmd:"" help:"Migrate the schema of the database to this release. Needs the database."`
	CheckConfig  checkConfigCommand   `cmd:"" help:"List the problems of the configuration."`
	CheckUpgrade checkUpgradeCommand  `cmd:"" help:"List who loses what by the upgrade to this release. Needs the database."`
	Get          commands.Get         `cmd:"" help:"Print an object of any kind."`
	List         commands.List        `cmd:"" help:"List the objects of a kind."`
	Delete       commands.Delete      `cmd:"" help:"Delete an object of any kind."`
	Render       commands.Render      `cmd:"" help:"Render a template from standard input as the processor does."`
	User         userCommand          `cmd:"" help:"Add, list and change users."`
	App          appCommand           `cmd:"" help:"Add and change applications: the programs that post incidents."`
	Integration  commands.Integration `cmd:"" help:"Add and change integrations: the senders of alerts."`
	Heartbeat    commands.Heartbeat   `cmd:"" help:"Add, list and remove heartbeats: signals whose absence opens an incident."`
	Route        commands.Route       `cmd:"" help:"Test the routing rules of an integration."`
	Incident     commands.Incident    `cmd:"" help:"Open, list, acknowledge, resolve, snooze and merge incidents, page further people, change owners."`
	Silence      commands.Silence     `cmd:"" help:"Add, list and end silences and maintenance windows."`
	Plan         commands.Plan        `cmd:"" help:"List, show, change and delete plans."`
	Template     commands.Template    `cmd:"" help:"Delete templates."`
	Team         teamCommand          `cmd:"" help:"Add and delete teams."`
	SCIM         commands.SCIM        `cmd:"" name:"scim" help:"Connections of directories that push people, and the deactivations that wait for an administrator."`
	Audit        commands.Audit       `cmd:"" help:"List and export the audit log."`
	Priority     priorityCommand      `cmd:"" help:"List and set the default mode of each priority. Needs the database."`
	Contact      contactCommand       `cmd:"" help:"Set and verify the contacts of users. Needs the database."`
	Oncall       commands.OnCall      `cmd:"" help:"Print who is on call for a team or service."`
	Simulate     commands.Simulate    `cmd:"" help:"Print whom a plan would page, when, how and why. Nothing is sent."`
	Import       importCommand        `cmd:"" help:"Import the database of a predecessor. Needs the database."`
	Sync         syncCommand          `cmd:"" help:"Update people and mailing lists from LDAP or Slack. Needs the database."`
	Bench        benchCommand         `cmd:"" help:"Measure: post incidents and compare them with the received e-mails."`
	Healthcheck  healthcheckCommand   `cmd:"" help:"Check whether a server is ready; for health checks of containers."`
	Login        remote.Login         `cmd:"" help:"Log in to a server with the browser, for the token commands."`
	Logout       remote.Logout        `cmd:"" help:"Revoke and remove the token of a server."`
	Token        remote.Token         `cmd:"" help:"List, create and revoke tokens on a server."`
	Version      versionCommand       `cmd:"" help:"Print the version."`

	API       apiCommand       `cmd:"" name:"api" hidden:"" help:"Run iris-api."`
	Processor processorCommand `cmd:"" name:"processor" hidden:"" help:"Run message-processor."`
	BenchSink benchSinkCommand `cmd:"" name:"bench-sink" hidden:"" help:"Run the mail server of bench."`
}

// description is the help of the whole command.
const description = "Iris pages the right person, once, in time.\n\n" +
	"Commands with the flag --server work from any machine: they call a server with a token (iris login). Where a database is configured, most of " +
	"them work on it without a token. Commands with \"Needs the database\" work only there."

// env is the environment of a command; tests set their own.
type env struct {
	api     http.RoundTripper // what local returned; nil = nothing yet
	close   func()            // nil = the command has not opened the database
	config  string
	environ []string
	stdin   io.Reader
	stdout  io.Writer
	stderr  io.Writer
}

func main() {
	ctx, stop := program.Signals()
	e := &env{environ: os.Environ(), stdin: os.Stdin, stdout: shown(os.Stdout), stderr: shown(os.Stderr)}
	code := run(ctx, os.Args[1:], e)
	stop()
	os.Exit(code)
}

// shown returns a writer for a standard stream: on a terminal only printable characters are shown.
func shown(f *os.File) io.Writer {
	if term.IsTerminal(int(f.Fd())) {
		return text.Printable(f)
	}
	return f
}

// run parses args, runs the command and returns the exit code: 1 = failure, 2 = wrong command line.
func run(ctx context.Context, args []string, e *env) int {
	ctx = commands.OnServer(ctx)
	var c cli
	exited := -1
	parser, err := kong.New(&c,
		kong.Name("iris"), kong.Description(description), kong.Vars{"version": "iris " + program.Version()},
		kong.Writers(e.stdout, e.stderr), kong.Exit(func(code int) { exited = code }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.BindTo(ctx, (*context.Context)(nil)), kong.Bind(e), kong.BindToProvider(e.operator), kong.Bind(remote.Env{Environ: e.environ, In: e.stdin, Out: e.stdout, Err: e.stderr, Local: e.local}))
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
		fmt.Fprintf(e.stderr, "iris: %s (see: %s --help)\n", noValue.ReplaceAllString(err.Error(), "needs a value"),
			command(err))
		return 2
	}
	e.config = c.Config
	err = parsed.Run()
	if e.close != nil {
		e.close()
	}
	var code remote.ExitCode
	switch {
	case err == nil:
		return 0
	case errors.As(err, &code):
		return int(code)
	case remote.IsUsage(err):
		fmt.Fprintf(e.stderr, "iris: %v (see: %s --help)\n", err, parsed.Selected().FullPath())
		return 2
	}
	program.PrintError(e.stderr, "iris", err)
	return 1
}

// noValue matches the parser's error about a flag at the end of the line that needs a value.
var noValue = regexp.MustCompile(`expected \w+ value but got "EOL" \(<EOL>\)`)

// command returns the command whose line is wrong, as far as the parser understood it.
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
	_, err := fmt.Fprintln(e.stdout, "iris", program.Version())
	return err
}

type apiCommand struct{}

// Run is iris-api, for `iris dev`.
func (apiCommand) Run(ctx context.Context, e *env) error {
	return program.ServeAPI(commands.AsProgram(ctx), e.config, e.environ)
}

type processorCommand struct{}

// Run is message-processor, for `iris dev`.
func (processorCommand) Run(ctx context.Context, e *env) error {
	return program.ServeProcessor(commands.AsProgram(ctx), e.config, e.environ)
}
