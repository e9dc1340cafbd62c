package main

import (
	"context"

	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/database"
	"github.com/iris-oncall/iris/internal/devmode"
	"github.com/iris-oncall/iris/internal/operator"
)

type devCommand struct {
	Processors  int    `help:"How many message-processors to run." default:"1"`
	Fresh       bool   `help:"Delete the data of earlier runs first."`
	NoDemo      bool   `help:"Start with an empty database."`
	StateDir    string `help:"Directory for the data." placeholder:"DIR" env:"IRIS_STATE_DIR" type:"path"`
	AllowRemote bool   `help:"Permit an IRIS_HTTP_ADDR that other machines can reach. The password of the demo user is public."`
	Verbose     bool   `short:"v" help:"Show the whole log of the servers, not only errors."`
}

// Run runs everything until it is interrupted.
func (c devCommand) Run(ctx context.Context, e *env) error {
	if c.Processors < 1 {
		return usagef("--processors must be between 1 and 64, not %d", c.Processors)
	}
	s, err := devmode.New(devmode.Options{
		StateDir: c.StateDir, Processors: c.Processors, Fresh: c.Fresh, NoDemo: c.NoDemo, Verbose: c.Verbose, AllowRemote: c.AllowRemote,
		ConfigFile: e.config, Environ: e.environ, Out: e.stdout,
	}, devDatabase{e})
	if err != nil {
		return err
	}
	return s.Run(ctx)
}

// devDatabase gives dev mode the commands that work on a database.
type devDatabase struct{ e *env }

// InUse implements devmode.Database.
func (d devDatabase) InUse(ctx context.Context, url string) (string, error) {
	common, err := d.e.common(url)
	if err != nil {
		return "", err
	}
	use, err := database.FindUse(ctx, common)
	return use.Host, err
}

// Migrate implements devmode.Database.
func (d devDatabase) Migrate(ctx context.Context, url string) error {
	common, err := d.e.common(url)
	if err != nil {
		return err
	}
	return database.Migrate(ctx, common, zap.NewNop())
}

// Operator implements devmode.Database.
func (d devDatabase) Operator(ctx context.Context, url string) (*operator.Operator, error) {
	common, err := d.e.common(url)
	if err != nil {
		return nil, err
	}
	db, in, err := database.Connect(ctx, common)
	if err != nil {
		return nil, err
	}
	return operator.New(db, in.Keys), nil
}
