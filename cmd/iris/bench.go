package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"github.com/iris-oncall/iris/cmd/iris/internal/remote"
	"github.com/iris-oncall/iris/internal/dev/bench"
	"github.com/iris-oncall/iris/internal/program"
	"github.com/iris-oncall/iris/internal/program/config"
	"github.com/iris-oncall/iris/internal/program/database"
)

type benchCommand struct {
	Burst         int           `help:"Post N incidents as fast as possible." placeholder:"N"`
	Rate          string        `help:"Post incidents at a rate, such as 2000/min." placeholder:"RATE"`
	For           time.Duration `help:"Duration of --rate." default:"1m"`
	Notifications int           `help:"Post N out-of-band notifications as fast as possible." placeholder:"N"`
	Storm         int           `help:"Post N groups of alerts 20 times as two Alertmanagers do, and new incidents meanwhile." placeholder:"N"`

	Pages int `help:"Request each page of the console N times, one at a time." placeholder:"N"`

	URL  string `name:"url" help:"Address of a running iris-api. Without it, the bench starts its own servers." placeholder:"URL"`
	App  string `help:"Application at the running server." placeholder:"NAME"`
	Key  string `help:"Key of the application." placeholder:"KEY"`
	Plan string `help:"Plan at the running server; its first step must send e-mail." placeholder:"NAME"`
	Sink string `help:"Address of the bench's mail server. IRIS_SMTP_ADDR of a running server must be the same. Default: a free port." placeholder:"HOST:PORT"`

	Processors  int           `help:"Number of processors that the bench starts." default:"1"`
	Kill        string        `help:"Kill half of the processors with SIGKILL during the run." enum:"none,half" default:"none" placeholder:"half"`
	Connections int           `help:"Maximum of simultaneous requests." default:"64"`
	Patience    time.Duration `help:"Time without any delivery after which missing messages count as lost." default:"1m"`
	Profile     string        `help:"Directory for CPU and heap profiles of the servers." placeholder:"DIR" type:"path"`
	Fill        float64       `help:"Fill the database first with this share of the full size (1 = 3,000,000 past incidents). Without a load, do only that." placeholder:"SHARE"`
	JSON        string        `name:"json" help:"File for the figures as JSON." placeholder:"FILE" type:"path"`
}

// Run measures and prints the figures.
func (c benchCommand) Run(ctx context.Context, e *env) error {
	if err := c.check(); err != nil {
		return err
	}
	program.RelaxCollector(e.environ, debug.SetGCPercent) // the load generator shares the machine with the servers
	o := bench.Options{
		Burst: c.Burst, For: c.For, Notifications: c.Notifications, Storm: c.Storm, URL: c.URL, App: c.App, Key: c.Key, Plan: c.Plan,
		Processors: c.Processors, KillHalf: c.Kill == "half", ConfigFile: e.config, Environ: e.environ, ProfileDir: c.Profile,
		Sink: c.Sink, Connections: c.Connections, Patience: c.Patience, Fill: c.Fill, Out: e.stderr,
	}
	if c.Rate != "" {
		rate, err := config.ParseRate(c.Rate)
		if err != nil {
			return remote.Usagef("--rate: %w", err)
		}
		o.Rate = float64(rate)
	}
	if c.URL == "" {
		cfg, err := config.Load(e.config, e.environ)
		if err != nil {
			return err
		}
		o.DatabaseURL = cfg.DatabaseURL().Reveal()
	}
	if o.DatabaseURL != "" {
		if err := e.refuseInUse(ctx); err != nil {
			return err
		}
	}
	if c.Pages > 0 {
		pages, err := bench.Pages(ctx, o, c.Pages)
		return errors.Join(err, bench.PrintPages(e.stdout, pages))
	}
	if c.Fill > 0 && c.Burst == 0 && c.Rate == "" && c.Notifications == 0 && c.Storm == 0 {
		return bench.Fill(ctx, o.DatabaseURL, c.Fill, e.stderr)
	}
	result, err := bench.Run(ctx, o)
	if err != nil && result.Posted == 0 {
		return err
	}
	result.Print(e.stdout)
	if c.JSON != "" {
		if err := result.Save(c.JSON); err != nil {
			return err
		}
	}
	return err
}

// check finds mistakes that would show only after the measurement. It creates the directory of --profile and the file of
// --json.
func (c benchCommand) check() error {
	for _, flag := range []struct {
		name  string
		value int64
	}{{"--processors", int64(c.Processors)}, {"--connections", int64(c.Connections)}, {"--for", int64(c.For)}, {"--patience", int64(c.Patience)}} {
		if flag.value < 1 {
			return remote.Usagef("%s must be more than 0", flag.name)
		}
	}
	if c.Profile != "" {
		if err := os.MkdirAll(c.Profile, 0o755); err != nil {
			return fmt.Errorf("--profile: %w", err)
		}
	}
	if c.JSON == "" {
		return nil
	}
	f, err := os.OpenFile(c.JSON, os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("--json: %w", err)
	}
	return f.Close()
}

// refuseInUse refuses a database that other programs use: the bench's processors would send the pages of its incidents
// to the bench's mail server, and other processors would send the bench's pages.
func (e *env) refuseInUse(ctx context.Context) error {
	common, err := e.common("")
	if err != nil {
		return err
	}
	use, err := database.FindUse(ctx, common)
	if err != nil {
		return err
	}
	const remedy = "give the bench an empty database, or unset IRIS_DATABASE_URL so that it starts its own"
	if use.Host != "" {
		return fmt.Errorf("message-processors on %s use the configured database: %s", use.Host, remedy)
	}
	for _, name := range use.People {
		if !strings.HasPrefix(name, bench.NamePrefix) {
			return fmt.Errorf("the configured database has users (%s) whose pages would go to the bench: %s", name,
				remedy)
		}
	}
	return nil
}

type benchSinkCommand struct {
	Addr string `arg:"" help:"Address to listen on."`
}

// Run is the mail server of the bench, in a process of its own.
func (c benchSinkCommand) Run(ctx context.Context, e *env) error {
	program.RelaxCollector(e.environ, debug.SetGCPercent)
	return bench.RunSink(ctx, c.Addr, e.stdin, e.stdout)
}
