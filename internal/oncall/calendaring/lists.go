package calendaring

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/planning"
	"github.com/iris-oncall/iris/internal/users"
)

// usualEvents is the period of a list of shifts if the caller names no end.
const usualEvents = 14 * 24 * time.Hour

// EventFilter selects shifts.
type EventFilter struct {
	Team  string    `query:"team" json:"team,omitempty" doc:"Shifts of this team, and of roles of other teams that its calendar shows."`
	User  string    `query:"user" json:"user,omitempty" doc:"Shifts of this person."`
	Role  string    `query:"role" json:"role,omitempty" doc:"Only this role."`
	Start time.Time `query:"start" json:"start,omitzero" doc:"Shifts that end after this time. Default: now."`
	End   time.Time `query:"end" json:"end,omitzero" doc:"Shifts that begin before this time, at most three years after start. Default: 14 days after start."`
}

// ListEvents lists shifts.
var ListEvents = operation.Define[EventFilter, operation.Page[Event]](operation.Doc{Name: "event.list",
	Method: http.MethodGet, Path: "/v1/events", Needs: operation.Reader, Errors: []int{http.StatusNotFound},
	Summary: "Shifts of a team, a person or everybody, by start",
	Note:    "More shifts than one answer may have are a 400: name a team, a person or a shorter time. 404 names what does not exist."})

func (c *Calendaring) events(ctx context.Context, _ operation.Actor, f EventFilter) (out operation.Page[Event], err error) {
	query, err := c.query(ctx, f)
	if err != nil {
		return out, err
	}
	rows, err := c.deps.Shifts.Find(ctx, query)
	slices.SortStableFunc(rows, func(a, b oncall.ShiftRow) int { return a.Start.Compare(b.Start) })
	out.Items = eventsOf(rows)
	return out, err
}

func (c *Calendaring) query(ctx context.Context, f EventFilter) (q oncall.ShiftQuery, err error) {
	now, err := c.deps.People.Clock(ctx)
	if err != nil {
		return q, err
	}
	if f.Start.IsZero() {
		f.Start = now
	}
	span, err := planning.Period{Start: f.Start, End: f.End}.Span(f.Start, f.Start.Add(usualEvents))
	if err != nil {
		return q, err
	}
	after, before := span.Start.Unix()+1, span.End.Unix()-1
	q.End.Min, q.Start.Max = &after, &before
	if f.Team != "" {
		t, err := c.deps.ActiveTeam(ctx, f.Team)
		if err != nil {
			return q, fault.When(err, fault.NotFound, fault.Newf(fault.NotFound, "there is no team %.100q", f.Team))
		}
		q.Teams, q.Subscribed = []int64{t.ID}, true
	}
	if f.User != "" {
		u, err := c.deps.People.ByName(ctx, f.User)
		if err != nil {
			return q, fault.When(err, fault.NotFound, fault.Newf(fault.NotFound, "there is no user %.100q", f.User))
		}
		q.Users = []users.ID{u.ID}
	}
	if f.Role != "" {
		role, err := c.deps.Role(ctx, f.Role)
		if err != nil {
			return q, err
		}
		q.Roles = []string{role.Name}
	}
	return q, nil
}
