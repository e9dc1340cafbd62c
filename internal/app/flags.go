package app

import (
	"flag"
	"fmt"
	"os"
)

// flags reads a server's command line; done means that the program has nothing more to do.
func flags(program string, args []string) (configFile string, done bool) {
	set := flag.NewFlagSet(program, flag.ExitOnError)
	set.StringVar(&configFile, "config", os.Getenv("IRIS_CONFIG"), "configuration `file` (YAML); environment variables override it")
	showVersion := set.Bool("version", false, "print the version and exit")
	_ = set.Parse(args) // ExitOnError
	if set.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "%s: unexpected argument %q\n", program, set.Arg(0))
		os.Exit(2)
	}
	if *showVersion {
		fmt.Fprintln(os.Stdout, program, Version())
		return "", true
	}
	return configFile, false
}
