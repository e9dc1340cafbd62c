package calendaring

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/oncall/scheduling"
)

// The period of hand-offs and gaps.
const (
	usualAhead = 30 * 24 * time.Hour
	mostAhead  = 2 * 366 * 24 * time.Hour
)

// OnCallFilter selects whose on-call state is returned.
type OnCallFilter struct {
	operation.Paging
	Team    string `query:"team" json:"team,omitempty" doc:"The name of the team."`
	Service string `query:"service" json:"service,omitempty" doc:"The name of a service: all teams that own it."`
	Role    string `query:"role" json:"role,omitempty" doc:"Only this role; without it, all roles of the calendar."`
	At      string `query:"at" json:"at,omitempty" doc:"The time to look at: now (the default), 2026-11-22T02:00:00Z, +2h, +3d, or 2026-11-22 02:00 on the clock of the team."`
	For     string `query:"for" json:"for,omitempty" doc:"Period of the hand-offs and gaps, such as 24h; 720h by default, at most two years."`
}

// Check implements operation.Checker.
func (f OnCallFilter) Check() error {
	var wrong fault.Wrong
	wrong.If((f.Team == "") == (f.Service == ""), "team", "either team or service is required")
	ahead, err := f.ahead()
	wrong.If(err != nil || ahead <= 0 || ahead > mostAhead, "for", "for must be a duration such as 24h, at most two years")
	return wrong.Err()
}

func (f OnCallFilter) ahead() (time.Duration, error) {
	if f.For == "" {
		return usualAhead, nil
	}
	return time.ParseDuration(f.For)
}

// ListOnCall says who is on call.
var ListOnCall = operation.Define[OnCallFilter, operation.Page[scheduling.Team]](operation.Doc{Name: "oncall.list",
	Method: http.MethodGet, Path: "/v1/oncall", Needs: operation.Reader,
	Summary: "Who is on call for a team or the teams of a service, how they are reached, and why", Errors: []int{404},
	Note: "Either team or service is required. 404 names what does not exist."})

// NewOnCall returns the operation. who finds who is on call. A team, service or role that does not exist is a NotFound
// fault, a time that cannot be read an Invalid one.
func NewOnCall(who func(context.Context, scheduling.Ask) ([]scheduling.Team, error)) operation.Op[OnCallFilter, operation.Page[scheduling.Team]] {
	return ListOnCall.By(func(ctx context.Context, by operation.Actor, f OnCallFilter) (out operation.Page[scheduling.Team], err error) {
		ahead, err := f.ahead() // see Check
		if err != nil {
			return out, err
		}
		found, err := who(ctx, scheduling.Ask{Team: f.Team, Service: f.Service, Role: f.Role, At: f.At, Ahead: ahead})
		if err != nil {
			return out, err
		}
		for _, t := range found {
			for _, r := range t.Roles {
				for i, p := range r.People {
					r.People[i].Contacts = auth.SightOn(by, p.Name).Contacts(p.Name, p.Contacts)
				}
			}
		}
		slices.SortFunc(found, func(a, b scheduling.Team) int { return strings.Compare(a.Team, b.Team) })
		return operation.PageByName(f.Paging, found, func(t scheduling.Team) string { return t.Team })
	})
}
