package operator

import (
	"context"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/kit/fault"
)

// Intake has the settings for the alerts of an application; nil = unchanged.
type Intake struct {
	DefaultPlan *string // plan of alerts that name no usable plan; "" = none
	// LateWithin is how long after a resolve a firing alert counts as late. LateHold is how long a late alert waits for
	// its resolve.
	LateWithin, LateHold *time.Duration
}

// maxLate is the maximum of LateWithin and LateHold.
const maxLate = 24 * time.Hour

// SetIntake changes the settings for the alerts of an application. It returns an Invalid fault for an unknown plan, and
// for a duration that is negative or longer than 24 hours.
func (o *Operator) SetIntake(ctx context.Context, name string, in Intake) error {
	app, err := o.application(ctx, name)
	if err != nil {
		return err
	}
	if in.DefaultPlan != nil {
		app.DefaultPlan = strings.TrimSpace(*in.DefaultPlan)
		if app.DefaultPlan != "" {
			if _, err := o.plans.ByName(ctx, app.DefaultPlan); err != nil {
				return fault.Wrap(fault.Invalid, err, "application "+app.Name+": there is no active plan "+
					app.DefaultPlan+" for --default-plan")
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
			return fault.Invalidf("late", "application %s: %s must be between 0 and 24h", app.Name, t.flag)
		default:
			*t.to = *t.of
		}
	}
	return o.applications.SetIntake(ctx, app)
}

// parseFallback parses ROLE:NAME; "" = no fallback.
func parseFallback(text string) (*escalation.Target, error) {
	if text == "" {
		return nil, nil
	}
	role, name, ok := strings.Cut(text, ":")
	if !ok || role == "" || name == "" {
		return nil, fault.Invalidf("fallback", "--fallback: %.60q must be ROLE:NAME, such as team:sre or user:alice",
			text)
	}
	return &escalation.Target{Role: role, Name: name}, nil
}

// SetApplicationFallback sets the target (ROLE:NAME) that is paged when no recipient of a step can be reached and the
// plan has no fallback; "" = no fallback.
func (o *Operator) SetApplicationFallback(ctx context.Context, name, fallback string) error {
	to, err := parseFallback(fallback)
	if err != nil {
		return err
	}
	app, err := o.application(ctx, name)
	if err != nil {
		return err
	}
	return o.applications.SetFallback(ctx, app.ID, to)
}
