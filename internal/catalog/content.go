package catalog

import (
	"cmp"
	"encoding/json"
	"fmt"
	"time"

	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/hours"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/users"
)

// Bounds of one plan. Repetitions of a notification are counted in 16 bits.
const (
	MaxSteps         = 500
	MaxNotifications = 2000
	MaxRepeat        = 10_000
)

// Target is the role and the name of people to page.
type Target struct {
	_    struct{} `nullable:"true"`
	Role string   `json:"role" minLength:"1"`
	Name string   `json:"name" minLength:"1"`
}

// Notification pages a target in a step. Either Target or DynamicIndex says whom.
type Notification struct {
	Target       *Target        `json:"target" required:"false" doc:"Who is paged. Exactly one of target and dynamic_index is required; null = the incident names the target."`
	DynamicIndex *int           `json:"dynamic_index" required:"false" minimum:"0" maximum:"2000" doc:"Page the target that the incident has at this index of dynamic_targets, from 0."`
	Priority     users.Priority `json:"priority"`
	Template     operation.Text `json:"template" required:"false" doc:"null = messages have the built-in text."`
	WaitSeconds  int64          `json:"wait_seconds" required:"false" minimum:"0" maximum:"2147483647" doc:"Seconds to wait after each round is settled, before the next round or step."`
	Repeat       int            `json:"repeat" required:"false" minimum:"0" maximum:"10000" doc:"Rounds after the first."`
	Optional     bool           `json:"optional" required:"false" doc:"true: a target that cannot be reached is left out, and no fallback is paged."`
}

// Condition restricts a step to some hours of the week, in the time zone of a team, or in Zone.
type Condition struct {
	Step    int            `json:"step" minimum:"1" doc:"The number of the step, from 1."`
	Windows []Window       `json:"windows" required:"false" maxItems:"20"`
	Team    operation.Text `json:"team" required:"false" doc:"The windows are in the time zone of this team."`
	Zone    operation.Text `json:"zone" required:"false" doc:"The IANA time zone of the windows; default: UTC. With team, leave it out."`
}

// Window is a part of each week.
type Window struct {
	Days []string       `json:"days" required:"false" doc:"mon to sun; none = every day."`
	From operation.Text `json:"from" required:"false" doc:"Such as 09:00; default: 00:00."`
	To   operation.Text `json:"to" required:"false" doc:"Such as 17:00; default: 24:00."`
}

// Flood is the number of pages from which those to a person are held for digests.
type Flood struct {
	Count             int   `json:"threshold_count" required:"false" minimum:"0" maximum:"2147483647" doc:"If more pages than this are made in threshold_window_seconds for one person, application and priority, further pages are held for a digest."`
	WindowSeconds     int64 `json:"threshold_window_seconds" required:"false" minimum:"0" maximum:"2147483647" doc:"0 = no digests."`
	DigestSeconds     int64 `json:"aggregation_window_seconds" required:"false" minimum:"0" maximum:"2147483647" doc:"How often a digest of held pages is sent; 0 = no digests."`
	UntilQuietSeconds int64 `json:"aggregation_reset_seconds" required:"false" minimum:"0" maximum:"2147483647" doc:"After a gap between pages that is longer than this, pages are no longer held."`
}

// Content is what a version of a plan does.
type Content struct {
	Steps      [][]Notification `json:"steps" maxItems:"500" doc:"The notifications of each step, which start together."`
	Conditions []Condition      `json:"conditions" required:"false" maxItems:"500" doc:"The steps that apply at some times only."`
	Flood      Flood            `json:"flood" required:"false"`
	Tracking   *Tracking        `json:"tracking" required:"false" doc:"A message for every incident, before step 1."`
}

