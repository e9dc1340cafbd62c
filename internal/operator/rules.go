package operator

import (
	"context"

	"github.com/iris-oncall/iris/internal/postgres/people"
	"github.com/iris-oncall/iris/internal/users"
)

// NotificationRules returns how pages reach a user: one rule for every priority, most urgent first.
func (o *Operator) NotificationRules(ctx context.Context, name string) ([]users.NotificationRule, error) {
	u, err := o.user(ctx, name)
	if err != nil {
		return nil, err
	}
	return people.NewSettings(o.db).NotificationRules(ctx, u.ID)
}

// SetNotificationRule replaces the rule of a user for one priority. A rule that cannot be stored is an Invalid fault.
func (o *Operator) SetNotificationRule(ctx context.Context, name string, rule users.NotificationRule) error {
	u, err := o.user(ctx, name)
	if err != nil {
		return err
	}
	settings := people.NewSettings(o.db)
	rules, err := settings.NotificationRules(ctx, u.ID)
	if err != nil {
		return err
	}
	if _, err := users.CheckRules([]users.NotificationRule{rule}); err != nil {
		return err
	}
	for i := range rules {
		if rules[i].Priority == rule.Priority {
			rules[i] = rule
		}
	}
	return settings.SetNotificationRules(ctx, u, rules, operatorName)
}

// QuietLimits returns the quiet-time limits that a user chose.
func (o *Operator) QuietLimits(ctx context.Context, name string) (users.QuietLimits, error) {
	u, err := o.user(ctx, name)
	if err != nil {
		return users.QuietLimits{}, err
	}
	return people.NewSettings(o.db).QuietLimits(ctx, u.ID)
}

// SetQuietLimits replaces the quiet-time limits of a user. Limits that cannot be stored are an Invalid fault.
func (o *Operator) SetQuietLimits(ctx context.Context, name string, limits users.QuietLimits) error {
	u, err := o.user(ctx, name)
	if err != nil {
		return err
	}
	if err := limits.Check(); err != nil {
		return err
	}
	return people.NewSettings(o.db).SetQuietLimits(ctx, u, limits, operatorName)
}
