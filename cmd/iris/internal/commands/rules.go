package commands

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/iris-oncall/iris/cmd/iris/internal/remote"
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

const rulesBelow, quietBelow = "/notification-rules", "/quiet-limits"

// notificationRules are the rules of a person, on the wire.
type notificationRules struct {
	Rules []notificationRule `json:"rules"`
}

type notificationRule struct {
	Priority  users.Priority `json:"priority"`
	Mode      users.Mode     `json:"mode,omitempty"` // "" = the default of the priority
	FollowUps []followUp     `json:"follow_ups"`
}

type followUp struct {
	Mode         users.Mode `json:"mode"`
	DelaySeconds int64      `json:"delay_seconds"`
}

// rule returns the rule that describes itself.
func (r notificationRule) rule() users.NotificationRule {
	out := users.NotificationRule{Priority: r.Priority, Mode: r.Mode}
	for _, f := range r.FollowUps {
		out.FollowUps = append(out.FollowUps, users.FollowUp{Mode: f.Mode,
			After: time.Duration(f.DelaySeconds) * time.Second})
	}
	return out
}

type userRuleList struct{ userName }

// Run prints the rules of a person.
func (c userRuleList) Run(ctx context.Context, e remote.Env) error {
	api, err := c.API(ctx, e)
	if err != nil {
		return err
	}
	var found notificationRules
	if err := api.Do(ctx, http.MethodGet, c.path(rulesBelow), nil, &found); err != nil {
		return err
	}
	for _, r := range found.Rules {
		fmt.Fprintln(e.Out, r.rule())
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
	rule := notificationRule{Priority: users.Priority(c.Priority), FollowUps: []followUp{}}
	if c.Mode != "default" {
		rule.Mode = users.Mode(c.Mode)
	}
	for _, text := range c.FollowUps {
		f, err := users.ParseFollowUp(text)
		if err != nil {
			return remote.Usage(err)
		}
		rule.FollowUps = append(rule.FollowUps, followUp{f.Mode, int64(f.After / time.Second)})
	}
	if !slices.Contains(users.Priorities, rule.Priority) {
		return remote.Usagef("there is no priority %.60q: use urgent, high, medium or low", c.Priority)
	}
	api, err := c.API(ctx, e)
	if err != nil {
		return err
	}
	var all notificationRules
	if err := api.Do(ctx, http.MethodGet, c.path(rulesBelow), nil, &all); err != nil {
		return err
	}
	all.Rules = append(slices.DeleteFunc(all.Rules,
		func(r notificationRule) bool { return r.Priority == rule.Priority }), rule)
	for i := range all.Rules {
		if all.Rules[i].FollowUps == nil {
			all.Rules[i].FollowUps = []followUp{}
		}
	}
	if err := api.Do(ctx, http.MethodPut, c.path(rulesBelow), all, nil); err != nil {
		return err
	}
	fmt.Fprintf(e.Err, "pages reach %s: %s\n", c.Name, rule.rule())
	return nil
}

// UserQuiet prints and sets the quiet-time limits of a person.
type UserQuiet struct {
	userName
	PerDay      string   `help:"Calls and texts below urgent on one day, or default for the limit of the installation." placeholder:"N"`
	WorkingDays []string `help:"Priorities that are sent on working days only: medium, low, or none." placeholder:"PRIORITY"`
}

// Run sets the limits that are given, and prints all of them.
func (c UserQuiet) Run(ctx context.Context, e remote.Env) error {
	api, err := c.API(ctx, e)
	if err != nil {
		return err
	}
	var limits struct {
		PerDay      *int     `json:"calls_and_texts_per_day,omitempty"`
		WorkingDays []string `json:"working_days_only"`
	}
	if err := api.Do(ctx, http.MethodGet, c.path(quietBelow), nil, &limits); err != nil {
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
		limits.WorkingDays = slices.DeleteFunc(slices.Clone(c.WorkingDays), func(p string) bool { return p == "none" })
	}
	if c.PerDay != "" || len(c.WorkingDays) > 0 {
		if err := api.Do(ctx, http.MethodPut, c.path(quietBelow), limits, nil); err != nil {
			return err
		}
	}
	perDay := "default"
	if limits.PerDay != nil {
		perDay = strconv.Itoa(*limits.PerDay)
	}
	return e.Done(nil, "calls and texts below urgent on one day: %s\nworking days only: %v", perDay, limits.WorkingDays)
}
