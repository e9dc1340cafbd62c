package incidents

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/web/page"
)

// page pages the typed target.
func (h Handlers) page(rw http.ResponseWriter, r *http.Request) {
	h.other(rw, r, func(ctx context.Context, c incidents.Change) error {
		target := incidents.Target{Role: typed(r, "role"), Name: typed(r, "name")}
		return h.Responders.PageAlso(ctx, c, incidents.AddedPage{Targets: []incidents.Target{target}, Priority: typed(r, "priority")})
	})
}

// reassign gives the incident another owner.
func (h Handlers) reassign(rw http.ResponseWriter, r *http.Request) {
	h.other(rw, r, func(ctx context.Context, c incidents.Change) error {
		return h.Responders.Reassign(ctx, c, typed(r, "owner"))
	})
}

// typed returns a field of a form.
func typed(r *http.Request, name string) string {
	return page.Storable(strings.TrimSpace(r.PostFormValue(name)))
}

// other makes a change that has no confirmation, and redirects to the incident.
func (h Handlers) other(rw http.ResponseWriter, r *http.Request, do func(context.Context, incidents.Change) error) {
	id, err := incidentID(r)
	if err == nil {
		err = do(r.Context(), incidents.Change{IDs: []incidents.ID{id}, Actor: page.Reader(r).Name, Via: incidents.ViaWeb})
	}
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	h.Wake(buckets.Of(int(int64(id) % buckets.Count)))
	http.Redirect(rw, r, fmt.Sprintf("/incidents/%d", id), http.StatusSeeOther)
}
