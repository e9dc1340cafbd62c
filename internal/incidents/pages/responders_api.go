package pages

import (
	"net/http"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/web/jsonbody"
	"github.com/iris-oncall/iris/internal/web/routing"
)

func (a teamwork) routes() []routing.Route {
	return []routing.Route{
		routing.Post("/v1/incidents/{id}/page", routing.Write, a.page),
		routing.Post("/v1/incidents/{id}/reassign", routing.Write, a.reassign),
	}
}

// page pages further people. The request is durable before the answer; the processors make the messages.
func (a teamwork) page(w http.ResponseWriter, r *http.Request) error {
	found, err := a.find(r)
	if err != nil {
		return err
	}
	b, err := jsonbody.ReadKnown(w, r, "targets", "priority", "template")
	if err != nil {
		return err
	}
	var p incidents.AddedPage
	if p.Targets, err = ReadTargets(b, "targets", incidents.MaxAddedTargets); err != nil {
		return err
	}
	if p.Priority, err = b.Text("priority"); err != nil {
		return err
	}
	if p.Template, err = b.Text("template"); err != nil {
		return err
	}
	if err := a.Responders.PageAlso(r.Context(), change(r, found.ID), p); err != nil {
		return err
	}
	return a.changed(w, r, found.ID)
}

// ReadTargets reads a list of targets, each a role and a name. More than most, null and a missing list are an Invalid
// fault.
func ReadTargets(b jsonbody.Object, name string, most int) ([]incidents.Target, error) {
	given, err := b.Objects(name, most, "role", "name")
	if err != nil {
		return nil, err
	}
	out := make([]incidents.Target, len(given))
	for i, g := range given {
		out[i] = incidents.Target{Role: jsonbody.Next(&err, g.Required, "role"),
			Name: jsonbody.Next(&err, g.Required, "name")}
	}
	return out, err
}

// reassign gives an acknowledged incident another owner. The caller need not be allowed to act for the new owner.
func (a teamwork) reassign(w http.ResponseWriter, r *http.Request) error {
	found, err := a.find(r)
	if err != nil {
		return err
	}
	b, err := jsonbody.ReadKnown(w, r, "owner")
	if err != nil {
		return err
	}
	name, err := b.Required("owner")
	if err != nil {
		return err
	}
	if err := a.Responders.Reassign(r.Context(), change(r, found.ID), name); err != nil {
		return err
	}
	return a.changed(w, r, found.ID)
}

// changed wakes the processors and answers with the incident.
func (d APIDeps) changed(w http.ResponseWriter, r *http.Request, id incidents.ID) error {
	d.Wake(r.Context(), buckets.Of(int(int64(id)%buckets.Count)))
	now, err := d.Incidents.Get(r.Context(), id)
	if err != nil {
		return err
	}
	return answer(w, now)
}
