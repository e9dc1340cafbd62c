package personal

import (
	"context"
	"net/http"

	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/calendaring"
	"github.com/iris-oncall/iris/internal/users"
)

// ShiftFilter selects the next shifts of a person.
type ShiftFilter struct {
	users.OnePerson
	Limit int    `query:"limit" json:"limit,omitempty" minimum:"0" maximum:"2000" doc:"The most shifts of the answer; 0, the default, is all."`
	Role  string `query:"role" json:"role,omitempty" doc:"Only this role; default: all roles."`
}

// NextShift is a shift that has not begun. Linked shifts are one, the first of them.
type NextShift struct {
	calendaring.Event
	Linked int `json:"linked" doc:"How many linked shifts it stands for; 0 = it is on its own."`
}

// ListShifts lists the next shifts of a person.
var ListShifts = operation.Define[ShiftFilter, operation.Page[NextShift]](operation.Doc{Name: "user.shifts",
	Method: http.MethodGet, Path: "/v1/users/{user}/shifts", Needs: operation.Reader,
	Summary: "The next shifts of a person, soonest first", Note: "Linked shifts are one item."})

// mostAhead is the maximum number of future shifts of a person that are read.
const mostAhead = 2000

func (p *Personal) shifts(ctx context.Context, _ operation.Actor, f ShiftFilter) (out operation.Page[NextShift], err error) {
	u, err := p.person(ctx, f.User)
	if err != nil {
		return out, err
	}
	now, err := p.deps.Finder.People.Clock(ctx)
	if err != nil {
		return out, err
	}
	after := now.Unix() + 1
	query := oncall.ShiftQuery{Users: []users.ID{u.ID}, Start: oncall.Range{Min: &after}, Limit: mostAhead}
	if f.Role != "" {
		query.Roles = []string{f.Role}
	}
	rows, err := p.deps.Finder.Shifts.Find(ctx, query)
	if err != nil {
		return out, err
	}
	shifts, byID := make([]oncall.Shift, len(rows)), map[oncall.ShiftID]oncall.ShiftRow{}
	for i, row := range rows {
		shifts[i], byID[row.ID] = row.Shift, row
	}
	out.Items = []NextShift{}
	for _, next := range oncall.Upcoming(shifts, now, f.Limit) {
		out.Items = append(out.Items, NextShift{calendaring.EventOf(byID[next.ID]), next.Linked})
	}
	return out, nil
}
