package catalog

import (
	"fmt"
	"math"
	"net/http"
	"time"

	"github.com/iris-oncall/iris/internal/catalog"
	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/wire"
	"github.com/iris-oncall/iris/internal/wire/jsonbody"
	"github.com/iris-oncall/iris/internal/wire/routing"
)

// create saves the first version of a plan. A plan of that name is a 409.
func (a plans) create(w http.ResponseWriter, r *http.Request) error {
	b, err := jsonbody.ReadKnown(w, r, "name", "creator", "description", "steps", "flood", "tracking")
	if err != nil {
		return err
	}
	name, err := b.Required("name")
	if err != nil {
		return err
	}
	if name, err = catalog.PlanName(name); err != nil {
		return err
	}
	return a.save(w, r, b, name, new(escalation.PlanID))
}

// replace saves a new version of the plan that the path names.
func (a plans) replace(w http.ResponseWriter, r *http.Request) error {
	name, err := activeName(r, "plan")
	if err != nil {
		return err
	}
	active, err := a.Plans.ByName(r.Context(), name)
	if err != nil {
		return missing(err, "plan")
	}
	b, err := jsonbody.ReadKnown(w, r, "creator", "description", "steps", "flood", "tracking")
	if err != nil {
		return err
	}
	conditional, err := routing.CheckTag(r, tag(int64(active.ID)))
	if err != nil {
		return err
	}
	if !conditional {
		return a.save(w, r, b, active.Name, nil)
	}
	return a.save(w, r, b, active.Name, &active.ID)
}

// save stores a version of a plan and answers with it. replaces is the version that must be active; 0 = none, nil = any.
func (a plans) save(w http.ResponseWriter, r *http.Request, b jsonbody.Object, name string, replaces *escalation.PlanID) error {
	ctx := r.Context()
	authors := catalog.Authors{People: a.People, Teammates: a.Teammates}
	creator, err := creator(r, authors, b)
	if err != nil {
		return err
	}
	content, tracking, err := readPlan(b)
	if err != nil {
		return err
	}
	content.Name, content.Replaces = name, replaces
	save := catalog.Plans{Store: a.Plans, Authors: authors, Syntax: messages.CheckSyntax, MaxLength: a.MaxPlanLength, ListLimit: a.ListLimit}
	id, warnings, err := save.Save(ctx, wire.Actor(ctx), creator, content, tracking)
	if err != nil {
		return err
	}
	p, err := a.Plans.ByID(ctx, id)
	if err != nil {
		return err
	}
	wire.Warn(w, warnings)
	return answerVersion(w, r, "/v1/plans/", p.Name, int64(p.ID), showWholePlan(p))
}

// creator finds the person in whose name a version is saved: the person that the body names, else the caller.
func creator(r *http.Request, authors catalog.Authors, b jsonbody.Object) (users.User, error) {
	actor := wire.Actor(r.Context())
	name, err := b.Text("creator")
	if err != nil {
		return users.User{}, err
	}
	if name == "" {
		name = actor.Username
	}
	if name == "" {
		return users.User{}, fault.Invalidf("creator", "creator is required: the caller is no person")
	}
	u, err := authors.Creator(r.Context(), actor, name)
	if err == nil && !u.Active {
		err = fault.Invalidf("creator", "there is no active user %.100q", name)
	}
	return u, err
}

// answerVersion answers with a version that was saved. The answer to POST has its address.
func answerVersion(w http.ResponseWriter, r *http.Request, path, name string, id int64, body any) error {
	routing.ShowTag(w, tag(id))
	if r.Method != http.MethodPost {
		return routing.Answer(w, http.StatusOK, body)
	}
	return created(w, path, name, body)
}

