package configuration

import (
	"math"
	"net/http"
	"strconv"

	"github.com/iris-oncall/iris/internal/api/page"
	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/wire"
	"github.com/iris-oncall/iris/internal/wire/routing"
)

func (a auditLog) routes() []routing.Route {
	return []routing.Route{routing.Get("/v1/audit", routing.Someone, a.list)}
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

// list answers administrators with the changes that people made, newest first.
func (a auditLog) list(w http.ResponseWriter, r *http.Request) error {
	if err := wire.Actor(r.Context()).MayAdminister(); err != nil {
		return err
	}
	q, err := page.Read(r)
	if err != nil {
		return err
	}
	before := int64(math.MaxInt64)
	if cursor := q.AfterName(); cursor != "" {
		if before, err = strconv.ParseInt(cursor, 10, 64); err != nil {
			return page.BadCursor()
		}
	}
	found, err := a.AuditLog.Before(r.Context(), before, q.Size+1)
	if err != nil {
		return err
	}
	next := ""
	if len(found) > q.Size {
		found = found[:q.Size]
		next = strconv.FormatInt(found[q.Size-1].ID, 10)
	}
	return page.AnswerEntries(w, found, showChange, next)
}

func showChange(e auth.AuditRecord) any {
	return change{ID: e.ID, At: page.Time(e.At), Actor: e.Actor, Action: e.Action, Object: page.OrNull(e.Object), Detail: page.OrNull(e.Detail)}
}
