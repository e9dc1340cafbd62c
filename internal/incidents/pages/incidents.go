// This file serves the list of incidents, the page of one incident, and the forms that change an incident. A message is
// shown as sent only after a vendor accepted it.

package pages

import (
	"context"

	"github.com/go-chi/chi/v5"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/catalog"
	"github.com/iris-oncall/iris/internal/escalation/simulation"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/intake/opening"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/web/page"
)

// Messages reads the newest messages of an incident, oldest first.
type Messages interface {
	Newest(ctx context.Context, id incidents.ID, most int) ([]messages.Message, error)
}

// Deps are the parts that the pages work on.
type Deps struct {
	Incidents    incidents.Store
	Responders   incidents.Responders
	Messages     Messages
	Plans        *catalog.Plans
	Applications *catalog.Applications
	Open         operation.Op[opening.NewIncident, opening.OpenedIncident]
	Next         operation.Op[incidents.One, simulation.Foreseen]
	// Outlooks returns what the list shows besides the rows of incidents.
	Outlooks func(ctx context.Context, ids []incidents.ID) (map[incidents.ID]incidents.Outlook, error)
	// Steps returns the number of steps of a plan version; 0 = unknown.
	Steps func(ctx context.Context, planID int64) int
	// Version returns a text that changes when an incident, its timeline or its messages change.
	Version func(ctx context.Context, id incidents.ID) (string, error)
	// Wake notifies the processors of changed buckets. It never blocks.
	Wake func(context.Context, buckets.Set)
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
}

// ChangeRoutes mounts the forms. The caller must admit only people who may write.
func (h Handlers) ChangeRoutes(r chi.Router) {
	r.Post("/incidents/bulk", h.bulk)
	r.Post("/incidents/new", h.open)
	r.Post("/incidents/{id}/acknowledge", h.acknowledge)
	r.Post("/incidents/{id}/reopen", h.reopen)
	r.Post("/incidents/{id}/resolve", h.resolve)
	r.Post("/incidents/{id}/unresolve", h.unresolve)
	r.Post("/incidents/{id}/escalate", h.escalate)
	r.Post("/incidents/{id}/restart", h.restart)
	r.Post("/incidents/{id}/comments", h.comment)
	r.Post("/incidents/{id}/page", h.page)
	r.Post("/incidents/{id}/reassign", h.reassign)
	r.Post("/incidents/{id}/snooze", h.snooze)
	r.Post("/incidents/{id}/merge", h.merge)
	r.Post("/incidents/{id}/unmerge", h.unmerge)
}
