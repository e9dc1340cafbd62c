package commands

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/iris-oncall/iris/cmd/iris/internal/remote"
	"github.com/iris-oncall/iris/cmd/iris/internal/text"
	"github.com/iris-oncall/iris/internal/client"
)

// Plan is the group of commands about plans.
type Plan struct {
	List   planList   `cmd:"" help:"List the active plans."`
	Show   planShow   `cmd:"" help:"Show a plan with its steps: the active version of a name, or any by its number."`
	Set    planSet    `cmd:"" help:"Change settings of all versions of a plan."`
	Delete planDelete `cmd:"" help:"Delete a plan that is not in use. Its versions are kept as history."`
}

// plan is a plan of an answer.
type plan struct {
	ID          int64               `json:"id"`
	Name        string              `json:"name"`
	Active      bool                `json:"active"`
	Creator     string              `json:"creator"`
	Team        string              `json:"team"`
	CreatedAt   time.Time           `json:"created_at"`
	Description string              `json:"description"`
	Paused      bool                `json:"paused"`
	Steps       [][]planDestination `json:"steps"`
	Fallback    *target             `json:"fallback"`
}

// planDestination is a notification of a step.
type planDestination struct {
	Target       *target `json:"target"`
	DynamicIndex int     `json:"dynamic_index"`
	Priority     string  `json:"priority"`
	Template     string  `json:"template"`
	WaitSeconds  int64   `json:"wait_seconds"`
	Repeat       int     `json:"repeat"`
	Optional     bool    `json:"optional"`
}

func (t target) String() string { return t.Role + ":" + t.Name }

// who names the target, or the target that the incident brings.
func (d planDestination) who() string {
	if d.Target == nil {
		return fmt.Sprintf("target %d of the incident", d.DynamicIndex+1)
	}
	return d.Target.String()
}

type planList struct{ remote.Flags }

// Run lists the active plans, newest first.
func (c planList) Run(ctx context.Context, e remote.Env) error {
	api, err := c.API(ctx, e)
	if err != nil {
		return err
	}
	all, err := client.All[plan](ctx, api, "/v1/plans?limit=500")
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(e.Out, 0, 4, 2, ' ', 0)
	_ = text.Row(w, "NAME", "VERSION", "TEAM", "CREATOR", "SAVED", "DESCRIPTION") // Flush returns the error
	for _, p := range all {
		_ = text.Row(w, p.Name, fmt.Sprint(p.ID), p.Team, p.Creator, text.Moment(p.CreatedAt), p.Description)
	}
	return w.Flush()
}

// planName is the argument of commands about one plan.
type planName struct {
	remote.Flags
	Name string `arg:"" help:"Name."`
}

func (c planName) path() string { return "/v1/plans/" + url.PathEscape(c.Name) }

type planShow struct{ planName }

// Run shows a plan.
func (c planShow) Run(ctx context.Context, e remote.Env) error {
	api, err := c.API(ctx, e)
	if err != nil {
		return err
	}
	var p plan
	if err := api.Do(ctx, http.MethodGet, c.path(), nil, &p); err != nil {
		return err
	}
	fmt.Fprintf(e.Out, "plan: %s\nversion: %d, saved %s by %s\nactive: %t\nteam: %s\ndescription: %s\n", p.Name, p.ID, text.Moment(p.CreatedAt), p.Creator, p.Active, p.Team,
		text.Tabless.Replace(p.Description))
	if p.Paused {
		fmt.Fprintln(e.Out, "paused: true")
	}
	if p.Fallback != nil {
		fmt.Fprintf(e.Out, "fallback: %s\n", p.Fallback)
	}
	w := tabwriter.NewWriter(e.Out, 0, 4, 2, ' ', 0)
	_ = text.Row(w, "STEP", "WHO", "PRIORITY", "TEMPLATE", "WAIT", "REPEAT", "OPTIONAL") // Flush returns the error
	for i, step := range p.Steps {
		for _, d := range step {
			_ = text.Row(w, fmt.Sprint(i+1), d.who(), d.Priority, d.Template, (time.Duration(d.WaitSeconds) * time.Second).String(), fmt.Sprint(d.Repeat), fmt.Sprint(d.Optional))
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

// given returns the settings that the flags give.
func (c planSet) given() map[string]any {
	out := map[string]any{}
	for name, d := range map[string]*time.Duration{"delay_seconds": c.Delay, "repage_after_seconds": c.RepageAfter, "acknowledgement_timeout_seconds": c.AcknowledgementTimeout} {
		if d != nil {
			out[name] = int64(math.Ceil(d.Seconds()))
		}
	}
	if c.Repeat != nil {
		out["repeat"] = *c.Repeat
	}
	if c.WaitForOnCall != nil {
		out["wait_for_on_call"] = *c.WaitForOnCall
	}
	if c.NotifyOwner != nil {
		out["notify_owner"] = *c.NotifyOwner
	}
	if c.ResolvedNotice != nil {
		out["resolved_notice"] = c.ResolvedNotice
	}
	return out
}

// Run changes a plan.
func (c planSet) Run(ctx context.Context, e remote.Env) error {
	given := c.given()
	if len(given) == 0 && c.Fallback == nil {
		return remote.Usagef("nothing to change: give at least one flag")
	}
	api, err := c.API(ctx, e)
	if err != nil {
		return err
	}
	if len(given) > 0 {
		var settings map[string]any
		if err := api.Do(ctx, http.MethodGet, c.path()+"/settings", nil, &settings); err != nil {
			return err
		}
		for name, value := range given {
			settings[name] = value
		}
		if err := api.Do(ctx, http.MethodPut, c.path()+"/settings", settings, nil); err != nil {
			return err
		}
	}
	if c.Fallback != nil {
		if err := setFallback(ctx, api, c.path(), *c.Fallback); err != nil {
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
