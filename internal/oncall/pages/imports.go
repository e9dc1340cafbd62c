package pages

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/editing"
	"github.com/iris-oncall/iris/internal/oncall/requests"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/routing"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// importAhead is how far ahead shifts are imported if the query has no end.
const importAhead = 365 * 24 * time.Hour

func (a imports) routes() []routing.Route {
	return []routing.Route{
		routing.Post("/v1/teams/{team}/imports", routing.Write, a.importCalendar),
	}
}

// importCalendar makes shifts from an iCalendar text and answers with the changes. With preview=true it stores nothing.
// Administrators of the team may.
func (a imports) importCalendar(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	t, err := a.Administered(r)
	if err != nil {
		return err
	}
	q := r.URL.Query()
	preview, err := Flag(r, "preview")
	if err != nil {
		return err
	}
	c := editing.ExternalCalendar{TeamID: t.ID}
	if c.Role, err = a.importRole(ctx, q.Get("role")); err != nil {
		return err
	}
	candidates, err := a.candidates(ctx, t, q.Get("roster"))
	if err != nil {
		return err
	}
	now, err := a.People.Clock(ctx)
	if err != nil {
		return err
	}
	from, until, err := Window(r, now, now.Add(importAhead))
	if err != nil {
		return err
	}
	if from.Before(now) {
		from = now // past shifts are not changed
	}
	raw, _, err := wire.Body(w, r, wire.MaxBody)
	if err != nil {
		return err
	}
	c.Since = from
	unmatched, err := editing.ReadShifts(&c, raw, candidates, a.ZoneOf(t), until)
	if err != nil {
		return err
	}
	plan, err := a.Imports.TakeOver(ctx, c, requests.By(r, nil), preview)
	if err != nil {
		return err
	}
	return a.answerImport(w, r, plan, unmatched, preview)
}

// importRole returns the stored spelling of a role's name. An unknown role is an Invalid fault.
func (a imports) importRole(ctx context.Context, name string) (string, error) {
	roles, err := a.Roles.Roles(ctx)
	if err != nil {
		return "", err
	}
	for _, role := range roles {
		if strings.EqualFold(role.Name, name) {
			return role.Name, nil
		}
	}
	if name == "" {
		return "", fault.Invalidf("role", "name the role of the shifts, as in ?role=primary")
	}
	return "", fault.Invalidf("role", "there is no role %q", name)
}

// candidates returns the active people who may get shifts: the members of the roster, or of the team if roster is "".
func (a imports) candidates(ctx context.Context, t oncall.Profile, roster string) ([]editing.Candidate, error) {
	var ids []users.ID
	if roster != "" {
		ro, err := a.RosterNamed(ctx, t, roster)
		if err != nil {
			return nil, fault.When(err, fault.NotFound, fault.Invalidf("roster", "team %s has no roster %q", t.Name,
				roster))
		}
		for _, m := range ro.Members {
			ids = append(ids, m.User)
		}
	} else {
		people, err := a.Members.People(ctx, t.ID)
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
	people, err := a.People.ByID(ctx, ids)
	out := make([]editing.Candidate, 0, len(people))
	for _, u := range people {
		if u.Active {
			out = append(out, editing.Candidate{User: u.ID, Name: u.Name, FullName: u.FullName,
				Email: u.Contacts[users.Email]})
		}
	}
	return out, err
}

// answerImport answers with the changes of an import, or of its preview.
func (a imports) answerImport(w http.ResponseWriter, r *http.Request, plan editing.CalendarImport, unmatched []editing.UnmatchedEvent, preview bool) error {
	changes := plan.Changes
	if preview {
		changes.Add = slices.Clone(changes.Add)
		for i := range changes.Add {
			changes.Add[i].ID = 0 // the preview was rolled back, so its numbers mean nothing
		}
	}
	oncall.SortShifts(changes.Add)
	oncall.SortShifts(changes.Delete)
	out, err := edits(a).changesObject(r.Context(), changes)
	if err != nil {
		return err
	}
	out["preview"], out["unmatched"], out["kept"] = preview, unmatched, len(plan.Kept)
	return routing.Answer(w, http.StatusOK, out)
}
