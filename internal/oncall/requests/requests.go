package requests

import (
	"context"
	"net/http"
	"time"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/calendaring"
	"github.com/iris-oncall/iris/internal/oncall/scheduling"
	"github.com/iris-oncall/iris/internal/web/routing"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// ScheduleChanges stores schedules. A schedule that does not exist is a NotFound fault.
type ScheduleChanges interface {
	Create(ctx context.Context, d scheduling.ScheduleDraft, by oncall.By) (oncall.ScheduleID, error)
	Update(ctx context.Context, id oncall.ScheduleID, e scheduling.Edit, by oncall.By) error
	Delete(ctx context.Context, old scheduling.StoredSchedule, by oncall.By) error
}

// Requests decodes requests about calendars. All parts are required. It is safe for concurrent use.
type Requests struct {
	calendaring.Finder
	Openings auth.Openings
	// Grace is the time after the start of a shift in which members of the team may still edit it.
	Grace time.Duration
}

// Names has the people and teams of some shifts.
type Names = calendaring.Names

// Admit refuses callers who may not use a route of a calendar API.
func (a Requests) Admit(rt routing.Route, r *http.Request) error {
	actor := wire.Actor(r.Context())
	switch rt.Access {
	case routing.Read:
		return actor.MayReadOncall(a.Openings)
	case routing.Self, routing.Someone:
		return actor.MayUseOncall(false)
	case routing.Write:
		return actor.MayUseOncall(rt.Method != http.MethodGet)
	case routing.Public:
	}
	return nil
}
