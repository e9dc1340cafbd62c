package irisapi

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/intake/opening"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/web/routing"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// Texts finds the templates of plans.
type Texts interface {
	// HasText reports whether a template of the plan has content for the application.
	HasText(ctx context.Context, plan escalation.PlanID, applicationID int64) (bool, error)
}

// OpeningDeps are the parts that the route works on. All are required.
type OpeningDeps struct {
	Opener opening.Opener
	Texts  Texts
	// Wake wakes the processors of changed buckets; it never blocks.
	Wake func(context.Context, buckets.Set)
}

// incoming serves the route.
type incoming struct{ OpeningDeps }

// OpeningRoutes returns the route on the parts.
func OpeningRoutes(d OpeningDeps) []routing.Route {
	return []routing.Route{routing.Post("/v0/incidents", routing.Write, incoming{d}.open).ForRecent()}
}

// newIncident is the body of POST /v0/incidents.
type newIncident struct {
	opening.Request
	context map[string]json.RawMessage
	raw     json.RawMessage // the context as posted
	key     string          // an open incident with this key is not opened again; "" = none
}

// parseIncident reads the body. It does not check whether the plan, application and targets exist.
func parseIncident(b Body) (n newIncident, err error) {
	n.Plan = b.Text("plan")
	b.Check(n.Plan != "", fault.Invalidf("plan", "missing plan name attribute"))
	n.Application = b.Text("application")
	b.Check(b.Has("context"), fault.Invalidf("context", "context is required"))
	n.raw = b.Members["context"]
	err = json.Unmarshal(n.raw, &n.context)
	b.Check(err == nil && n.context != nil, fault.Invalidf("context", "context must be an object"))
	n.key = b.Text("dedup_key")
	err = opening.CheckKey(n.key)
	b.Check(err == nil, err)
	if !b.Given("dynamic_targets") {
		return n, b.Err()
	}
	given, ok := Objects(b.Members["dynamic_targets"])
	b.Check(ok, fault.Invalidf("dynamic_targets", "dynamic_targets must be a list of objects with role and target"))
	for _, g := range given {
		t := b.In(g, "Invalid incident", "")
		n.Targets = append(n.Targets, incidents.Target{Role: t.Required("role"), Name: t.Required("target")})
	}
	return n, b.Err()
}

// open checks in the order of Iris, which clients expect: plan, application, dynamic targets, context, template. If an
// incident of the application, plan and dedup_key is open, the answer has its number, and nothing is opened.
func (a incoming) open(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	posted, err := parseIncident(ReadBody(w, r, ""))
	if err != nil {
		return err
	}
	by := opening.Caller{Actor: wire.Actor(ctx), Application: wire.Application(ctx)}
	to, err := a.Opener.Find(ctx, by, posted.Request)
	if err != nil {
		return err // a NotFound fault is answered with an empty 404
	}
	body, err := openingContextOf(posted.raw, posted.context, to.Application.Variables)
	if err != nil {
		return err
	}
	if has, err := a.Texts.HasText(ctx, to.Plan, to.Application.ID); err != nil {
		return err
	} else if !has {
		return fault.New(fault.Invalid, "No plan template actions exist for this app")
	}
	opened, err := a.Opener.Open(ctx, by, to, incidents.New{Context: body, DedupKey: posted.key})
	if err != nil {
		return err
	}
	if !opened.Known {
		a.Wake(ctx, buckets.Of(opened.Bucket))
	}
	return Created(w, int64(opened.ID), "incidents", nil)
}

// openingContextOf returns the context of an incident from the posted context. If the application declared variables,
// the result has exactly these, in their order, with null for missing ones. Otherwise the result is the posted context.
// Values keep the bytes of the sender, except NUL characters, which PostgreSQL cannot store.
func openingContextOf(posted json.RawMessage, members map[string]json.RawMessage, variables []string) (json.RawMessage, error) {
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
