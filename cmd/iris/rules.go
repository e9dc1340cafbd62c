package main

import (
	"context"
	"fmt"

	"github.com/iris-oncall/iris/internal/operator"
	"github.com/iris-oncall/iris/internal/users"
)

type userRuleCommand struct {
	List userRuleListCommand `cmd:"" help:"Print how pages of each priority reach a user."`
	Set  userRuleSetCommand  `cmd:"" help:"Set how pages of a priority reach a user: at once, and later while nobody acknowledges."`
}

type userRuleListCommand struct {
	Name string `arg:"" help:"Log-in name."`
}

// Run prints the rules of a user.
func (c userRuleListCommand) Run(ctx context.Context, e *env, o *operator.Operator) error {
	rules, err := o.NotificationRules(ctx, c.Name)
	if err != nil {
		return err
	}
	for _, r := range rules {
		fmt.Fprintln(e.stdout, r)
	}
	return nil
}

type userRuleSetCommand struct {
	Name      string   `arg:"" help:"Log-in name."`
	Priority  string   `arg:"" help:"urgent, high, medium or low."`
	Mode      string   `arg:"" help:"The mode at once: email, sms, call, slack, push, webhook, or default."`
	FollowUps []string `arg:"" optional:"" name:"follow-ups" help:"Later notifications as MODE:DELAY, such as sms:2m call:5m. They are sent if nobody has acknowledged by then."`
}

// Run sets the rule of a user for a priority.
func (c userRuleSetCommand) Run(ctx context.Context, e *env, o *operator.Operator) error {
	rule := users.NotificationRule{Priority: users.Priority(c.Priority)}
	if c.Mode != "default" {
		rule.Mode = users.Mode(c.Mode)
	}
	for _, text := range c.FollowUps {
		f, err := users.ParseFollowUp(text)
		if err != nil {
			return err
		}
		rule.FollowUps = append(rule.FollowUps, f)
	}
	if err := o.SetNotificationRule(ctx, c.Name, rule); err != nil {
		return err
	}
	fmt.Fprintf(e.stderr, "pages reach %s: %s\n", c.Name, rule)
	return nil
}
