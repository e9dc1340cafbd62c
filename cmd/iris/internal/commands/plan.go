package commands

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/iris-oncall/iris/cmd/iris/internal/remote"
	"github.com/iris-oncall/iris/cmd/iris/internal/text"
	"github.com/iris-oncall/iris/internal/catalog"
	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/program/client"
	"github.com/iris-oncall/iris/internal/users"
)

// Plan is the group of commands about plans.
type Plan struct {
	List   planList   `cmd:"" help:"List the active plans."`
	Show   planShow   `cmd:"" help:"Show a plan with its steps: the active version of a name, or any by its number."`
	Set    planSet    `cmd:"" help:"Change settings of all versions of a plan."`
	Delete planDelete `cmd:"" help:"Delete a plan that is not in use. Its versions are kept as history."`
}

// targetText names the target of a notification, or the target that the incident brings.
func targetText(n catalog.Notification) string {
	switch {
	case n.Target != nil:
		return n.Target.Role + ":" + n.Target.Name
	case n.DynamicIndex != nil:
		return fmt.Sprintf("target %d of the incident", *n.DynamicIndex+1)
	}
	return ""
}

type planList struct{ remote.Flags }

// Run lists the active plans, newest first.
func (c planList) Run(ctx context.Context, e remote.Env) error {
	api, err := c.API(ctx, e)
	if err != nil {
		return err
	}
	return listObjects(ctx, api, e.Out, catalog.PlanKind, nil, math.MaxInt, "table")
}

// planName is the argument of commands about one plan.
type planName struct {
	remote.Flags
	Name string `arg:"" help:"Name."`
}

func (c planName) one() catalog.OnePlan { return catalog.OnePlan{Plan: c.Name} }

type planShow struct{ planName }

// Run shows a plan.
func (c planShow) Run(ctx context.Context, e remote.Env) error {
	api, err := c.API(ctx, e)
	if err != nil {
		return err
	}
	p, err := client.Call(ctx, api, catalog.GetPlan, c.one())
	if err != nil {
		return err
	}
	fmt.Fprintf(e.Out, "plan: %s\nversion: %d, saved %s by %s\nactive: %t\nteam: %s\ndescription: %s\n", p.Name, p.ID,
		text.Moment(p.CreatedAt), p.Creator, p.Active, p.Team,
		text.SingleLine.Replace(p.Description))
	if p.Paused {
		fmt.Fprintln(e.Out, "paused: true")
	}
	if p.Fallback != nil {
		fmt.Fprintf(e.Out, "fallback: %s:%s\n", p.Fallback.Role, p.Fallback.Name)
	}
	w := tabwriter.NewWriter(e.Out, 0, 4, 2, ' ', 0)
	_ = text.Row(w, "STEP", "WHO", "PRIORITY", "TEMPLATE", "WAIT", "REPEAT", "OPTIONAL") // Flush returns the error
	for i, step := range p.Steps {
		for _, d := range step {
			_ = text.Row(w, fmt.Sprint(i+1), targetText(d), string(d.Priority), string(d.Template),
				(time.Duration(d.WaitSeconds) * time.Second).String(), fmt.Sprint(d.Repeat), fmt.Sprint(d.Optional))
		}
	}
	return w.Flush()
}

type planSet struct {
	planName
	Repeat                 *int            `help:"How often the steps begin again after the last one; 0 to 10." placeholder:"N"`
	Delay                  *time.Duration  `help:"Time between the opening of an incident and step 1." placeholder:"DURATION"`
	WaitForOnCall          *bool           `help:"Whether a page to an on-call role that nobody holds waits until somebody does; otherwise the fallback is paged." negatable:""`
	RepageAfter            *time.Duration  `help:"Time after which a repeated alert restarts an exhausted plan; 0 = never." placeholder:"DURATION"`
	AcknowledgementTimeout *time.Duration  `help:"Time after an acknowledgement after which the plan begins again, unless the incident is resolved; 0 = never." placeholder:"DURATION"`
	NotifyOwner            *string         `help:"Mode by which the owner of an acknowledged incident gets news of it; empty = none." placeholder:"MODE"`
	ResolvedNotice         map[string]bool `help:"Modes with true or false: whether people who were paged get a notice of the resolve. Replaces the stored choices." placeholder:"MODE=BOOL"`
	Fallback               *string         `help:"Target that is paged when no recipient of a step can be reached, and when the plan ends without an acknowledgement; empty = none." placeholder:"ROLE:NAME"`
}

// applyTo returns the settings with the values of the flags. A setting without a flag stays.
func (c planSet) applyTo(p escalation.SettingsPatch) escalation.SettingsPatch {
	for to, d := range map[**int64]*time.Duration{&p.DelaySeconds: c.Delay, &p.RepageAfterSeconds: c.RepageAfter, &p.AcknowledgementTimeoutSeconds: c.AcknowledgementTimeout} {
		if d != nil {
			seconds := int64(math.Ceil(d.Seconds()))
			*to = &seconds
		}
	}
	if c.Repeat != nil {
		p.Repeat = c.Repeat
	}
	if c.WaitForOnCall != nil {
		p.WaitForOnCall = c.WaitForOnCall
	}
	if c.NotifyOwner != nil {
		p.NotifyOwner = (*users.Mode)(c.NotifyOwner)
	}
	if c.ResolvedNotice != nil {
		p.ResolvedNotice = map[users.Mode]bool{}
		for mode, on := range c.ResolvedNotice {
			p.ResolvedNotice[users.Mode(mode)] = on
		}
	}
	return p
}

// Run changes a plan. The settings and the fallback are changed by separate requests: if the second one fails, the
// settings stay changed.
func (c planSet) Run(ctx context.Context, e remote.Env) error {
	settingsGiven := !c.applyTo(escalation.SettingsPatch{}).Empty()
	if !settingsGiven && c.Fallback == nil {
		return remote.Usagef("nothing to change: give at least one flag")
	}
	api, err := c.API(ctx, e)
	if err != nil {
		return err
	}
	if settingsGiven {
		var settings escalation.SettingsPatch
		err := api.Edit(ctx, operation.Path(catalog.SettingsOfPlan.Path, c.Name), &settings,
			func() (any, error) { return c.applyTo(settings), nil })
		if err != nil {
			return err
		}
	}
	if c.Fallback != nil {
		if err := setFallback(ctx, api, operation.Path(catalog.GetPlan.Path, c.Name), *c.Fallback); err != nil {
			return err
		}
	}
	fmt.Fprintf(e.Err, "plan %s changed\n", c.Name)
	return nil
}

// setFallback stores the fallback of an object; "" = none.
func setFallback(ctx context.Context, api *client.Client, path, fallback string) error {
	if fallback == "" {
		return api.Do(ctx, http.MethodDelete, path+"/fallback", nil, nil)
	}
	role, name, ok := strings.Cut(fallback, ":")
	if !ok || role == "" || name == "" {
		return remote.Usagef("--fallback: %.60q must be ROLE:NAME, such as team:sre or user:alice", fallback)
	}
	return api.Do(ctx, http.MethodPut, path+"/fallback", map[string]string{"role": role, "target": name}, nil)
}
