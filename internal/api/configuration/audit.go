package configuration

import (
	"net/http"

	"github.com/iris-oncall/iris/internal/api/page"
	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/wire"
	"github.com/iris-oncall/iris/internal/wire/routing"
)

func (a auditLog) routes() []routing.Route {
	return []routing.Route{
		routing.Get("/v1/audit", routing.Someone, a.list),
		routing.Get("/v1/audit/export", routing.Someone, a.export),
	}
}

// change is one change on the wire.
type change struct {
	ID     int64   `json:"id"`
	At     *string `json:"at"`
	Actor  string  `json:"actor"`
	Action string  `json:"action"`
	Object *string `json:"object"`
	Detail *string `json:"detail"`
}

func (a auditLog) entries() page.List[auth.AuditRecord] {
	return page.List[auth.AuditRecord]{Read: a.AuditLog, Texts: []string{"actor", "action", "object"}, Endless: true, Entries: true, Show: showChange,
		Place: func(e auth.AuditRecord) page.Place { return page.Place{At: e.At, ID: e.ID} }}
}

// list answers administrators with the changes that people and programs made, newest first.
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

func showChange(e auth.AuditRecord) any {
	return change{ID: e.ID, At: page.Time(e.At), Actor: e.Actor, Action: e.Action, Object: page.OrNull(e.Object), Detail: page.OrNull(e.Detail)}
}
