// This file answers /v1/audit: the audit log for administrators, in pages and as a file.

package pages

import (
	"net/http"

	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/web/listing"
	"github.com/iris-oncall/iris/internal/web/routing"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// AuditLogAPIDeps are what the routes need.
type AuditLogAPIDeps struct{ Read listing.Reader[audit.Record] }

// AuditLogRoutes returns the routes of the audit log.
func AuditLogRoutes(d AuditLogAPIDeps) []routing.Route {
	a := auditLog{d}
	return []routing.Route{
		routing.Get("/v1/audit", routing.Someone, a.list),
		routing.Get("/v1/audit/export", routing.Someone, a.export),
	}
}

type auditLog struct{ AuditLogAPIDeps }

// entry is one entry of the audit log on the wire.
type entry struct {
	ID        int64          `json:"id"`
	At        *string        `json:"at"`
	Actor     string         `json:"actor"`
	ActorKind *string        `json:"actor_kind"`
	ActorID   *int64         `json:"actor_id"`
	Through   *string        `json:"through"`
	TokenID   *int64         `json:"token_id"`
	Address   *string        `json:"address"`
	RequestID *string        `json:"request_id"`
	Action    string         `json:"action"`
	Object    *string        `json:"object"`
	Detail    *string        `json:"detail"`
	Changes   []audit.Change `json:"changes"`
}

func (a auditLog) entries() listing.List[audit.Record] {
	return listing.List[audit.Record]{Read: a.Read, Texts: []string{"actor", "actor_kind", "action", "object",
		"address", "request_id"}, Endless: true, Show: showEntry,
		Place: func(e audit.Record) listing.Place { return listing.Place{At: e.At, ID: e.ID} }}
}

// list answers administrators with the audit log, newest first.
func (a auditLog) list(w http.ResponseWriter, r *http.Request) error {
	if err := wire.Actor(r.Context()).MayAdminister(); err != nil {
		return err
	}
	return a.entries().Answer(w, r)
}

// export answers administrators with all matching entries as JSON lines, newest first.
func (a auditLog) export(w http.ResponseWriter, r *http.Request) error {
	if err := wire.Actor(r.Context()).MayAdminister(); err != nil {
		return err
	}
	return a.entries().Export(w, r, "iris-audit.jsonl")
}

func showEntry(e audit.Record) any {
	return entry{ID: e.ID, At: listing.Time(e.At), Actor: e.Actor, ActorKind: listing.OrNull(string(e.From.Kind)),
		ActorID: listing.OrNull(e.From.ActorID),
		Through: listing.OrNull(e.From.Through), TokenID: listing.OrNull(e.From.TokenID), Address: listing.OrNull(e.From.Address),
		RequestID: listing.OrNull(e.From.Request), Action: string(e.Action), Object: listing.OrNull(e.Object), Detail: listing.OrNull(e.Detail),
		Changes: append([]audit.Change{}, e.Changes...)}
}
