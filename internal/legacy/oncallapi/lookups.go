package oncallapi

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/calendaring"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/routing"
)

// searchAhead is how far ahead a summary searches for the next person.
const searchAhead = 400 * 24 * time.Hour

// contacts returns the contacts of a person that the caller sees, by mode. If override is not "", it replaces the
// numbers for call and sms.
func contacts(s auth.Sight, p oncall.Person, override string) map[users.Mode]string {
	out := s.Contacts(p.Name, p.Contacts)
	if override != "" {
		out[users.Call], out[users.SMS] = override, override
	}
	return out
}

func (a lookups) routes() []routing.Route {
	return []routing.Route{
		routing.Get("/api/v0/teams/{team}/summary", routing.Read, a.summary),
		routing.Get("/api/v0/teams/{team}/oncall", routing.Read, a.teamOncall),
		routing.Get("/api/v0/teams/{team}/oncall/{role}", routing.Read, a.teamOncall),
		routing.Get("/api/v0/services/{service}/oncall", routing.Read, a.serviceOncall),
		routing.Get("/api/v0/services/{service}/oncall/{role}", routing.Read, a.serviceOncall),
	}
}

// calendars reads the calendars of teams from now on, without inactive people, as paging does (promise P9).
func (a lookups) calendars(ctx context.Context, teams []int64, ahead time.Duration) (map[int64]*oncall.TeamCalendar, time.Time, error) {
	now, err := a.People.Clock(ctx)
	if err != nil {
		return nil, now, err
	}
	found, err := a.Calendars.TeamCalendars(ctx, teams, now, now.Add(ahead))
	if err != nil {
		return nil, now, err
	}
	out := make(map[int64]*oncall.TeamCalendar, len(found))
	for id, c := range found {
		if out[id], err = a.paged(ctx, c.TeamCalendar); err != nil {
			return nil, now, err
		}
	}
	return out, now, nil
}

// paged returns c without the shifts of inactive people, who are not paged.
func (a lookups) paged(ctx context.Context, c *oncall.TeamCalendar) (*oncall.TeamCalendar, error) {
	if c == nil || len(c.Shifts()) == 0 {
		return c, nil
	}
	people, err := a.People.ByID(ctx, c.People())
	off := map[users.ID]bool{}
	for _, p := range people {
		if !p.Active {
			off[p.ID] = true
		}
	}
	if err != nil || len(off) == 0 {
		return c, err
	}
	return c.Without(off), nil
}

// teamOncall answers with the people on call for a team now, in one role or in all; an empty list for an unknown team.
func (a lookups) teamOncall(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	t, err := a.Team(r)
	if fault.Is(err, fault.NotFound) {
		return routing.Answer(w, http.StatusOK, []any{})
	}
	if err != nil {
		return err
	}
	found, now, err := a.calendars(ctx, []int64{t.ID}, time.Second)
	if err != nil {
		return err
	}
	shifts := running(found[t.ID], routing.Param(r, "role"), now)
	return a.answerOncall(w, r, shifts, func(s oncall.Shift, _ calendaring.Names) string {
		return primaryOnly(s,
			t.OverridePhone)
	})
}

// running returns the shifts that run now, one for each person: those of role, or of all roles if role is "".
func running(c *oncall.TeamCalendar, role string, now time.Time) []oncall.Shift {
	if c == nil {
		return nil
	}
	if role != "" {
		return oncall.FirstOfEach(c.OnCall(role, now))
	}
	return oncall.FirstOfEach(c.Now(now))
}

// primaryOnly returns phone for a primary shift; "" for other roles, which the override number does not replace.
func primaryOnly(s oncall.Shift, phone string) string {
	if s.Role != oncall.RolePrimary {
		return ""
	}
	return phone
}

