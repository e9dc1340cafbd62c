package main

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/iris-oncall/iris/cmd/iris/internal/remote"
	"github.com/iris-oncall/iris/cmd/iris/internal/text"
	"github.com/iris-oncall/iris/internal/program/config"
	"github.com/iris-oncall/iris/internal/program/operator"
	"github.com/iris-oncall/iris/internal/users/directory"
)

type syncCommand struct {
	DryRun    bool `help:"Print what would change, and change nothing."`
	AllowGone bool `help:"Apply the changes even if many people are missing in the directory."`
	JSON      bool `name:"json" help:"Print the report as JSON."`
}

// Help explains the exit codes.
func (syncCommand) Help() string {
	return "The directory is sync.from in the configuration. Processors sync with it every hour, too. " +
		"Exit code 0: done. 3: too many people are missing in the directory, nothing was changed. 1: the command failed."
}

// exitStopped is the exit code if too many people are missing in the directory.
const exitStopped remote.ExitCode = 3

// Run syncs and prints the changes.
func (c syncCommand) Run(ctx context.Context, e *env) error {
	loaded, err := config.Load(e.config, e.environ)
	if err != nil {
		return err
	}
	cfg, err := loaded.Directory()
	if err != nil {
		return err
	}
	report, err := operator.Directory(ctx, cfg, directory.Options{DryRun: c.DryRun, AllowGone: c.AllowGone})
	if err != nil {
		return err
	}
	if c.JSON {
		err = remote.WriteJSON(e.stdout, syncReport(report))
	} else {
		err = tableSync(e.stdout, report)
	}
	if err == nil && report.Stopped != "" {
		return exitStopped
	}
	return err
}

// syncJSON is the report for programs.
type syncJSON struct {
	Source   string        `json:"source"`
	DryRun   bool          `json:"dry_run"`
	Stopped  string        `json:"stopped"`
	Entries  int           `json:"entries"`
	Unsynced int           `json:"strangers"`
	Seconds  float64       `json:"seconds"`
	People   []syncChange  `json:"people"`
	Lists    []syncChange  `json:"lists"`
	Problems []syncProblem `json:"problems"`
}

type syncChange struct {
	Change string `json:"change"`
	Name   string `json:"name"`
	Detail string `json:"detail"`
}

type syncProblem struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

func syncReport(r directory.Report) syncJSON {
	out := syncJSON{
		Source: r.Source, DryRun: r.DryRun, Stopped: r.Stopped, Entries: r.Entries, Unsynced: r.Unsynced, Seconds: r.Took.Seconds(),
		People: []syncChange{}, Lists: []syncChange{}, Problems: []syncProblem{},
	}
	for _, c := range r.Changes {
		out.People = append(out.People, syncChange{string(c.Kind), c.Name, c.Detail()})
	}
	for _, c := range r.Lists {
		out.Lists = append(out.Lists, syncChange{string(c.Kind), c.Name, listDetail(c)})
	}
	for _, p := range r.Problems {
		out.Problems = append(out.Problems, syncProblem{p.Name, p.Text})
	}
	return out
}

func listDetail(c directory.ListChange) string {
	if c.Kind == directory.SwitchOff {
		return ""
	}
	return fmt.Sprintf("%d members, %d of them here", c.Size, len(c.Members))
}

func tableSync(out io.Writer, r directory.Report) error {
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	line := func(kind, what, name, detail string) { // Flush returns the error
		if detail == "" {
			_ = text.Row(w, kind, what, name)
		} else {
			_ = text.Row(w, kind, what, name, detail)
		}
	}
	if len(r.Changes)+len(r.Lists) > 0 {
		line("CHANGE", "WHAT", "NAME", "DETAIL")
	}
	for _, c := range r.Changes {
		line(string(c.Kind), "person", c.Name, c.Detail())
	}
	for _, c := range r.Lists {
		line(string(c.Kind), "list", c.Name, listDetail(c))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, p := range r.Problems {
		fmt.Fprintf(out, "ignored: %s: %s\n", text.SingleLine.Replace(p.Name), text.SingleLine.Replace(p.Text))
	}
	fmt.Fprintf(out, "%d entries in %s; %d active users were never in it and are not changed.\n", r.Entries, r.Source,
		r.Unsynced)
	switch {
	case r.Stopped != "":
		fmt.Fprintf(out, "NOTHING WAS CHANGED: %s. If that is right: iris sync --allow-gone\n", r.Stopped)
	case r.DryRun:
		fmt.Fprintln(out, "Nothing was changed: this was a dry run.")
	}
	return nil
}
