package main

import (
	"context"

	"github.com/iris-oncall/iris/cmd/iris/internal/commands"
	"github.com/iris-oncall/iris/cmd/iris/internal/remote"
	"github.com/iris-oncall/iris/internal/dev/devmode"
)

type devCommand struct {
	Processors  int    `help:"How many message-processors to run." default:"1"`
	Fresh       bool   `help:"Delete the data of earlier runs first."`
	NoDemo      bool   `help:"Start without demo data: only the administrator demo with password demo."`
	StateDir    string `help:"Directory for the data." placeholder:"DIR" env:"IRIS_STATE_DIR" type:"path"`
	AllowRemote bool   `help:"Permit an IRIS_HTTP_ADDR that other machines can reach. The password of the demo user is public."`
	Verbose     bool   `short:"v" help:"Show the whole log of the servers, not only errors."`
}

// Run runs everything until it is interrupted.
func (c devCommand) Run(ctx context.Context, e *env) error {
	if c.Processors < 1 {
		return remote.Usagef("--processors must be between 1 and 64, not %d", c.Processors)
	}
	s, err := devmode.New(devmode.Options{
		StateDir: c.StateDir, Processors: c.Processors, Fresh: c.Fresh, NoDemo: c.NoDemo, Verbose: c.Verbose, AllowRemote: c.AllowRemote,
		ConfigFile: e.config, Environ: e.environ, Out: e.stdout,
	})
	if err != nil {
		return err
	}
	return s.Run(commands.AsProgram(ctx))
}
