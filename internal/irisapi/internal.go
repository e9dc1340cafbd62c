package irisapi

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/notifications"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/wire"
)

// States puts incidents where a program says they stand.
type States interface {
	SetState(ctx context.Context, c incidents.Change, step int, active bool) ([]incidents.Acknowledged, error)
}

// Aggregations lists the settings of aggregation of active plans.
type Aggregations interface {
	Aggregation(ctx context.Context) ([]escalation.Plan, error)
}

// internalRoutes are the routes below /v0/internal, for programs that work beside Iris. Those that change or name people are for
// the applications that the operator lists.
type internalRoutes struct {
	api      *API
	states   States
	plans    Aggregations
	tagging  tagging
	profiles Profiles
	allowed  []string
}

func newInternal(a *API) *internalRoutes {
	return &internalRoutes{api: a, states: a.States, plans: a.Aggregations, tagging: a.tagging, profiles: a.Profiles,
		allowed: a.Config.InternalApplications}
}

// taggable are the kinds of things that tags may be attached to.
var taggable = []string{"incident", "application", "plan", "template", "target"}

func (i *internalRoutes) table() []route {
	routes := []route{
		{get, "/v0/internal/plan_aggregation_settings", read, i.aggregation},
		{get, "/v0/internal/priority_mode_map", read, i.priorityModes},
		{post, "/v0/internal/incident/{id}", write, i.only(i.setState)},
		{get, "/v0/internal/target", someone, i.only(i.target)},
	}
	for _, kind := range taggable {
		routes = append(routes, route{put, "/v0/internal/" + kind + "_tag", write, i.only(i.setTag(kind))})
	}
	return routes
}

// only lets the listed applications in.
func (i *internalRoutes) only(h handler) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		if err := wire.Actor(r.Context()).MayUseInternal(i.allowed); err != nil {
			return err
		}
		return h(w, r)
	}
}

var aggregationColumns = columns[escalation.Plan]{
	{"id", func(p escalation.Plan) any { return p.ID }},
	{"name", func(p escalation.Plan) any { return p.Name }},
	{"threshold_window", func(p escalation.Plan) any { return wholeSeconds(p.ThresholdWindow) }},
	{"threshold_count", func(p escalation.Plan) any { return p.ThresholdCount }},
	{"aggregation_window", func(p escalation.Plan) any { return wholeSeconds(p.AggregationWindow) }},
	{"aggregation_reset", func(p escalation.Plan) any { return wholeSeconds(p.AggregationReset) }},
}

func (i *internalRoutes) aggregation(w http.ResponseWriter, r *http.Request) error {
	plans, err := i.plans.Aggregation(r.Context())
	if err != nil {
		return err
	}
	wire.JSON(w, http.StatusOK, records(aggregationColumns, plans))
	return nil
}

func (i *internalRoutes) priorityModes(w http.ResponseWriter, r *http.Request) error {
	defaults, err := i.api.Targets.PriorityModes(r.Context())
	if err != nil {
		return err
	}
	priorities, modes := map[users.Priority]int{}, map[users.Mode]int{}
	for n, p := range users.Priorities {
		priorities[p] = n + 1
	}
	for n, m := range users.Modes {
		modes[m] = n + 1
	}
	wire.JSON(w, http.StatusOK, record{{"priority_map", priorities}, {"mode_id_map", modes}, {"default_priority_map", defaults}})
	return nil
}

// setState sets the step of an incident and whether it escalates.
func (i *internalRoutes) setState(w http.ResponseWriter, r *http.Request) error {
	id, ok := pathID(r, "id")
	if !ok {
		return invalidIncidentID()
	}
	b, err := readBody(w, r, "")
	if err != nil {
		return err
	}
	step, err := b.number("current_step", 0, 1<<15-1)
	if err != nil {
		return err
	}
	if !b.given("active") {
		return b.fault("active", "%s is required", "active")
	}
	done, err := i.states.SetState(r.Context(), i.api.change(r, incidents.ID(id)), int(step), truthy(b.members["active"]))
	if fault.Is(err, fault.Conflict) {
		return fault.Invalidf("active", "A resolved incident cannot escalate")
	}
	if err != nil {
		return err
	}
	if len(done) != 1 || !done[0].Found {
		return fault.New(fault.NotFound, "no such incident")
	}
	i.api.wake(r.Context(), done)
	wire.JSON(w, http.StatusOK, []int{})
	return nil
}

// target answers who a role of a target means now, with everything about each of them.
func (i *internalRoutes) target(w http.ResponseWriter, r *http.Request) error {
	var asked [2]string
	for n, name := range []string{"role", "target"} {
		value, given, err := text(r, name)
		if err != nil {
			return err
		}
		if !given {
			return fault.Titled("Missing parameter", `The "`+name+`" parameter is required.`)
		}
		asked[n] = value
	}
	people := map[string]record{}
	problem, ids, err := i.meant(r.Context(), asked[0], asked[1])
	if err != nil {
		return err
	}
	for _, id := range ids {
		profile, err := i.profiles.Profile(r.Context(), id)
		if fault.Is(err, fault.NotFound) {
			continue // removed in this moment
		}
		if err != nil {
			return err
		}
		people[profile.Name] = userPage(profile)
	}
	wire.JSON(w, http.StatusOK, record{{"error", orNull(problem)}, {"users", people}})
	return nil
}

// meant resolves a role of a target. problem says in words why it cannot be, or why it is nobody.
func (i *internalRoutes) meant(ctx context.Context, role, target string) (problem string, ids []users.ID, err error) {
	q, err := i.api.acceptor.Query(ctx, notifications.Target{Role: role, Name: target}, "target")
	if fault.Is(err, fault.Invalid) {
		return "invalid role " + role + " for target " + target, nil, nil
	}
	if err != nil {
		return "", nil, err
	}
	answer, err := i.api.Resolver.Resolve(ctx, q, time.Now())
	switch {
	case fault.Is(err, fault.NotFound) || fault.Is(err, fault.Invalid):
		return fault.Public(err), nil, nil
	case err != nil:
		return "", nil, err
	case len(answer.Users) == 0:
		return answer.Rule, nil, nil
	}
	return "", answer.Users, nil
}

// maxTagValue bounds a value of a tag in bytes; maxTagValues how many a tag of one thing has.
const (
	maxTagValue  = 255
	maxTagValues = 100
)

// setTag replaces the values of one tag of a thing.
func (i *internalRoutes) setTag(kind string) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		b, err := readBody(w, r, "")
		if err != nil {
			return err
		}
		id, err := b.number("id", 1, 1<<62)
		if err != nil {
			return err
		}
		name, err := b.text("name")
		if err != nil {
			return err
		}
		if !slices.Contains(i.tagging.names, name) {
			return fault.Invalidf("name", "The tag %s is not one of those that are allowed", name)
		}
		values, ok := listOfTexts(b.members["values"])
		if !ok || len(values) > maxTagValues || slices.ContainsFunc(values, func(v string) bool { return v == "" || len(v) > maxTagValue }) {
			return fault.Invalidf("values", "values must be a list of at most %d texts of 1 to %d bytes", maxTagValues, maxTagValue)
		}
		err = i.tagging.store.Set(r.Context(), kind, id, name, values)
		if fault.Is(err, fault.NotFound) {
			return fault.New(fault.Invalid, fault.Public(err))
		}
		if err != nil {
			return err
		}
		wire.JSON(w, http.StatusCreated, []int{})
		return nil
	}
}