// readPlan reads the content of a version of a plan.
func readPlan(b jsonbody.Object) (content escalation.PlanContent, tracking *catalog.Tracking, err error) {
	if content.Description, err = b.Text("description"); err != nil {
		return content, nil, err
	}
	if err := readFlood(b, &content); err != nil {
		return content, nil, err
	}
	if content.Steps, err = readSteps(b); err != nil {
		return content, nil, err
	}
	t, given, err := b.Member("tracking", "mode", "destination", "templates")
	if err != nil || !given {
		return content, nil, err
	}
	tracking = &catalog.Tracking{}
	if tracking.Mode, err = t.Text("mode"); err != nil {
		return content, nil, err
	}
	if tracking.Destination, err = t.Text("destination"); err != nil {
		return content, nil, err
	}
	if t.Given("templates") {
		tracking.Templates = t.Members["templates"]
	}
	return content, tracking, nil
}

func readFlood(b jsonbody.Object, to *escalation.PlanContent) error {
	f, given, err := b.Member("flood", "threshold_count", "threshold_window_seconds", "aggregation_window_seconds", "aggregation_reset_seconds")
	if err != nil || !given {
		return err
	}
	count, err := f.Whole("threshold_count", math.MaxInt32, 0)
	if err != nil {
		return err
	}
	to.ThresholdCount = int(count)
	for _, part := range []struct {
		name string
		into *time.Duration
	}{
		{"threshold_window_seconds", &to.ThresholdWindow}, {"aggregation_window_seconds", &to.AggregationWindow},
		{"aggregation_reset_seconds", &to.AggregationReset},
	} {
		n, err := f.Whole(part.name, math.MaxInt32, 0)
		if err != nil {
			return err
		}
		*part.into = time.Duration(n) * time.Second
	}
	return nil
}

func readSteps(b jsonbody.Object) ([]escalation.Step, error) {
	if !b.Given("steps") {
		return nil, b.Missing("steps")
	}
	given, err := jsonbody.List("steps", b.Members["steps"], catalog.MaxSteps)
	if err != nil {
		return nil, err
	}
	steps, total := make([]escalation.Step, len(given)), 0
	for i, raw := range given {
		place := fmt.Sprintf("steps[%d]", i)
		items, err := jsonbody.List(place, raw, catalog.MaxNotifications)
		if err != nil {
			return nil, err
		}
		if total += len(items); total > catalog.MaxNotifications {
			return nil, fault.Invalidf("steps", "a plan has at most %d notifications", catalog.MaxNotifications)
		}
		for j, item := range items {
			n, err := jsonbody.At(fmt.Sprintf("%s[%d]", place, j), item, "target", "dynamic_index", "priority", "template", "wait_seconds", "repeat", "optional")
			if err != nil {
				return nil, err
			}
			read, err := readNotification(n)
			if err != nil {
				return nil, err
			}
			steps[i].Notifications = append(steps[i].Notifications, read)
		}
	}
	return steps, nil
}

// readNotification reads one notification of a step. Either target or dynamic_index says who gets it.
func readNotification(b jsonbody.Object) (n escalation.Notification, err error) {
	priority, err := b.Required("priority")
	if err != nil {
		return n, err
	}
	n.Priority = users.Priority(priority)
	if n.Template, err = b.Required("template"); err != nil {
		return n, err
	}
	wait, err := b.Whole("wait_seconds", math.MaxInt32, 0)
	if err != nil {
		return n, err
	}
	repeat, err := b.Whole("repeat", catalog.MaxRepeat, 0)
	if err != nil {
		return n, err
	}
	n.Wait, n.Repeat = time.Duration(wait)*time.Second, int(repeat)
	if n.Optional, _, err = b.Flag("optional"); err != nil {
		return n, err
	}
	t, given, err := b.Member("target", "role", "name")
	switch {
	case err != nil:
		return n, err
	case given == b.Given("dynamic_index"):
		return n, b.Fault("target", "give either target or dynamic_index")
	case !given:
		index, err := b.Whole("dynamic_index", catalog.MaxNotifications, 0)
		at := int(index)
		n.DynamicIndex = &at
		return n, err
	}
	n.Target = &escalation.Target{}
	if n.Target.Role, err = t.Required("role"); err != nil {
		return n, err
	}
	n.Target.Name, err = t.Required("name")
	return n, err
}
