package catalog

import (
	"context"
	"net/http"
	"strconv"

	"github.com/iris-oncall/iris/internal/api/page"
	"github.com/iris-oncall/iris/internal/catalog"
	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/wire/routing"
)

// PlanUses reads how plans are used.
type PlanUses interface {
	// Uses leaves out numbers that do not exist.
	Uses(ctx context.Context, ids []escalation.PlanID) ([]catalog.PlanUse, error)
	// UsedBy names the applications, integrations, quotas and escalating incidents that use a plan.
	UsedBy(ctx context.Context, name string) ([]string, error)
}

func (d Deps) useRoutes() []routing.Route {
	return []routing.Route{
		routing.Get("/v1/plan-uses", routing.Someone, d.uses),
		routing.Get("/v1/plans/{plan}/uses", routing.Someone, d.usesOfOne),
	}
}

// use is how a plan is used, on the wire.
type use struct {
	ID         int64    `json:"id"` // of the version
	LastUsedAt *string  `json:"last_used_at"`
	Escalating int      `json:"escalating_incidents"`
	Steps      int      `json:"steps"`
	Warnings   []string `json:"warnings"`
	UsedBy     []string `json:"used_by,omitempty"`
}

func showUse(u catalog.PlanUse) use {
	return use{ID: u.ID, LastUsedAt: page.Time(u.LastAt), Escalating: u.Escalating, Steps: u.Steps, Warnings: append([]string{}, u.Warnings()...)}
}

// maxUses is how many plans one request asks about at most.
const maxUses = 100

// uses answers with the use of the versions that the query names. It leaves out numbers that do not exist.
func (d Deps) uses(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	for name := range q {
		if name != "id" {
			return fault.Invalidf(name, "there is no parameter %.60q: only id is known", name)
		}
	}
	if len(q["id"]) == 0 || len(q["id"]) > maxUses {
		return fault.Invalidf("id", "give 1 to %d numbers of versions as id", maxUses)
	}
	ids := make([]escalation.PlanID, len(q["id"]))
	for i, text := range q["id"] {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return fault.Invalidf("id", "%.60q is not the number of a version of a plan", text)
		}
		ids[i] = escalation.PlanID(n)
	}
	found, err := d.PlanUses.Uses(r.Context(), ids)
	if err != nil {
		return err
	}
	out := struct {
		Items []use `json:"items"`
	}{[]use{}}
	for _, u := range found {
		out.Items = append(out.Items, showUse(u))
	}
	return routing.Answer(w, http.StatusOK, out)
}

// usesOfOne answers with the use of a plan, and with what uses it.
func (d Deps) usesOfOne(w http.ResponseWriter, r *http.Request) error {
	id, name, err := named(r, "plan")
	if err != nil {
		return err
	}
	var p escalation.PlanSteps
	if name == "" {
		p, err = d.Plans.ByID(r.Context(), escalation.PlanID(id))
	} else {
		p, err = d.Plans.ByName(r.Context(), name)
	}
	if err != nil {
		return d.plans().missing(err)
	}
	found, err := d.PlanUses.Uses(r.Context(), []escalation.PlanID{p.ID})
	if err != nil {
		return err
	}
	by, err := d.PlanUses.UsedBy(r.Context(), p.Name)
	if err != nil {
		return err
	}
	if len(found) == 0 {
		return fault.New(fault.NotFound, "there is no such plan")
	}
	out := showUse(found[0])
	out.UsedBy = by
	return routing.Answer(w, http.StatusOK, out)
}
