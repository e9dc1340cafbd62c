package app

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/iris-oncall/iris/internal/app/server"
)

// usage is what --help says of a server. Everything but the file's name is configuration, which is the same for all programs.
const usage = `Usage: %s [--config FILE] [--version]

%s

  --config FILE    configuration file (YAML); by default the one that IRIS_CONFIG names
  --version        print the version and exit

Environment variables (IRIS_DATABASE_URL, IRIS_PUBLIC_URL ...) set the same keys as the file, and win. It needs at least
IRIS_DATABASE_URL. "iris check-config" says what is wrong with a configuration; docs/configuration.md lists everything.
Logs go to standard error; SIGTERM or Ctrl-C stops it in good order. Exit code 1: it could not run, 2: wrong command line.
`

// flags reads a server's command line. done means that the program has nothing more to do, and ends with the code.
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

// Main is the whole of a server's program: flags, signals, exit code. purpose tells on --help what it is for.
func Main(program, purpose string, serve Serve) {
	configFile, code, done := flags(program, purpose, os.Args[1:], os.Getenv, os.Stdout, os.Stderr)
	if done {
		os.Exit(code)
	}
	ctx, stop := Signals()
	defer stop()
	if err := serve(ctx, configFile, os.Environ()); err != nil {
		Complain(os.Stderr, program, err)
		stop()
		os.Exit(1)
	}
}
