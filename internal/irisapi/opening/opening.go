package opening

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/incidents"
	v0 "github.com/iris-oncall/iris/internal/irisapi/v0"
	"github.com/iris-oncall/iris/internal/wire"
)

// newIncident is the body of POST /v0/incidents.
type newIncident struct {
	plan        string
	application string // "" = the caller
	context     map[string]json.RawMessage
	raw         json.RawMessage // the context as posted
	targets     []incidents.Target
	key         string // an open incident with this key is not opened again; "" = none
}

// maxKey is the maximum length of a dedup_key in bytes.
const maxKey = 255

// parseIncident reads the body. It does not check whether the plan, application and targets exist.
func parseIncident(b v0.Body) (n newIncident, err error) {
	n.plan = b.Text("plan")
	b.Check(n.plan != "", fault.Invalidf("plan", "missing plan name attribute"))
	n.application = b.Text("application")
	b.Check(b.Has("context"), fault.Invalidf("context", "context is required"))
	n.raw = b.Members["context"]
	err = json.Unmarshal(n.raw, &n.context)
	b.Check(err == nil && n.context != nil, fault.Invalidf("context", "context must be an object"))
	n.key = b.Text("dedup_key")
	b.Check(len(n.key) <= maxKey, fault.Invalidf("dedup_key", "dedup_key must not be longer than %d bytes", maxKey))
	if !b.Given("dynamic_targets") {
		return n, b.Err()
	}
	given, ok := v0.Objects(b.Members["dynamic_targets"])
	b.Check(ok, fault.Invalidf("dynamic_targets", "dynamic_targets must be a list of objects with role and target"))
	for _, g := range given {
		t := b.In(g, "Invalid incident", "")
		n.targets = append(n.targets, incidents.Target{Role: t.Required("role"), Name: t.Required("target")})
	}
	return n, b.Err()
}

// open checks in the order of Iris, which clients expect: plan, application, dynamic targets, context, template. If an incident of the
// application, plan and dedup_key is open, the answer has its number, and nothing is opened.
func (a incoming) open(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	posted, err := parseIncident(v0.ReadBody(w, r, ""))
	if err != nil {
		return err
	}
	plan, err := a.Plans.Recent(ctx, posted.plan)
	if err != nil {
		return err // a NotFound fault is answered with an empty 404
	}
	app, err := a.application(ctx, posted.application)
	if err != nil {
		return err
	}
	targets, err := a.dynamicTargets(ctx, plan.Plan, posted.targets)
	if err != nil {
		return err
	}
	body, err := contextOf(posted.raw, posted.context, app.Variables)
	if err != nil {
		return err
	}
	if has, err := a.Plans.HasText(ctx, plan.ID, app.ID); err != nil {
		return err
	} else if !has {
		return fault.New(fault.Invalid, "No plan template actions exist for this app")
	}
	if wait, err := a.Load.Overloaded(ctx, app); err != nil {
		return err
	} else if wait > 0 {
		if !app.Recent { // otherwise the request is handled again
			a.Refused()
		}
		return overloaded(app, wait)
	}
	if a.Rates != nil {
		if err := a.Rates.Check(ctx, app, int64(plan.ID)); err != nil {
			return err
		}
	}
	opened, err := a.Incidents.Open(ctx, incidents.New{PlanID: int64(plan.ID), ApplicationID: app.ID, Version: app.ToCheck(),
		Context: body, DynamicTargets: targets, DedupKey: posted.key, Actor: wire.Actor(ctx).String()})
	if err != nil {
		return err
	}
	if !opened.Known {
		a.Load.Accepted(app.ID, 1)
		a.Wake(buckets.Of(opened.Bucket))
	}
	return v0.Created(w, int64(opened.ID), "incidents", nil)
}

// application returns the application in whose name the incident is opened: the caller, unless the body names one.
func (a incoming) application(ctx context.Context, name string) (auth.Application, error) {
	caller := wire.Application(ctx)
	if name == "" {
		return caller, nil
	}
	if caller.Recent { // storing checks the version of one application only
		return auth.Application{}, fault.New(fault.Stale, "the caller was not read for this request")
	}
	app, err := a.Applications.ByName(ctx, name)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return auth.Application{}, err
	}
	if !wire.Actor(ctx).MayOpenAs(app.ID) { // callers do not learn whether the application exists
		return auth.Application{}, fault.Newf(fault.Forbidden,
			"This application %s does not allow creating incidents as other applications", caller.Name)
	}
	if err != nil {
		return auth.Application{}, fault.Invalidf("application", "Invalid application")
	}
	return app, nil
}

// dynamicTargets finds the targets that the body gives for the dynamic targets of the plan.
func (a incoming) dynamicTargets(ctx context.Context, plan escalation.Plan, given []incidents.Target) ([]incidents.DynamicTarget, error) {
	want := plan.DynamicTargets()
	if want == 0 {
		return nil, nil
	}
	if len(given) != want {
		return nil, fault.Invalidf("dynamic_targets", "Invalid number of dynamic targets")
	}
	out := make([]incidents.DynamicTarget, want)
	for i, t := range given {
		found, err := a.Lookups.Lookup(ctx, t.Role, t.Name)
		if err != nil {
			return nil, err
		}
		if found.TargetID == 0 {
			return nil, &fault.Error{Kind: fault.Invalid, Field: "dynamic_targets", Message: "Invalid incident",
				Detail: "invalid role " + t.Role + " for target " + t.Name}
		}
		out[i] = incidents.DynamicTarget{Index: i, Role: found.Role, TargetID: found.TargetID}
	}
	return out, nil
}

// contextOf returns the context of an incident from the posted context. If the application declared variables, the result has
// exactly these, in their order, with null for missing ones. Otherwise the result is the posted context. Values keep the bytes of
// the sender, except NUL characters, which PostgreSQL cannot store.
func contextOf(posted json.RawMessage, members map[string]json.RawMessage, variables []string) (json.RawMessage, error) {
	var buf bytes.Buffer
	if len(variables) == 0 {
		if err := json.Compact(&buf, wire.WithoutNUL(posted)); err != nil {
			return nil, err
		}
	} else if err := declared(&buf, members, variables); err != nil {
		return nil, err
	}
	if n := incidents.JSONSize(buf.Bytes()); n > incidents.MaxContext {
		return nil, fault.Invalidf("context", "Context too large. %d is larger than limit %d", n, incidents.MaxContext)
	}
	return buf.Bytes(), nil
}

func declared(buf *bytes.Buffer, posted map[string]json.RawMessage, variables []string) error {
	buf.WriteByte('{')
	for i, name := range variables {
		if i > 0 {
			buf.WriteByte(',')
		}
		key, err := json.Marshal(name)
		if err != nil {
			return err
		}
		buf.Write(key)
		buf.WriteByte(':')
		value, ok := posted[name]
		if !ok {
			value = json.RawMessage("null")
		}
		if err := json.Compact(buf, wire.WithoutNUL(value)); err != nil {
			return err
		}
	}
	buf.WriteByte('}')
	return nil
}
