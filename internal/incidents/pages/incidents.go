// This file serves the list of incidents, the page of one incident, and the forms that change an incident. A message is
// shown as sent only after a vendor accepted it.

package pages

import (
	"context"
	"net/http"

	"github.com/go-chi/chi/v5"

	"github.com/iris-oncall/iris/internal/catalog"
	"github.com/iris-oncall/iris/internal/escalation/simulation"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/incidents/reviews"
	"github.com/iris-oncall/iris/internal/intake/opening"
	"github.com/iris-oncall/iris/internal/kit/filters"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/messages"
	pagesnotifications "github.com/iris-oncall/iris/internal/notifications/pages"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/page"
)

// Incidents reads incidents, with more than the operations show of them.
type Incidents interface {
	List(ctx context.Context, q filters.Query) ([]incidents.Incident, error)
	CountUpTo(ctx context.Context, limit int, queries ...filters.Query) ([]int, error)
	Get(ctx context.Context, id incidents.ID) (incidents.Incident, error)
	Timeline(ctx context.Context, id incidents.ID) ([]incidents.Entry, error)
	Alerts(ctx context.Context, id incidents.ID, after string, most int) ([]incidents.Alert, error)
}

// Messages reads the newest messages of an incident, oldest first.
type Messages interface {
	Newest(ctx context.Context, id incidents.ID, most int) ([]messages.Message, error)
}

// Deps are the parts that the pages work on.
type Deps struct {
	Incidents    Incidents
	Changes      *incidents.Incidents
	Messages     Messages
	Plans        *catalog.Plans
	Applications *catalog.Applications
	People       *users.People
	Open         operation.Op[opening.NewIncident, opening.OpenedIncident]
	// Next returns what happens next to incidents: see simulation.Simulator.Next.
	Next func(ctx context.Context, ids []incidents.ID) (map[incidents.ID]simulation.Next, error)
	// AlertCounts leaves out incidents without alerts.
	AlertCounts func(ctx context.Context, ids []incidents.ID) (map[incidents.ID]incidents.AlertCount, error)
	// Steps returns the number of steps of a plan version; 0 = unknown.
	Steps func(ctx context.Context, planID int64) int
	// Version returns a text that changes when an incident, its timeline or its messages change.
	Version func(ctx context.Context, id incidents.ID) (string, error)
	// Told returns who gets the updates of an incident.
	Told    func(r *http.Request, id incidents.ID) (pagesnotifications.Told, error)
	Reviews *reviews.Reviews
}

// Handlers serves the pages. It is safe for concurrent use.
type Handlers struct {
	Deps
	Pages *page.Pages
}

// Routes mounts the pages that change nothing.
func (h Handlers) Routes(r chi.Router) {
	page.Get(r, "/incidents", h.list)
	page.Get(r, "/incidents/{id}", h.show)
	page.Get(r, "/incidents/new", h.blank)
	page.Get(r, "/incidents/people", h.people)
}

// ChangeRoutes mounts the forms. The caller must admit only people who may write.
func (h Handlers) ChangeRoutes(r chi.Router) {
	r.Post("/incidents/bulk", h.bulk)
	r.Post("/incidents/new", h.open)
	r.Post("/incidents/{id}/acknowledge", h.acknowledge)
	r.Post("/incidents/{id}/reopen", h.reopen)
	r.Post("/incidents/{id}/resolve", h.resolve)
	r.Post("/incidents/{id}/unresolve", h.unresolve)
	r.Post("/incidents/{id}/escalate", h.plain(h.Changes.Escalate))
	r.Post("/incidents/{id}/restart", h.plain(h.Changes.Restart))
	r.Post("/incidents/{id}/comments", h.comment)
	r.Post("/incidents/{id}/page", h.page)
	r.Post("/incidents/{id}/reassign", h.reassign)
	r.Post("/incidents/{id}/snooze", h.snooze)
	r.Post("/incidents/{id}/merge", h.merge)
	r.Post("/incidents/{id}/unmerge", h.plain(h.Changes.Unmerge))
}