// check adds the rules over several fields that are broken.
func (c Content) check(wrong *fault.Wrong) {
	total := 0
	for i, step := range c.Steps {
		total += len(step)
		for k, n := range step {
			wrong.If((n.Target == nil) == (n.DynamicIndex == nil), fmt.Sprintf("steps[%d][%d].target", i, k),
				"give either target or dynamic_index")
		}
	}
	wrong.If(total > MaxNotifications, "steps", "a plan has at most %d notifications", MaxNotifications)
	seen := map[int]bool{}
	for i, one := range c.Conditions {
		place := fmt.Sprintf("conditions[%d].", i)
		wrong.If(one.Step > len(c.Steps) || seen[one.Step], place+"step",
			"step must be the number of a step of the plan, from 1, and a step may have only one condition")
		seen[one.Step] = true
	}
}

// steps returns the steps without the ids of their targets. c must have passed check.
func (c Content) steps() []escalation.Step {
	steps := make([]escalation.Step, len(c.Steps))
	for i, step := range c.Steps {
		for _, n := range step {
			one := escalation.Notification{Priority: n.Priority, DynamicIndex: n.DynamicIndex,
				Template: string(n.Template),
				Wait:     time.Duration(n.WaitSeconds) * time.Second, Repeat: n.Repeat, Optional: n.Optional}
			if n.Target != nil {
				one.Target = &escalation.Target{Role: n.Target.Role, Name: n.Target.Name}
			}
			steps[i].Notifications = append(steps[i].Notifications, one)
		}
	}
	for _, one := range c.Conditions {
		when := &hours.Condition{Team: string(one.Team), Zone: string(one.Zone)}
		for _, w := range one.Windows {
			when.Add(w.Days, string(w.From), string(w.To))
		}
		steps[one.Step-1].When = when
	}
	return steps
}

// fill adds the content to a version that is stored, except the tracking, which needs a check.
func (c Content) fill(p *escalation.PlanContent) {
	p.Steps, p.WithConditions = c.steps(), true
	p.ThresholdCount, p.ThresholdWindow = c.Flood.Count, time.Duration(c.Flood.WindowSeconds)*time.Second
	p.AggregationWindow, p.AggregationReset = time.Duration(c.Flood.DigestSeconds)*time.Second, time.Duration(c.Flood.UntilQuietSeconds)*time.Second
}

// ContentOf returns the content of a stored version.
func ContentOf(p escalation.Plan) Content {
	c := Content{Steps: make([][]Notification, len(p.Steps)), Conditions: []Condition{},
		Flood: Flood{Count: p.ThresholdCount,
			WindowSeconds: seconds(p.ThresholdWindow), DigestSeconds: seconds(p.AggregationWindow), UntilQuietSeconds: seconds(p.AggregationReset)}}
	for i, step := range p.Steps {
		if when := step.When; when != nil {
			one := Condition{Step: i + 1, Windows: make([]Window, len(when.Windows)), Team: operation.Text(when.Team),
				Zone: operation.Text(cmp.Or(when.Zone, "UTC"))}
			for k, w := range when.Windows {
				one.Windows[k] = Window{append([]string{}, w.Days...), operation.Text(cmp.Or(w.From, "00:00")),
					operation.Text(cmp.Or(w.To, "24:00"))}
			}
			c.Conditions = append(c.Conditions, one)
		}
		c.Steps[i] = make([]Notification, len(step.Notifications))
		for k, n := range step.Notifications {
			c.Steps[i][k] = Notification{targetOf(n.Target), n.DynamicIndex, n.Priority, operation.Text(n.Template),
				seconds(n.Wait), n.Repeat, n.Optional}
		}
	}
	if t := p.Tracking; t != nil {
		c.Tracking = &Tracking{Mode: string(t.Mode), Destination: t.Key, Templates: t.Template}
	}
	return c
}

func targetOf(t *escalation.Target) *Target {
	if t == nil {
		return nil
	}
	return &Target{Role: t.Role, Name: t.Name}
}

func seconds(d time.Duration) int64 { return int64(d / time.Second) }

// Tracking is the tracking notification of a plan: the address that is notified of every incident, and the text for
// each application.
type Tracking struct {
	_           struct{}        `nullable:"true"`
	Mode        string          `json:"mode" required:"false"`
	Destination string          `json:"destination" required:"false"`
	Templates   json.RawMessage `json:"templates" required:"false" doc:"The text by application: email_subject, email_text and email_html, or body."`
}
