package catalog

import (
	"context"
	"net/http"
	"strconv"

	v0 "github.com/iris-oncall/iris/internal/irisapi/v0"
	"github.com/iris-oncall/iris/internal/wire/routing"

	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/wire"
)

var planColumns = v0.Columns[escalation.Plan]{
	{"id", func(p escalation.Plan) any { return p.ID }},
	{"name", func(p escalation.Plan) any { return p.Name }},
	{"threshold_window", func(p escalation.Plan) any { return v0.Seconds(p.ThresholdWindow) }},
	{"threshold_count", func(p escalation.Plan) any { return p.ThresholdCount }},
	{"aggregation_window", func(p escalation.Plan) any { return v0.Seconds(p.AggregationWindow) }},
	{"aggregation_reset", func(p escalation.Plan) any { return v0.Seconds(p.AggregationReset) }},
	{"tracking_type", func(p escalation.Plan) any {
		if p.Tracking == nil {
			return nil
		}
		return p.Tracking.Mode
	}},
	{"tracking_key", func(p escalation.Plan) any {
		if p.Tracking == nil {
			return nil
		}
		return p.Tracking.Key
	}},
	{trackingTemplate, func(p escalation.Plan) any { // in lists: the stored JSON as a string
		if p.Tracking == nil {
			return nil
		}
		return string(p.Tracking.Template)
	}},
	{"description", func(p escalation.Plan) any { return p.Description }},
	{"created", func(p escalation.Plan) any { return v0.Unix(p.CreatedAt) }},
	{"creator", func(p escalation.Plan) any { return p.Creator }},
	{"active", func(p escalation.Plan) any { return v0.Flag(p.Active) }},
}

const trackingTemplate = "tracking_template"

var planList = v0.List{Schema: escalation.PlanFilters, Columns: planColumns.Names(), Limited: true,
	Unique: []string{"id", "created", "description", trackingTemplate}}

func (a plans) routes() []routing.Route {
	return []routing.Route{
		routing.Get("/v0/plans", routing.Read, a.list),
		routing.Post("/v0/plans", routing.Write, a.create),
		routing.Get("/v0/plans/{plan}", routing.Read, a.get),
		routing.Post("/v0/plans/{plan}", routing.Write, a.activate),
		routing.Delete("/v0/plans/{plan}", routing.Write, a.remove),
		routing.Get("/v0/applications/{app}/plans", routing.Read, a.ofApplication),
		routing.Get("/v0/internal/plan_aggregation_settings", routing.Read, a.aggregation),
	}
}

func planNumber(p escalation.Plan) int64 { return int64(p.ID) }

func (a plans) list(w http.ResponseWriter, r *http.Request) error {
	rows := a.Tags.List(planList)
	q, err := rows.Read(w, r)
	if err != nil {
		return err
	}
	if done, err := rows.Counted(w, r, q, a.Plans.Count); done || err != nil {
		return err
	}
	found, err := a.Plans.List(r.Context(), q)
	if err != nil {
		return err
	}
	cols, err := v0.Tagged(r.Context(), a.Tags, planColumns.Pick(q.Fields), q.Fields, "plan", found, planNumber)
	if err != nil {
		return err
	}
	return routing.Answer(w, http.StatusOK, cols.Records(found))
}

// findPlan takes an id (any version) or a name (the active version).
func (a plans) find(ctx context.Context, idOrName string) (escalation.PlanSteps, error) {
	if !wire.Storable(idOrName) {
		return escalation.PlanSteps{}, fault.New(fault.NotFound, "no such plan")
	}
	if !v0.Digits(idOrName) {
		return a.Plans.ByName(ctx, idOrName)
	}
	id, err := strconv.ParseInt(idOrName, 10, 64)
	if err != nil {
		return escalation.PlanSteps{}, fault.New(fault.NotFound, "no such plan")
	}
	return a.Plans.ByID(ctx, escalation.PlanID(id))
}

