package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/iris-oncall/iris/cmd/iris/internal/remote"
	"github.com/iris-oncall/iris/internal/legacy/imports"
	"github.com/iris-oncall/iris/internal/legacy/irisimport"
	"github.com/iris-oncall/iris/internal/legacy/oncallimport"
	"github.com/iris-oncall/iris/internal/program/config"
	"github.com/iris-oncall/iris/internal/program/operator"
)

type importCommand struct {
	Iris   importIrisCommand   `cmd:"" help:"Import the database of LinkedIn's Iris (docs/importing.md)."`
	Oncall importOncallCommand `cmd:"" help:"Import the database of LinkedIn's Oncall, and compare who is on call (docs/importing.md)."`
}

// importFlags are the flags of all imports.
type importFlags struct {
	From         string `required:"" help:"Database to read: mysql://user:password@host:port/name." placeholder:"URL" env:"IRIS_IMPORT_FROM"`
	PasswordFile string `help:"File with the password, if the URL has none. IRIS_IMPORT_PASSWORD may have it, too." placeholder:"FILE" type:"path"`
	DryRun       bool   `help:"Import everything, then roll back: the report says what would be written."`
	JSON         bool   `name:"json" help:"Print the report as JSON."`
}

type importIrisCommand struct {
	importFlags
	Mode   map[string]string `help:"Mode that replaces one that does not exist here, such as im=slack. May be repeated." placeholder:"THEIRS=OURS"`
	Active string            `help:"What happens to incidents that still escalate: continue or stop." enum:"continue,stop" default:"continue"`
	Relay  []string          `help:"An application that relays the responses of users (/v0/response/*), such as iris-relay. May be repeated." placeholder:"NAME"`
}

// Exit codes of an import. 0 = everything was imported.
const (
	exitNothingWritten = 1
	exitSomethingLost  = 3
)

// Run imports Iris's data and prints the report.
func (c importIrisCommand) Run(ctx context.Context, e *env) error {
	options := irisimport.Options{Modes: c.Mode, StopActive: c.Active == "stop", Relays: c.Relay}
	if err := options.Modes.Check(); err != nil {
		return err
	}
	in, err := c.source(e)
	if err != nil {
		return err
	}
	common, err := e.common("")
	if err != nil {
		return err
	}
	cfg, err := config.Load(e.config, e.environ)
	if err != nil {
		return err
	}
	options.Retention = cfg.Retention()
	report, err := operator.Iris(ctx, common, in, options)
	if err != nil {
		return err
	}
	return c.finish(e, report)
}

type importOncallCommand struct {
	importFlags
	Mode map[string]string `help:"Mode that replaces one that does not exist here, such as teams_messenger=slack. May be repeated." placeholder:"THEIRS=OURS"`
}

// Run imports Oncall's data and prints the report.
func (c importOncallCommand) Run(ctx context.Context, e *env) error {
	options := oncallimport.Options{Modes: c.Mode}
	if err := options.Modes.Check(); err != nil {
		return err
	}
	in, err := c.source(e)
	if err != nil {
		return err
	}
	common, err := e.common("")
	if err != nil {
		return err
	}
	report, err := operator.Oncall(ctx, common, in, options)
	if err != nil {
		return err
	}
	return c.finish(e, report)
}

// source returns what to import, with the password.
func (f importFlags) source(e *env) (operator.Import, error) {
	in := operator.Import{From: f.From, DryRun: f.DryRun, Progress: func(class string, rows int64) {
		fmt.Fprintf(e.stderr, "%s: rows read: %d\n", class, rows)
	}}
	for _, v := range e.environ {
		if value, ok := strings.CutPrefix(v, "IRIS_IMPORT_PASSWORD="); ok {
			in.Password = value
		}
	}
	if f.PasswordFile == "" {
		return in, nil
	}
	file, err := os.Open(f.PasswordFile)
	if err != nil {
		return in, fmt.Errorf("--password-file: %w", err)
	}
	defer file.Close()
	raw, err := io.ReadAll(io.LimitReader(file, 4096))
	if err != nil {
		return in, fmt.Errorf("--password-file: %w", err)
	}
	if in.Password = strings.TrimRight(string(raw), "\r\n"); in.Password == "" {
		return in, errors.New("--password-file: the file is empty: write the password to it")
	}
	return in, nil
}

// finish prints the report and returns the exit code.
func (f importFlags) finish(e *env, report *imports.Report) error {
	write := report.WriteText
	if f.JSON {
		write = report.WriteJSON
	}
	if err := write(e.stdout); err != nil {
		return err
	}
	switch {
	case report.Conflicts() > 0:
		return remote.ExitCode(exitNothingWritten)
	case report.Lost() > 0 || report.OnCall.Differs():
		return remote.ExitCode(exitSomethingLost)
	}
	return nil
}
