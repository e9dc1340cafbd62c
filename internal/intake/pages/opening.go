// This file serves the route of /v1 on which applications and people open incidents. It reads the body and shows the
// incident; package internal/intake/opening opens it.

package pages

import (
	"context"
	"net/http"
	"strconv"

	"github.com/iris-oncall/iris/internal/buckets"
	domain "github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/intake"
	"github.com/iris-oncall/iris/internal/intake/opening"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/web/jsonbody"
	"github.com/iris-oncall/iris/internal/web/routing"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// Incidents reads incidents.
type Incidents interface {
	Get(ctx context.Context, id domain.ID) (domain.Incident, error)
}

// Opener opens incidents.
type Opener = opening.Opener

// OpeningDeps are the parts that the route works on. All are required.
type OpeningDeps struct {
	Opener    Opener
	Incidents Incidents
	// Wake wakes the processors of changed buckets; it never blocks.
	Wake func(context.Context, buckets.Set)
}

// maxTargets is how many dynamic targets a body may have.
const maxTargets = 100

// OpeningRoutes returns the route on the parts.
func OpeningRoutes(d OpeningDeps) []routing.Route {
	return []routing.Route{routing.Post("/v1/incidents", routing.Write, d.open)}
}

// open opens an incident, which is durable before the answer. If an incident of the application, plan and dedup_key is
// open, the answer is 200 with that incident, and nothing is changed.
func (d OpeningDeps) open(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	request, content, err := read(w, r)
	if err != nil {
		return err
	}
	n, err := content.New()
	if err != nil {
		return err
	}
	by := opening.Caller{Actor: wire.Actor(ctx), Application: wire.Application(ctx)}
	to, err := d.Opener.Find(ctx, by, request)
	if err != nil {
		return fault.When(err, fault.NotFound, fault.Invalidf("plan", "there is no active plan %.100q", request.Plan))
	}
	opened, err := d.Opener.Open(ctx, by, to, n)
	if err != nil {
		return err
	}
	status := http.StatusOK
	if !opened.Known {
		status = http.StatusCreated
		d.Wake(ctx, buckets.Of(opened.Bucket))
	}
	found, err := d.Incidents.Get(ctx, opened.ID)
	if err != nil {
		return err
	}
	w.Header().Set("Location", "/v1/incidents/"+strconv.FormatInt(int64(opened.ID), 10))
	return routing.Answer(w, status, found.Detail())
}

// read reads the body.
func read(w http.ResponseWriter, r *http.Request) (to opening.Request, c opening.Content, err error) {
	b, err := jsonbody.ReadKnown(w, r, "plan", "application", "dynamic_targets", "title", "summary", "severity",
		"labels", "context", "dedup_key")
	if err != nil {
		return to, c, err
	}
	to.Plan, to.Application = jsonbody.Next(&err, b.Required, "plan"), jsonbody.Next(&err, b.Text, "application")
	c.Title, c.Summary = jsonbody.Next(&err, b.Text, "title"), jsonbody.Next(&err, b.Text, "summary")
	c.Severity, c.DedupKey = intake.Severity(jsonbody.Next(&err, b.Text, "severity")), jsonbody.Next(&err, b.Text,
		"dedup_key")
	c.Labels = jsonbody.Next(&err, b.TextMap, "labels")
	if err != nil {
		return to, c, err
	}
	if b.Given("context") {
		if c.Context = b.Members["context"]; c.Context[0] != '{' {
			return to, c, fault.Invalidf("context", "context must be an object")
		}
	}
	if b.Given("dynamic_targets") {
		to.Targets, err = readTargets(b, "dynamic_targets", maxTargets)
	}
	return to, c, err
}

// readTargets reads a list of targets, each a role and a name. More than most, null and a missing list are an Invalid
// fault.
func readTargets(b jsonbody.Object, name string, most int) ([]domain.Target, error) {
	given, err := b.Objects(name, most, "role", "name")
	if err != nil {
		return nil, err
	}
	out := make([]domain.Target, len(given))
	for i, g := range given {
		out[i] = domain.Target{Role: jsonbody.Next(&err, g.Required, "role"),
			Name: jsonbody.Next(&err, g.Required, "name")}
	}
	return out, err
}
