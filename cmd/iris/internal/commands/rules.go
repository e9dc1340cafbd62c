package commands

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"

	"github.com/iris-oncall/iris/cmd/iris/internal/remote"
	"github.com/iris-oncall/iris/internal/program/client"
	"github.com/iris-oncall/iris/internal/users"
)

// UserRule is the group of commands about how pages reach a person.
type UserRule struct {
	List userRuleList `cmd:"" help:"Print how pages of each priority reach a user."`
	Set  userRuleSet  `cmd:"" help:"Set how pages of a priority reach a user: at once, and later while nobody acknowledges."`
}

// userName is the argument of commands about one person.
type userName struct {
	remote.Flags
	Name string `arg:"" help:"Log-in name."`
}

func (c userName) path(below string) string { return "/v1/users/" + url.PathEscape(c.Name) + below }

func (c userName) one() users.OnePerson { return users.OnePerson{User: c.Name} }

type userRuleList struct{ userName }

// Run prints the rules of a person.
func (c userRuleList) Run(ctx context.Context, e remote.Env) error {
	api, err := c.API(ctx, e)
	if err != nil {
		return err
	}
	found, err := client.Call(ctx, api, users.RulesOfPerson, c.one())
	if err != nil {
		return err
	}
	for _, r := range found.Rules {
		fmt.Fprintln(e.Out, r)
	}
	return nil
}

type userRuleSet struct {
	userName
	Priority  string   `arg:"" help:"urgent, high, medium or low."`
	Mode      string   `arg:"" help:"The mode at once: email, sms, call, slack, push, webhook, or default."`
	FollowUps []string `arg:"" optional:"" name:"follow-ups" help:"Later notifications as MODE:DELAY, such as sms:2m call:5m. They are sent if nobody has acknowledged by then."`
}

// Run sets the rule of a person for a priority.
func (c userRuleSet) Run(ctx context.Context, e remote.Env) error {
	rule := users.NotificationRule{Priority: users.Priority(c.Priority)}
	if c.Mode != "default" {
		rule.Mode = users.Mode(c.Mode)
	}
	for _, text := range c.FollowUps {
		f, err := users.ParseFollowUp(text)
		if err != nil {
			return remote.Usage(err)
		}
		rule.FollowUps = append(rule.FollowUps, f)
	}
	if !slices.Contains(users.Priorities, rule.Priority) {
		return remote.Usagef("there is no priority %.60q: use urgent, high, medium or low", c.Priority)
	}
	api, err := c.API(ctx, e)
	if err != nil {
		return err
	}
	all, err := client.Call(ctx, api, users.RulesOfPerson, c.one())
	if err != nil {
		return err
	}
	all.Rules = append(slices.DeleteFunc(all.Rules,
		func(r users.NotificationRule) bool { return r.Priority == rule.Priority }), rule)
	if _, err := client.Call(ctx, api, users.ReplaceRules, users.RulesEdit{OnePerson: c.one(), Body: all}); err != nil {
		return err
	}
	fmt.Fprintf(e.Err, "pages reach %s: %s\n", c.Name, rule)
	return nil
}

// UserQuiet prints and sets the quiet-time limits of a person.
type UserQuiet struct {
	userName
	PerDay      string           `help:"Calls and texts below urgent on one day, or default for the limit of the installation." placeholder:"N"`
	WorkingDays []users.Priority `help:"Priorities that are sent on working days only: medium, low, or none." placeholder:"PRIORITY"`
}

// Run sets the limits that are given, and prints all of them.
func (c UserQuiet) Run(ctx context.Context, e remote.Env) error {
	api, err := c.API(ctx, e)
	if err != nil {
		return err
	}
	limits, err := client.Call(ctx, api, users.QuietLimitsOfPerson, c.one())
	if err != nil {
		return err
	}
	if c.PerDay == "default" {
		limits.PerDay = nil
	} else if c.PerDay != "" {
		n, err := strconv.Atoi(c.PerDay)
		if err != nil {
			return remote.Usagef("--per-day: %.40q must be a number or default", c.PerDay)
		}
		limits.PerDay = &n
	}
	if len(c.WorkingDays) > 0 {
		limits.WorkingDays = slices.DeleteFunc(slices.Clone(c.WorkingDays), func(p users.Priority) bool { return p == "none" })
	}
	if c.PerDay != "" || len(c.WorkingDays) > 0 {
		if limits, err = client.Call(ctx, api, users.ReplaceQuietLimits, users.QuietEdit{OnePerson: c.one(), Body: limits}); err != nil {
			return err
		}
	}
	perDay := "default"
	if limits.PerDay != nil {
		perDay = strconv.Itoa(*limits.PerDay)
	}
	return e.Done(nil, "calls and texts below urgent on one day: %s\nworking days only: %v", perDay, limits.WorkingDays)
}
