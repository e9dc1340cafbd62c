package pages

import (
	"cmp"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/iris-oncall/iris/internal/kit/humanize"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/oncall/calendaring"
	"github.com/iris-oncall/iris/internal/oncall/planning"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/page"
)

// maxQuery is how many characters of a search are used.
const maxQuery = 200

// listed is how far ahead a list has shifts.
const listed = 14 * 24 * time.Hour

// listRoutes mounts the calendar as lists that the server renders, for browsers without JavaScript.
func (h Handlers) listRoutes(r chi.Router) {
	page.Get(r, "/oncall/teams", h.teamList)
	page.Get(r, "/oncall/teams/{team}", h.shiftList)
	page.Get(r, "/oncall/me", h.ownList)
	page.Get(r, "/search", h.search)
}

func listPath(team string) string { return "/oncall/teams/" + url.PathEscape(team) }

// shift is a shift in the list.
type shift struct {
	calendaring.Event
	Conflict bool // its person cannot be on call then
}

// Who returns the name of the person.
func (s shift) Who() string { return cmp.Or(string(s.FullName), s.User) }

type shiftsView struct {
	page.Frame
	Team, Calendar string // name of the team, "" = the reader's own shifts; address of the calendar
	Now, Next      []shift
}

// shiftList shows who is on call in a team, and its shifts of the next two weeks.
func (h Handlers) shiftList(rw http.ResponseWriter, r *http.Request) {
	team, err := h.found(r)
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	h.shifts(rw, r, shiftsView{Frame: h.Pages.Frame(r, team.Name, "oncall"), Team: team.Name,
		Calendar: teamPath(team.Name)}, calendaring.EventFilter{Team: team.Name}, team.Name)
}

// ownList shows the shifts of the reader.
func (h Handlers) ownList(rw http.ResponseWriter, r *http.Request) {
	me, err := h.People.Get.Do(r.Context(), page.Actor(r), users.OnePerson{User: page.Reader(r).Name})
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	h.shifts(rw, r, shiftsView{Frame: h.Pages.Frame(r, "My shifts", "me"), Calendar: "/me"},
		calendaring.EventFilter{User: me.Name}, me.Teams...)
}

// shifts reads the shifts of the next two weeks that the filter selects, marks those with a conflict in the teams, and
// shows the list.
func (h Handlers) shifts(rw http.ResponseWriter, r *http.Request, v shiftsView, f calendaring.EventFilter, teams ...string) {
	now := time.Now()
	f.Start, f.End = now, now.Add(listed)
	all, err := h.Calendaring.Events.Do(r.Context(), page.Actor(r), f)
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	conflicts := map[int64]bool{}
	for _, team := range teams {
		found, err := h.Planning.Conflicts.Do(r.Context(), page.Actor(r),
			planning.Period{OneTeam: users.OneTeam{Team: team}, Start: f.Start, End: f.End})
		if err != nil {
			h.Pages.Fail(rw, r, err)
			return
		}
		for _, c := range found.Items {
			conflicts[c.EventID] = true
		}
	}
	for _, e := range all.Items {
		s := shift{e, conflicts[int64(e.ID)]}
		if e.Start.After(now) {
			v.Next = append(v.Next, s)
		} else {
			v.Now = append(v.Now, s)
		}
	}
	h.Pages.Render(rw, r, http.StatusOK, "shifts", v)
}

type teamsView struct {
	page.Frame
	Query  string
	Teams  []teamLink
	Found  []foundService // services, if something was searched
	People []calendaring.FoundPerson
	More   string // address of the next teams
}

type teamLink struct{ Name, Href string }

// foundService is a service that a search found, with the teams that own it.
type foundService struct {
	Name  string
	Teams []teamLink
}

func linksTo(names []string) []teamLink {
	out := make([]teamLink, len(names))
	for i, n := range names {
		out[i] = teamLink{n, listPath(n)}
	}
	return out
}

// teamList shows the teams by name, or what a search finds.
func (h Handlers) teamList(rw http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	v := teamsView{Frame: h.Pages.Frame(r, "On call", "oncall"), Query: humanize.Shorten(strings.TrimSpace(page.Storable(q.Get("q"))), maxQuery)}
	var err error
	if v.Query == "" {
		err = h.allTeams(r, &v, operation.Paging{Limit: page.ListLength, Cursor: q.Get("after")})
	} else {
		var found calendaring.Found
		found, err = h.Search.Do(r.Context(), page.Actor(r), calendaring.SearchFilter{Text: v.Query})
		v.Teams, v.People = linksTo(found.Teams), found.Users
		for _, s := range found.Services {
			v.Found = append(v.Found, foundService{s.Name, linksTo(s.Teams)})
		}
	}
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	h.Pages.Render(rw, r, http.StatusOK, "oncall-teams", v)
}

func (h Handlers) allTeams(r *http.Request, v *teamsView, p operation.Paging) error {
	found, err := h.Teams.List.Do(r.Context(), page.Actor(r), p)
	for _, t := range found.Items {
		v.Teams = append(v.Teams, teamLink{t.Name, listPath(t.Name)})
	}
	if found.Next != nil {
		v.More = page.Query("/oncall/teams", "after", *found.Next)
	}
	return err
}