// serviceOncall answers with the people on call for the teams of a service now; an empty list for an unknown service.
func (a lookups) serviceOncall(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	s, err := a.Names.Service(ctx, routing.Param(r, "service"))
	if fault.Is(err, fault.NotFound) {
		return routing.Answer(w, http.StatusOK, []any{})
	}
	if err != nil {
		return err
	}
	teams, err := a.Names.ServiceTeams(ctx, s.ID)
	if err != nil {
		return err
	}
	ids, owns := []int64{}, map[int64]bool{}
	for _, t := range teams {
		ids, owns[t.ID] = append(ids, t.ID), true
	}
	found, now, err := a.calendars(ctx, ids, time.Second)
	if err != nil {
		return err
	}
	var shifts []oncall.Shift
	for _, id := range ids {
		shifts = append(shifts, running(found[id], routing.Param(r, "role"), now)...)
	}
	return a.answerOncall(w, r, oncall.FirstOfEach(shifts), func(s oncall.Shift, c calendaring.Names) string {
		if !owns[s.TeamID] {
			return ""
		}
		return primaryOnly(s, c.Teams[s.TeamID].OverridePhone)
	})
}

// answerOncall answers with shifts and contacts. phone returns the number that overrides a person's own; "" = none.
func (a lookups) answerOncall(w http.ResponseWriter, r *http.Request, shifts []oncall.Shift, phone func(oncall.Shift, calendaring.Names) string) error {
	c, err := a.NamesOf(r.Context(), shifts)
	if err != nil {
		return err
	}
	sight, err := a.Sight(r.Context(), slices.Collect(maps.Values(c.People))...)
	if err != nil {
		return err
	}
	out := []map[string]any{}
	for _, s := range shifts {
		p := c.People[s.User]
		out = append(out, map[string]any{
			"full_name": operation.OrNull(p.FullName), "start": s.Start.Unix(), "end": s.End.Unix(), "user": p.Name, "team": c.Teams[s.TeamID].Name,
			"role": s.Role, "contacts": contacts(sight, p, phone(s, c)),
		})
	}
	return routing.Answer(w, http.StatusOK, out)
}

// summary answers with the current and the next shifts of a team, by role.
func (a lookups) summary(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	t, err := a.Team(r)
	if err != nil {
		return err
	}
	found, now, err := a.calendars(ctx, []int64{t.ID}, searchAhead)
	if err != nil {
		return err
	}
	current, next := map[string]any{}, map[string]any{}
	if calendar := found[t.ID]; calendar != nil {
		s := calendar.Summary(now)
		var shown []oncall.Shift
		for _, of := range []map[string][]oncall.Shift{s.Current, s.Next} {
			for _, shifts := range of {
				shown = append(shown, shifts...)
			}
		}
		c, err := a.NamesOf(ctx, shown)
		if err != nil {
			return err
		}
		sight, err := a.Sight(ctx, slices.Collect(maps.Values(c.People))...)
		if err != nil {
			return err
		}
		roles, err := a.Roles.Roles(ctx)
		if err != nil {
			return err
		}
		for role, shifts := range s.Current {
			current[role] = summaryEntries(sight, shifts, c, nil, t.OverridePhone)
		}
		for role, shifts := range s.Next {
			next[role] = summaryEntries(sight, shifts, c, roles, "")
		}
	}
	return routing.Answer(w, http.StatusOK, map[string]any{"current": current, "next": next})
}

// summaryEntries returns shifts of a summary on the wire. Entries of next shifts also have the numbers of role and
// team, which need roles.
func summaryEntries(sight auth.Sight, shifts []oncall.Shift, c calendaring.Names, roles []oncall.RoleInfo, phone string) []map[string]any {
	out := make([]map[string]any, len(shifts))
	for i, s := range shifts {
		p, t := c.People[s.User], c.Teams[s.TeamID]
		out[i] = map[string]any{
			"full_name": operation.OrNull(p.FullName), "photo_url": operation.OrNull(p.PhotoURL), "start": s.Start.Unix(), "end": s.End.Unix(), "user_id": p.OncallID,
			"user": p.Name, "team": t.Name, "role": s.Role, "user_contacts": contacts(sight, p, primaryOnly(s, phone)),
		}
		for _, role := range roles {
			if role.Name == s.Role {
				out[i]["role_id"], out[i]["team_id"] = role.ID, t.OncallID
			}
		}
	}
	return out
}
