package irisapi

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/filters"
	"github.com/iris-oncall/iris/internal/wire"
)

var planColumns = columns[escalation.Plan]{
	{"id", func(p escalation.Plan) any { return p.ID }},
	{"name", func(p escalation.Plan) any { return p.Name }},
	{"threshold_window", func(p escalation.Plan) any { return wholeSeconds(p.ThresholdWindow) }},
	{"threshold_count", func(p escalation.Plan) any { return p.ThresholdCount }},
	{"aggregation_window", func(p escalation.Plan) any { return wholeSeconds(p.AggregationWindow) }},
	{"aggregation_reset", func(p escalation.Plan) any { return wholeSeconds(p.AggregationReset) }},
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
	{"created", func(p escalation.Plan) any { return unix(p.CreatedAt) }},
	{"creator", func(p escalation.Plan) any { return p.Creator }},
	{"active", func(p escalation.Plan) any { return flag(p.Active) }},
}

const trackingTemplate = "tracking_template"

var planList = list{schema: escalation.PlanFilters, columns: planColumns.names(), limited: true,
	unique: []string{"id", "created", "description", trackingTemplate}}

func wholeSeconds(d time.Duration) int64 { return int64(d / time.Second) }

func (a *API) listPlans(w http.ResponseWriter, r *http.Request) error {
	plans := a.tagging.list(planList)
	q, err := plans.read(w, r)
	if err != nil {
		return err
	}
	if done, err := plans.counted(w, r, q, a.Plans.Count); done || err != nil {
		return err
	}
	found, err := a.Plans.List(r.Context(), q)
	if err != nil {
		return err
	}
	cols, err := tagged(r.Context(), a.tagging, planColumns.pick(q.Fields), q.Fields, "plan", found,
		func(p escalation.Plan) int64 { return int64(p.ID) })
	if err != nil {
		return err
	}
	wire.JSON(w, http.StatusOK, records(cols, found))
	return nil
}

// findPlan takes an id (any version) or a name (the active version).
func (a *API) findPlan(ctx context.Context, idOrName string) (escalation.PlanSteps, error) {
	if !storable(idOrName) {
		return escalation.PlanSteps{}, fault.New(fault.NotFound, "no such plan")
	}
	if !digits(idOrName) {
		return a.Plans.ByName(ctx, idOrName)
	}
	id, err := strconv.ParseInt(idOrName, 10, 64)
	if err != nil {
		return escalation.PlanSteps{}, fault.New(fault.NotFound, "no such plan")
	}
	return a.Plans.ByID(ctx, escalation.PlanID(id))
}

func (a *API) getPlan(w http.ResponseWriter, r *http.Request) error {
	p, err := a.findPlan(r.Context(), wire.Param(r, "plan"))
	if err != nil {
		return err
	}
	cols, err := tagged(r.Context(), a.tagging, planColumns, nil, "plan", []escalation.Plan{p.Plan},
		func(p escalation.Plan) int64 { return int64(p.ID) })
	if err != nil {
		return err
	}
	page := cols.record(p.Plan)
	for i := range page {
		if page[i].name == trackingTemplate && p.Tracking != nil {
			page[i].value = p.Tracking.Template
		}
	}
	steps := make([][]record, len(p.Steps))
	for i, s := range p.Steps {
		steps[i] = []record{}
		for _, n := range s.Notifications {
			steps[i] = append(steps[i], planNotification(n, i+1, p.Lost))
		}
	}
	wire.JSON(w, http.StatusOK, append(page, member{"steps", steps}))
	return nil
}

func planNotification(n escalation.Notification, step int, lost map[string]bool) record {
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
	return record{{"id", n.ID}, {"step", step}, {"repeat", n.Repeat}, {"wait", wholeSeconds(n.Wait)}, {"optional", flag(n.Optional)},
		{"role", role}, {"target", target}, {"template", template}, {"priority", n.Priority}, {"dynamic_index", index}}
}

// activatePlan makes a version the active one, or takes that away from it. By name, the newest version is activated and
// the active one is deactivated.
func (a *API) activatePlan(w http.ResponseWriter, r *http.Request) error {
	b, err := readBody(w, r, "")
	if err != nil {
		return err
	}
	active, err := activeField(b, `"active" field required`, fault.New(fault.Invalid, "Invalid active field"))
	if err != nil {
		return err
	}
	var p escalation.PlanSteps
	if id, ok := pathID(r, "plan"); ok {
		p, err = a.Plans.ByID(r.Context(), escalation.PlanID(id))
	} else if given := wire.Param(r, "plan"); active {
		p, err = a.newestVersion(r.Context(), given)
	} else {
		p, err = a.activeOrNewest(r.Context(), given)
	}
	if err != nil {
		return err
	}
	if !wire.Actor(r.Context()).MayChange(p.CreatorID, a.Config.Openings) {
		return fault.Newf(fault.Forbidden, "Only %s or an admin may change the plan %s", p.Creator, p.Name)
	}
	if err := a.Plans.SetActive(r.Context(), p.ID, active); err != nil {
		return err
	}
	wire.JSON(w, http.StatusOK, flag(active))
	return nil
}

// activeField reads the integer flag of the routes that activate a version.
func activeField(b body, missing string, invalid error) (bool, error) {
	raw, ok := b.members["active"]
	if !ok {
		return false, fault.Invalidf("active", "%s", missing)
	}
	n, ok := integer(raw)
	if !ok {
		return false, invalid
	}
	return n != 0, nil
}

func (a *API) deletePlan(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	p, err := a.activeOrNewest(ctx, wire.Param(r, "plan"))
	if fault.Is(err, fault.NotFound) {
		return fault.New(fault.Invalid, "No plan matched")
	}
	if err != nil {
		return err
	}
	if !wire.Actor(ctx).MayChange(p.CreatorID, a.Config.Openings) {
		return fault.Newf(fault.Forbidden, "Only %s or an admin may delete the plan %s", p.Creator, p.Name)
	}
	err = a.Plans.Delete(ctx, p.Name)
	if fault.Is(err, fault.NotFound) {
		return fault.New(fault.Invalid, "No plan matched")
	}
	if err != nil {
		return err
	}
	wire.JSON(w, http.StatusOK, []int{})
	return nil
}

// activeOrNewest is findPlan, but a name without an active version means the newest one.
func (a *API) activeOrNewest(ctx context.Context, idOrName string) (escalation.PlanSteps, error) {
	p, err := a.findPlan(ctx, idOrName)
	if fault.Is(err, fault.NotFound) && !digits(idOrName) {
		return a.newestVersion(ctx, idOrName)
	}
	return p, err
}

// newestVersion finds the newest version of a plan, without its steps. NotFound where no version has that name.
func (a *API) newestVersion(ctx context.Context, name string) (escalation.PlanSteps, error) {
	if !storable(name) {
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

// newestNamed selects the newest version of a plan or template.
func newestNamed(name string) filters.Query {
	return filters.Query{Limit: 1, Conditions: []filters.Condition{{Field: "name", Op: filters.Eq, Values: []any{name}}}}
}
