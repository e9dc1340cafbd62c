package program

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/iris-oncall/iris/internal/program/server"
)

// usage is the help text of a server. All settings but the name of the file are configuration, which all programs
// share.
const usage = `Usage: %s [--config FILE] [--version]

%s

  --config FILE    configuration file (YAML); by default the one that IRIS_CONFIG names
  --version        print the version and exit

Environment variables (IRIS_DATABASE_URL, IRIS_PUBLIC_URL ...) override the keys of the file. IRIS_DATABASE_URL is required.
"iris check-config" lists the problems of a configuration; docs/configuration.md describes all keys. The log goes to standard
error. SIGTERM or Ctrl-C stops the server in order. Exit codes: 1 the server failed, 2 the command line is wrong.
`

// flags parses the command line of a server. done means that the program ends with the exit code.
func flags(program, purpose string, args []string, environ func(string) string, out, errs io.Writer) (configFile string, code int, done bool) {
	set := flag.NewFlagSet(program, flag.ContinueOnError)
	set.SetOutput(io.Discard)
	set.StringVar(&configFile, "config", environ("IRIS_CONFIG"), "")
	showVersion := set.Bool("version", false, "")
	err := set.Parse(args)
	if err == nil && set.NArg() > 0 {
		err = fmt.Errorf("unexpected argument %q", set.Arg(0))
	}
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprintf(out, usage, program, purpose)
		return "", 0, true
	case err != nil:
		fmt.Fprintf(errs, "%s: %v (see: %s --help)\n", program, err, program)
		return "", 2, true
	case *showVersion:
		fmt.Fprintln(out, program, server.Version())
		return "", 0, true
	}
	return configFile, 0, false
}

// Main is the main function of a server. purpose is its description in the help text.
func Main(program, purpose string, serve Serve) {
	configFile, code, done := flags(program, purpose, os.Args[1:], os.Getenv, os.Stdout, os.Stderr)
	if done {
		os.Exit(code)
	}
	ctx, stop := Signals()
	defer stop()
	if err := serve(ctx, configFile, os.Environ()); err != nil {
		PrintError(os.Stderr, program, err)
		stop()
		os.Exit(1)
	}
}