func (a plans) get(w http.ResponseWriter, r *http.Request) error {
	p, err := a.find(r.Context(), wire.Param(r, "plan"))
	if err != nil {
		return err
	}
	cols, err := v0.Tagged(r.Context(), a.Tags, planColumns, nil, "plan", []escalation.Plan{p.Plan}, planNumber)
	if err != nil {
		return err
	}
	page := cols.Record(p.Plan)
	for i := range page {
		if page[i].Name == trackingTemplate && p.Tracking != nil {
			page[i].Value = p.Tracking.Template
		}
	}
	steps := make([][]v0.Record, len(p.Steps))
	for i, s := range p.Steps {
		steps[i] = []v0.Record{}
		for _, n := range s.Notifications {
			steps[i] = append(steps[i], planNotification(n, i+1, p.Lost))
		}
	}
	return routing.Answer(w, http.StatusOK, append(page, v0.Member{"steps", steps}))
}

func planNotification(n escalation.Notification, step int, lost map[string]bool) v0.Record {
	var role, target, template, index any
	if n.Target != nil {
		role, target = n.Target.Role, n.Target.Name
	}
	if n.DynamicIndex != nil {
		index = *n.DynamicIndex
	}
	if !lost[n.Template] {
		template = n.Template
	}
	return v0.Record{{"id", n.ID}, {"step", step}, {"repeat", n.Repeat}, {"wait", v0.Seconds(n.Wait)}, {"optional", v0.Flag(n.Optional)},
		{"role", role}, {"target", target}, {"template", template}, {"priority", n.Priority}, {"dynamic_index", index}}
}

// activate activates or deactivates a version. A name means the newest version when it is activated, and the active version
// when it is deactivated.
func (a plans) activate(w http.ResponseWriter, r *http.Request) error {
	b, err := v0.ReadBody(w, r, "")
	if err != nil {
		return err
	}
	active, err := activeField(b, `"active" field required`, fault.New(fault.Invalid, "Invalid active field"))
	if err != nil {
		return err
	}
	var p escalation.PlanSteps
	if id, ok := v0.PathID(r, "plan"); ok {
		p, err = a.Plans.ByID(r.Context(), escalation.PlanID(id))
	} else if given := wire.Param(r, "plan"); active {
		p, err = a.newestVersion(r.Context(), given)
	} else {
		p, err = a.activeOrNewest(r.Context(), given)
	}
	if err != nil {
		return err
	}
	if !wire.Actor(r.Context()).MayChange(p.CreatorID, a.Openings) {
		return fault.Newf(fault.Forbidden, "Only %s or an admin may change the plan %s", p.Creator, p.Name)
	}
	if err := a.PlanChanges.SetActive(r.Context(), p.ID, active); err != nil {
		return err
	}
	return routing.Answer(w, http.StatusOK, v0.Flag(active))
}

func (a plans) remove(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	p, err := a.activeOrNewest(ctx, wire.Param(r, "plan"))
	if fault.Is(err, fault.NotFound) {
		return fault.New(fault.Invalid, "No plan matched")
	}
	if err != nil {
		return err
	}
	if !wire.Actor(ctx).MayChange(p.CreatorID, a.Openings) {
		return fault.Newf(fault.Forbidden, "Only %s or an admin may delete the plan %s", p.Creator, p.Name)
	}
	err = a.PlanChanges.Delete(ctx, p.Name)
	if fault.Is(err, fault.NotFound) {
		return fault.New(fault.Invalid, "No plan matched")
	}
	if err != nil {
		return err
	}
	return v0.Done(w)
}

// activeOrNewest is find, but a name without an active version means the newest one.
func (a plans) activeOrNewest(ctx context.Context, idOrName string) (escalation.PlanSteps, error) {
	p, err := a.find(ctx, idOrName)
	if fault.Is(err, fault.NotFound) && !v0.Digits(idOrName) {
		return a.newestVersion(ctx, idOrName)
	}
	return p, err
}

// newestVersion finds the newest version of a plan, without its steps. NotFound where no version has that name.
func (a plans) newestVersion(ctx context.Context, name string) (escalation.PlanSteps, error) {
	if !wire.Storable(name) {
		return escalation.PlanSteps{}, fault.New(fault.NotFound, "no such plan")
	}
	found, err := a.Plans.List(ctx, newestNamed(name))
	if err != nil {
		return escalation.PlanSteps{}, err
	}
	if len(found) == 0 {
		return escalation.PlanSteps{}, fault.New(fault.NotFound, "no such plan")
	}
	return escalation.PlanSteps{Plan: found[0]}, nil
}
