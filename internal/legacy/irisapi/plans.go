package irisapi

import (
	"context"
	"errors"
	"maps"
	"net/http"

	"github.com/iris-oncall/iris/internal/catalog"
	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/filters"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/wire"
)

var planColumns = Columns[escalation.Plan]{
	{"id", func(p escalation.Plan) any { return p.ID }},
	{"name", func(p escalation.Plan) any { return p.Name }},
	{"threshold_window", func(p escalation.Plan) any { return Seconds(p.ThresholdWindow) }},
	{"threshold_count", func(p escalation.Plan) any { return p.ThresholdCount }},
	{"aggregation_window", func(p escalation.Plan) any { return Seconds(p.AggregationWindow) }},
	{"aggregation_reset", func(p escalation.Plan) any { return Seconds(p.AggregationReset) }},
	{"tracking_type", tracked(func(t escalation.Tracking) any { return t.Mode })},
	{"tracking_key", tracked(func(t escalation.Tracking) any { return t.Key })},
	// Lists have the JSON as a string, single plans as an object.
	{trackingTemplate, tracked(func(t escalation.Tracking) any { return string(t.Template) })},
	{"description", func(p escalation.Plan) any { return p.Description }},
	{"created", func(p escalation.Plan) any { return Unix(p.CreatedAt) }},
	{"creator", func(p escalation.Plan) any { return p.Creator }},
	{"active", func(p escalation.Plan) any { return Flag(p.Active) }},
}

const trackingTemplate = "tracking_template"

// tracked returns the value of a column that is null without a tracking notification.
func tracked(value func(escalation.Tracking) any) func(escalation.Plan) any {
	return func(p escalation.Plan) any {
		if p.Tracking == nil {
			return nil
		}
		return value(*p.Tracking)
	}
}

var planRows = Rows[escalation.Plan]{Columns: planColumns, Kind: "plan",
	ID: func(p escalation.Plan) int64 { return int64(p.ID) },
	Query: List{Schema: catalog.PlanFilters, Limited: true, Unique: []string{"id", "created", "description",
		trackingTemplate}}}

func (a plans) list(w http.ResponseWriter, r *http.Request) error {
	return planRows.Answer(w, r, a.Tags, a.Plans.List, a.Plans.Count)
}

func (a plans) versions() versions[escalation.Plan, escalation.PlanSteps, escalation.PlanID] {
	return versions[escalation.Plan, escalation.PlanSteps, escalation.PlanID]{a.Plans, planRows.ID,
		fault.New(fault.NotFound, "no such plan")}
}

func (a plans) get(w http.ResponseWriter, r *http.Request) error {
	p, err := a.versions().find(r.Context(), wire.Param(r, "plan"))
	if err != nil {
		return err
	}
	page, err := planRows.Record(r.Context(), a.Tags, p.Plan)
	for i := range page {
		if page[i].Name == trackingTemplate && p.Tracking != nil {
			page[i].Value = p.Tracking.Template
		}
	}
	steps := make([][]Record, len(p.Steps))
	for i, s := range p.Steps {
		steps[i] = []Record{}
		for _, n := range s.Notifications {
			steps[i] = append(steps[i], planNotification(n, i+1, p.Lost))
		}
	}
	return Answer(w, append(page, Member{"steps", steps}), err)
}

func planNotification(n escalation.Notification, step int, lost map[string]bool) Record {
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
	return Record{{"id", n.ID}, {"step", step}, {"repeat", n.Repeat}, {"wait", Seconds(n.Wait)},
		{"optional", Flag(n.Optional)},
		{"role", role}, {"target", target}, {"template", template}, {"priority", n.Priority}, {"dynamic_index", index}}
}

func (a plans) activate(w http.ResponseWriter, r *http.Request) error {
	active, err := activeField(ReadBody(w, r, ""), `"active" field required`,
		fault.New(fault.Invalid, "Invalid active field"))
	if err != nil {
		return err
	}
	p, err := a.versions().toSet(r, "plan", active)
	if err != nil {
		return err
	}
	return Answer(w, Flag(active), a.PlanOperations.SetActive(r.Context(), a.caller(r.Context()), p.ID, active))
}

// remove deletes a plan with all versions.
func (a plans) remove(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	p, err := a.versions().activeOrNewest(ctx, wire.Param(r, "plan"))
	if err == nil {
		err = a.PlanOperations.Erase(ctx, a.caller(ctx), p.ID)
	}
	return Done(w, fault.When(err, fault.NotFound, fault.New(fault.Invalid, "No plan matched")))
}

// ofApplication lists the active plans whose templates have content for the application.
func (a plans) ofApplication(w http.ResponseWriter, r *http.Request) error {
	return ofApplicationRows.Answer(w, r, a.Tags, func(ctx context.Context, q filters.Query) ([]escalation.Plan, error) {
		q.Conditions = append(q.Conditions,
			filters.Condition{Field: "active", Op: filters.Eq, Values: []any{true}},
			filters.Condition{Field: "application", Op: filters.Eq, Values: []any{StorableName(ApplicationName(r))}})
		return a.Plans.List(ctx, q)
	}, nil)
}

// ofApplicationRows has no filter of active: the list has only active plans.
var ofApplicationRows = Rows[escalation.Plan]{Query: List{Schema: withoutActive(catalog.PlanFilters)},
	Columns: planColumns}

func withoutActive(schema filters.Schema) filters.Schema {
	schema = maps.Clone(schema)
	delete(schema, "active")
	return schema
}

var aggregationColumns = planColumns.Pick([]string{"id", "name", "threshold_window", "threshold_count",
	"aggregation_window", "aggregation_reset"})

// aggregation lists the aggregation settings of active plans.
func (a plans) aggregation(w http.ResponseWriter, r *http.Request) error {
	found, err := a.Plans.Aggregation(r.Context())
	return Answer(w, aggregationColumns.Records(found), err)
}

// create saves a new version of a plan, which becomes the active one of its name.
func (a plans) create(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	b := ReadBody(w, r, catalog.InvalidPlan)
	head, err := parsePlanHead(b)
	if err != nil {
		return err
	}
	creator, err := a.creator(ctx, head.creator, catalog.InvalidPlan)
	if err != nil {
		return err
	}
	p, err := parsePlan(b)
	if err != nil {
		return err
	}
	id, warnings, err := a.PlanOperations.Save(ctx, a.caller(ctx), creator, p.PlanContent, p.tracking)
	if err == nil {
		wire.Warn(w, warnings)
	}
	return Created(w, int64(id), "plans", err)
}

// creator finds the person in whose name a plan or template is saved. The caller must be allowed to act for that
// person.
func (d CatalogDeps) creator(ctx context.Context, name, title string) (users.User, error) {
	u, err := d.Authors.Creator(ctx, d.caller(ctx), name)
	switch {
	case errors.Is(err, operation.ErrNotThisUser):
		// Clients know this text, which says "plan" for templates, too.
		return u, fault.New(fault.Unauthenticated, "Invalid plan creator for authenticated app/user")
	case fault.Is(err, fault.Invalid):
		return u, fault.Titled(title, fault.Public(err))
	}
	return u, err
}
