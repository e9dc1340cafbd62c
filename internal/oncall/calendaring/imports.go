package calendaring

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/clock"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/editing"
	"github.com/iris-oncall/iris/internal/oncall/planning"
	"github.com/iris-oncall/iris/internal/users"
)

// importAhead is how far ahead shifts are imported if the request has no end.
const importAhead = 365 * 24 * time.Hour

// CalendarUpload makes shifts of a team from an iCalendar text.
type CalendarUpload struct {
	planning.Period
	Role    string `query:"role" json:"role,omitempty" doc:"The role of the shifts; required."`
	Roster  string `query:"roster" json:"roster,omitempty" doc:"Only people of this roster are looked for; default: everybody in the team."`
	Preview bool   `query:"preview" json:"preview,omitempty" doc:"true: nothing is stored."`
	RawBody []byte `contentType:"text/calendar" json:"body" doc:"An iCalendar text."`
}

// Imported are the changes of an import.
type Imported struct {
	Preview   bool                     `json:"preview"`
	Added     []EditedEvent            `json:"added"`
	Removed   []EditedEvent            `json:"removed"`
	Changed   []ChangedEvent           `json:"changed"`
	Conflicts []planning.Conflict      `json:"conflicts" doc:"New and changed shifts of people who cannot be on call then."`
	Kept      int                      `json:"kept" doc:"How many shifts stay as people changed them."`
	Unmatched []editing.UnmatchedEvent `json:"unmatched" doc:"Events, or people of events, that became no shift."`
}

// ImportCalendar is the operation that imports shifts.
var ImportCalendar = operation.Define[CalendarUpload, Imported](operation.Doc{Name: "team.import",
	Method: http.MethodPost, Path: "/v1/teams/{team}/imports", Status: http.StatusOK, Needs: operation.Member,
	Rule: operation.OfTeam, Audit: []audit.Action{audit.CalendarImported}, Summary: "Make shifts of an iCalendar",
	Errors: []int{404}, Note: "The same text can be imported again: its shifts are then updated. Past shifts stay. By default it reads the events of the next 365 days."})

func (c *Calendaring) importCalendar(ctx context.Context, by operation.Actor, u CalendarUpload) (out Imported, err error) {
	t, err := c.deps.ActiveTeam(ctx, u.Team)
	if err != nil {
		return out, err
	}
	who, err := auth.PlannerOf(ctx, c.deps.Memberships, by)
	if err == nil {
		err = who.MayAdministerTeam(t.ID, t.Name)
	}
	if err != nil {
		return out, err
	}
	external := editing.ExternalCalendar{TeamID: t.ID}
	if external.Role, err = c.importRole(ctx, u.Role); err != nil {
		return out, err
	}
	candidates, err := c.candidates(ctx, t, u.Roster)
	if err != nil {
		return out, err
	}
	now, err := c.deps.People.Clock(ctx)
	if err != nil {
		return out, err
	}
	span, err := u.Span(now, now.Add(importAhead))
	if err != nil {
		return out, err
	}
	external.Since = clock.Later(span.Start, now) // past shifts are not changed
	unmatched, err := editing.ReadShifts(&external, u.RawBody, candidates, c.deps.ZoneOf(t), span.End)
	if err != nil {
		return out, err
	}
	plan, err := c.deps.Imports.TakeOver(ctx, external, planning.Author(by, nil), u.Preview)
	if err != nil {
		return out, err
	}
	changes := plan.Changes
	if u.Preview {
		changes.Add = slices.Clone(changes.Add)
		for i := range changes.Add {
			changes.Add[i].ID = 0 // the preview was rolled back, so its numbers mean nothing
		}
	}
	oncall.SortShifts(changes.Add)
	oncall.SortShifts(changes.Delete)
	a, err := c.answer(ctx, changes)
	return Imported{u.Preview, a.Added, a.Removed, a.Changed, a.Conflicts, len(plan.Kept), unmatched}, err
}

// importRole returns the stored spelling of a role's name. An unknown role is an Invalid fault.
func (c *Calendaring) importRole(ctx context.Context, name string) (string, error) {
	if name == "" {
		return "", fault.Invalidf("role", "name the role of the shifts, as in ?role=primary")
	}
	role, err := c.deps.Role(ctx, name)
	return role.Name, fault.When(err, fault.NotFound, fault.Invalidf("role", "there is no role %q", name))
}

// candidates returns the active people who may get shifts: the members of the roster, or of the team if roster is "".
func (c *Calendaring) candidates(ctx context.Context, t oncall.Profile, roster string) ([]editing.Candidate, error) {
	var ids []users.ID
	if roster != "" {
		ro, err := c.deps.RosterNamed(ctx, t, roster)
		if err != nil {
			return nil, fault.When(err, fault.NotFound, fault.Invalidf("roster", "team %s has no roster %q", t.Name, roster))
		}
		for _, m := range ro.Members {
			ids = append(ids, m.User)
		}
	} else {
		people, err := c.deps.Members.People(ctx, t.ID)
		if err != nil {
			return nil, err
		}
		for _, p := range people {
			if p.Member {
				ids = append(ids, p.ID)
			}
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	people, err := c.deps.People.ByID(ctx, ids)
	out := make([]editing.Candidate, 0, len(people))
	for _, u := range people {
		if u.Active {
			out = append(out, editing.Candidate{User: u.ID, Name: u.Name, FullName: u.FullName, Email: u.Contacts[users.Email]})
		}
	}
	return out, err
}
