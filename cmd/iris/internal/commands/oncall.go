package commands

import (
	"context"
	"net/url"

	"github.com/iris-oncall/iris/cmd/iris/internal/remote"
	"github.com/iris-oncall/iris/cmd/iris/internal/text"
	"github.com/iris-oncall/iris/internal/oncall/scheduling"
	"github.com/iris-oncall/iris/internal/program/client"
)

// OnCall prints who is on call.
type OnCall struct {
	remote.Flags
	Team    string `arg:"" optional:"" help:"Name of the team."`
	Service string `help:"All teams that own the service, instead of one team." placeholder:"SERVICE"`
	Role    string `help:"Only this role; without it, all roles of the calendar." placeholder:"ROLE"`
	At      string `help:"When: now, +2h, +3d, '2026-11-22 02:00' on the team's clock, 2026-11-22T02:00:00+01:00." default:"now" placeholder:"TIME"`
	Next    bool   `help:"Print the next hand-offs, too."`
	Gaps    bool   `help:"Print the gaps, too: times that must be covered and in which nobody has a shift."`
	For     string `help:"Period of the hand-offs and gaps, such as 12h, 30d or 8w." default:"30d" placeholder:"TIME"`
	remote.Output
}

// Help explains the exit codes.
func (OnCall) Help() string {
	return "Exit code 0: every printed role has somebody on call. 3: a role has nobody, or --gaps found a gap. 1: the command failed. 2: the command line is wrong."
}

// nobodyOnCall is the exit code if a role has nobody on call, or a gap was found.
const nobodyOnCall remote.ExitCode = 3

// Run prints who is on call.
func (c OnCall) Run(ctx context.Context, e remote.Env) error {
	switch {
	case c.Team == "" && c.Service == "":
		return remote.Usagef("name a team, or a service with --service")
	case c.Team != "" && c.Service != "":
		return remote.Usagef("name either a team or, with --service, a service, not both")
	}
	ahead, err := remote.Period(c.For)
	if err != nil {
		return err
	}
	api, err := c.API(ctx, e)
	if err != nil {
		return err
	}
	query := url.Values{"at": {c.At}, "for": {ahead.String()}}
	for name, value := range map[string]string{"team": c.Team, "service": c.Service, "role": c.Role} {
		if value != "" {
			query.Set(name, value)
		}
	}
	teams, err := client.All[scheduling.Team](ctx, api, "/v1/oncall?"+query.Encode())
	if err != nil {
		return err
	}
	out := text.OnCall{Next: c.Next, Gaps: c.Gaps}
	switch c.Format {
	case "json":
		err = remote.WriteJSON(e.Out, teams)
	case "plain":
		err = out.Plain(e.Out, teams)
	default:
		err = out.Table(e.Out, teams)
	}
	if err == nil && out.Lacking(teams) {
		return nobodyOnCall
	}
	return err
}
