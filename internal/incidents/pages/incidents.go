// This file serves the list of incidents, the page of one incident, and the forms that change an incident. A message is
// shown as sent only after a vendor accepted it.

package pages

import (
	"context"

	"github.com/go-chi/chi/v5"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/filters"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/page"
)

// Store reads and changes incidents. A method that changes one returns when its change is durable. A change that the
// state of the incident does not allow, or a step that does not exist, is a Conflict fault.
type Store interface {
	List(ctx context.Context, q filters.Query) ([]incidents.Incident, error)
	Get(ctx context.Context, id incidents.ID) (incidents.Incident, error)
	// Timeline returns the entries of a timeline, oldest first.
	Timeline(ctx context.Context, id incidents.ID) ([]incidents.Entry, error)
	// Alerts returns at most so many alerts, after a fingerprint ("" = from the first one).
	Alerts(ctx context.Context, id incidents.ID, after string, most int) ([]incidents.Alert, error)
	Acknowledge(ctx context.Context, c incidents.Change, owner users.User) ([]incidents.Acknowledged, error)
	Reopen(ctx context.Context, c incidents.Change) ([]incidents.Acknowledged, error)
	Resolve(ctx context.Context, c incidents.Change, resolved bool) ([]incidents.Acknowledged, error)
	// Escalate and Restart move an incident on in its plan.
	Escalate(ctx context.Context, c incidents.Change) ([]incidents.Acknowledged, error)
	Restart(ctx context.Context, c incidents.Change) ([]incidents.Acknowledged, error)
	// Snooze stops the escalation of incidents until an end.
	Snooze(ctx context.Context, c incidents.Change, end incidents.SnoozeEnd) ([]incidents.Acknowledged, error)
	EndSnooze(ctx context.Context, c incidents.Change) ([]incidents.Acknowledged, error)
	// Merge makes one incident stand for others. A parent that does not permit the merge is an Invalid fault.
	Merge(ctx context.Context, c incidents.Change, into incidents.ID, comment string) ([]incidents.Acknowledged, error)
	Unmerge(ctx context.Context, c incidents.Change) ([]incidents.Acknowledged, error)
	AddComment(ctx context.Context, id incidents.ID, author users.User, content string) (int64, error)
	Comments(ctx context.Context, id incidents.ID) ([]incidents.Comment, error)
}

// Responders changes who works on an incident. A change that the incident's state does not allow is a Conflict fault.
type Responders interface {
	PageAlso(ctx context.Context, c incidents.Change, p incidents.AddedPage) error
	Reassign(ctx context.Context, c incidents.Change, owner string) error
}

// Messages reads the newest messages of an incident, oldest first.
type Messages interface {
	Newest(ctx context.Context, id incidents.ID, most int) ([]messages.Message, error)
}

// Deps are the parts that the pages work on.
type Deps struct {
	Incidents  Store
	Responders Responders
	Messages   Messages
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
