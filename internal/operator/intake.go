package operator

import (
	"context"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/fault"
)

// Intake is how the alerts of an application are taken. Nil means no change.
type Intake struct {
	DefaultPlan          *string // for alerts without a usable plan; "" = none
	LateWithin, LateHold *time.Duration
}

// maxLate bounds how late a delivery may count as late, and how long it waits.
const maxLate = 24 * time.Hour

// SetIntake changes how the alerts of an application are taken.
func (o *Operator) SetIntake(ctx context.Context, name string, in Intake) error {
	app, err := o.applications.ByName(ctx, name)
	if fault.Is(err, fault.NotFound) {
		return fault.Wrap(fault.NotFound, err, "there is no application "+name)
	}
	if err != nil {
		return err
	}
	if in.DefaultPlan != nil {
		app.DefaultPlan = strings.TrimSpace(*in.DefaultPlan)
		if app.DefaultPlan != "" {
			if _, err := o.plans.ByName(ctx, app.DefaultPlan); err != nil {
				return fault.Wrap(fault.Invalid, err, "default plan: there is no active plan "+app.DefaultPlan)
			}
		}
	}
	for _, t := range []struct {
		flag string
		of   *time.Duration
		to   *time.Duration
	}{{"--late-within", in.LateWithin, &app.LateWithin}, {"--late-hold", in.LateHold, &app.LateHold}} {
		switch {
		case t.of == nil:
		case *t.of < 0 || *t.of > maxLate:
			return fault.Invalidf("late", "%s must be between 0 and 24h", t.flag)
		default:
			*t.to = *t.of
		}
	}
	if err := o.applications.SetIntake(ctx, app); err != nil {
		return err
	}
	return o.note(ctx, "intake of alerts changed", "application "+app.Name)
}

// maxRepage bounds repage_after, which is stored in seconds.
const maxRepage = 365 * 24 * time.Hour

// SetRepageAfter sets after which time a repeated alert starts a plan again that is exhausted; 0 = never.
func (o *Operator) SetRepageAfter(ctx context.Context, plan string, after time.Duration) error {
	if after < 0 || after > maxRepage {
		return fault.Invalidf("repage_after", "--repage-after must be between 0 and 8760h")
	}
	if after > 0 && after < time.Minute {
		return fault.Invalidf("repage_after", "--repage-after must be 0 or at least 1m")
	}
	if err := o.plans.SetRepageAfter(ctx, plan, after); err != nil {
		return err
	}
	return o.note(ctx, "repage_after changed", "plan "+plan+", "+after.String())
}

// parseFallback reads ROLE:NAME; "" is no fallback.
func parseFallback(text string) (*escalation.Target, error) {
	if text == "" {
		return nil, nil
	}
	role, name, ok := strings.Cut(text, ":")
	if !ok || role == "" || name == "" {
		return nil, fault.Invalidf("fallback", "--fallback: %.60q must be ROLE:NAME, such as team:sre or user:alice", text)
	}
	return &escalation.Target{Role: role, Name: name}, nil
}

// SetPlanFallback sets who is paged when nobody of a step of the plan can be reached, as ROLE:NAME; "" = nobody in particular.
func (o *Operator) SetPlanFallback(ctx context.Context, plan, fallback string) error {
	to, err := parseFallback(fallback)
	if err != nil {
		return err
	}
	if err := o.plans.SetFallback(ctx, plan, to); err != nil {
		return err
	}
	return o.note(ctx, "fallback changed", "plan "+plan+", "+fallback)
}

// SetApplicationFallback is SetPlanFallback for an application, whose fallback is paged when the plan has none.
func (o *Operator) SetApplicationFallback(ctx context.Context, name, fallback string) error {
	to, err := parseFallback(fallback)
	if err != nil {
		return err
	}
	app, err := o.applications.ByName(ctx, name)
	if fault.Is(err, fault.NotFound) {
		return fault.Wrap(fault.NotFound, err, "there is no application "+name)
	}
	if err != nil {
		return err
	}
	if err := o.applications.SetFallback(ctx, app.ID, to); err != nil {
		return err
	}
	return o.note(ctx, "fallback changed", "application "+app.Name+", "+fallback)
}
