package oncallapi

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/legacy/jsonbody"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/web/routing"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// Incidents opens incidents. Open returns when the incident is durable.
type Incidents interface {
	Open(ctx context.Context, n incidents.New) (incidents.Opened, error)
}

// Lookups finds the people that a role and a name mean.
type Lookups interface {
	Lookup(ctx context.Context, role, name string) (escalation.Lookup, error)
}

// Plan is a plan behind the escalate button.
type Plan struct {
	Name    string       // "" = the button does not offer this plan
	Targets []RoleTarget // one for each dynamic target of the plan, in order; the team is the target of those without a name
}

// Config is set by operators. The zero value is the default.
type Config struct {
	// Escalate is the application that the button opens incidents as; "" = there is no button.
	Escalate       string
	Urgent, Medium Plan
	PublicURL      string
}

// EscalateDeps are the parts that the routes work on. All are required.
type EscalateDeps struct {
	Requests
	Plans        Plans
	Incidents    Incidents
	Lookups      Lookups
	Applications auth.Applications
	// Wake notifies the processors of changed buckets; it never blocks.
	Wake   func(context.Context, buckets.Set)
	Config Config
}

// EscalateRoutes returns the routes of this package.
func EscalateRoutes(d EscalateDeps) []routing.Route { return d.routes() }

// RoleTarget is the role and name for a dynamic target of a plan.
type RoleTarget struct {
	Role   string `json:"role"`
	Target string `json:"target,omitempty"` // "" = the team that is paged
}

func (a EscalateDeps) routes() []routing.Route {
	return []routing.Route{
		routing.Get("/api/v0/iris_settings", routing.Read, a.irisSettings),
		routing.Post("/api/v0/teams/{team}/iris_escalate", routing.Write, a.escalate),
	}
}

func (a EscalateDeps) irisSettings(w http.ResponseWriter, _ *http.Request) error {
	if a.Config.Escalate == "" {
		return routing.Answer(w, http.StatusOK, map[string]any{"activated": false})
	}
	out := map[string]any{"activated": true, "app": a.Config.Escalate, "api_host": a.Config.PublicURL,
		"plan_url": a.Config.PublicURL + "/incidents/"}
	for name, plan := range map[string]Plan{"urgent_plan": a.Config.Urgent, "medium_plan": a.Config.Medium} {
		if plan.Name != "" {
			out[name] = map[string]any{"name": plan.Name, "dynamic_targets": routing.OrEmpty(plan.Targets)}
		}
	}
	return routing.Answer(w, http.StatusOK, out)
}

const notEscalated = "Iris escalation failed"

// escalate opens an incident for a team with one of the configured plans or the team's own plan.
func (a EscalateDeps) escalate(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	if a.Config.Escalate == "" {
		return ErrGone
	}
	b, err := jsonbody.Read(w, r, notEscalated)
	if err != nil {
		return err
	}
	description, err := b.Text("description")
	if err != nil {
		return err
	}
	if strings.TrimSpace(description) == "" {
		return fault.Titled(notEscalated, "Escalation cannot have an empty description")
	}
	team, err := a.Team(r)
	if err != nil {
		return fault.When(err, fault.NotFound, fault.Titled(notEscalated,
			"No escalation plan specified and team has no custom escalation plan defined"))
	}
	chosen, err := a.chosenPlan(b, team)
	if err != nil {
		return err
	}
	id, err := a.open(ctx, chosen, team, By(r, nil).Owner, b)
	if err != nil {
		return err
	}
	wire.Raw(w, http.StatusOK, strconv.AppendInt(nil, id, 10))
	return nil
}

func (a EscalateDeps) chosenPlan(b jsonbody.Object, team oncall.Profile) (Plan, error) {
	kind, err := b.Text("plan")
	if err != nil {
		return Plan{}, err
	}
	plan := Plan{Name: team.IrisPlan}
	switch kind {
	case "urgent":
		plan = a.Config.Urgent
	case "medium":
		plan = a.Config.Medium
	case "custom", "":
		if plan.Name == "" {
			return plan, fault.Titled(notEscalated,
				"No escalation plan specified and team has no custom escalation plan defined")
		}
	default:
		return plan, fault.Titled(notEscalated, "Invalid escalation plan")
	}
	if plan.Name == "" {
		return plan, fault.Titled(notEscalated, "Invalid escalation plan")
	}
	return plan, nil
}

// open opens the incident. The incident is durable when open returns.
func (a EscalateDeps) open(ctx context.Context, chosen Plan, team oncall.Profile, requester string, b jsonbody.Object) (int64, error) {
	refused := func(why string) error { return fault.Titled(notEscalated, "Iris client error: "+why) }
	plan, err := a.Plans.ByName(ctx, chosen.Name)
	if err != nil {
		return 0, fault.When(err, fault.NotFound, refused("there is no active plan "+chosen.Name))
	}
	app, err := a.Applications.ByName(ctx, a.Config.Escalate)
	if err != nil {
		return 0, fault.When(err, fault.NotFound, refused("there is no application "+a.Config.Escalate))
	}
	targets, err := a.targetsOf(ctx, plan.Plan, chosen, team)
	if err != nil {
		return 0, err
	}
	facts := map[string]json.RawMessage{}
	for k, v := range b.Members {
		facts[k] = v
	}
	if facts["requester"], err = json.Marshal(requester); err != nil {
		return 0, err
	}
	if facts["team"], err = json.Marshal(team.Name); err != nil {
		return 0, err
	}
	raw, err := json.Marshal(facts)
	if err != nil {
		return 0, err
	}
	opened, err := a.Incidents.Open(ctx, incidents.New{PlanID: int64(plan.ID), ApplicationID: app.ID, Context: raw,
		DynamicTargets: targets,
		Actor:          wire.Actor(ctx).String()})
	if err != nil {
		return 0, err
	}
	a.Wake(ctx, buckets.Of(opened.Bucket))
	return int64(opened.ID), nil
}

// targetsOf returns the configured targets of a plan's dynamic targets. It refuses a wrong number of them.
func (a EscalateDeps) targetsOf(ctx context.Context, plan escalation.Plan, chosen Plan, team oncall.Profile) ([]incidents.DynamicTarget, error) {
	want := plan.DynamicTargets()
	if want == 0 {
		return nil, nil
	}
	if len(chosen.Targets) != want {
		return nil, fault.Titled(notEscalated, "Iris client error: Invalid number of dynamic targets")
	}
	out := make([]incidents.DynamicTarget, want)
	for i, t := range chosen.Targets {
		name := t.Target
		if name == "" {
			name = team.Name
		}
		found, err := a.Lookups.Lookup(ctx, t.Role, name)
		if err != nil {
			return nil, err
		}
		if found.TargetID == 0 {
			return nil, fault.Titled(notEscalated, "Iris client error: invalid role "+t.Role+" for target "+name)
		}
		out[i] = incidents.DynamicTarget{Index: i, Role: found.Role, TargetID: found.TargetID}
	}
	return out, nil
}
