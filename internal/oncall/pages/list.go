package pages

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/iris-oncall/iris/internal/web/page"
)

// listed is how far ahead a list has shifts.
const listed = 14 * 24 * time.Hour

// listRoutes mounts the calendar as lists that the server renders, for browsers without JavaScript.
func (h Handlers) listRoutes(r chi.Router) {
	page.Get(r, "/oncall/teams", h.teamList)
	page.Get(r, "/oncall/teams/{team}", h.shiftList)
	page.Get(r, "/oncall/me", h.ownList)
}

func listPath(team string) string { return "/oncall/teams/" + url.PathEscape(team) }

// shift is a shift of the API.
type shift struct {
	ID       int64  `json:"id"`
	Team     string `json:"team"`
	Role     string `json:"role"`
	User     string `json:"user"`
	FullName string `json:"full_name"`
	Note     string `json:"note"`
	From     int64  `json:"start"`
	To       int64  `json:"end"`
	Conflict bool   `json:"-"`
}

// Who returns the name of the person.
func (s shift) Who() string {
	if s.FullName != "" {
		return s.FullName
	}
	return s.User
}

// Start returns the start of the shift.
func (s shift) Start() time.Time { return time.Unix(s.From, 0) }

// End returns the end of the shift.
func (s shift) End() time.Time { return time.Unix(s.To, 0) }

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
		Calendar: teamPath(team.Name)}, url.Values{"team": {team.Name}}, team.Name)
}

// ownList shows the shifts of the reader.
func (h Handlers) ownList(rw http.ResponseWriter, r *http.Request) {
	var teams []string
	if err := h.Pages.API(r).Get(page.Path("/api/v0/users/%s/teams", page.Reader(r).Name), &teams); err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	h.shifts(rw, r, shiftsView{Frame: h.Pages.Frame(r, "My shifts", "me"), Calendar: "/me"},
		url.Values{"user": {page.Reader(r).Name}}, teams...)
}

// shifts reads the shifts that the query selects, marks those with a conflict in the teams, and shows the list.
func (h Handlers) shifts(rw http.ResponseWriter, r *http.Request, v shiftsView, query url.Values, teams ...string) {
	api, now := h.Pages.API(r), time.Now()
	window := url.Values{"start": {now.UTC().Format(time.RFC3339)}, "end": {now.Add(listed).UTC().Format(time.RFC3339)}}
	query.Set("end__gt", unix(now))
	query.Set("start__lt", unix(now.Add(listed)))
	var all []shift
	if err := api.Get("/api/v0/events?"+query.Encode(), &all); err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	conflicts := map[int64]bool{}
	for _, team := range teams {
		var found []struct {
			ID int64 `json:"event_id"`
		}
		if err := page.List(api, page.Path("/v1/teams/%s/conflicts?", team)+window.Encode(), &found); err != nil {
			h.Pages.Fail(rw, r, err)
			return
		}
		for _, c := range found {
			conflicts[c.ID] = true
		}
	}
	slices.SortStableFunc(all, func(a, b shift) int { return int(a.From - b.From) })
	for _, s := range all {
		s.Conflict = conflicts[s.ID]
		if s.From <= now.Unix() {
			v.Now = append(v.Now, s)
		} else {
			v.Next = append(v.Next, s)
		}
	}
	h.Pages.Render(rw, r, http.StatusOK, "shifts", v)
}

type teamsView struct {
	page.Frame
	Query  string
	Teams  []teamLink
	Found  map[string][]teamLink // teams by service, if something was searched
	People []person              // that a search found
	More   string                // address of the next teams
}

// person is a person of the API.
type person struct {
	Name     string `json:"name"`
	FullName string `json:"full_name"`
}

type teamLink struct{ Name, Href string }

func linksTo(names []string) []teamLink {
	out := make([]teamLink, len(names))
	for i, n := range names {
		out[i] = teamLink{n, listPath(n)}
	}
	return out
}

// teamList shows the teams by name, or what a search finds.
func (h Handlers) teamList(rw http.ResponseWriter, r *http.Request) {
	v := teamsView{Frame: h.Pages.Frame(r, "On call", "oncall"),
		Query: strings.TrimSpace(page.Storable(r.URL.Query().Get("q")))}
	var err error
	if v.Query == "" {
		err = h.allTeams(r, &v)
	} else {
		var found struct {
			Teams    []string            `json:"teams"`
			Services map[string][]string `json:"services"`
			People   []person            `json:"users"`
		}
		err = h.Pages.API(r).Get(page.Query("/api/v0/search", "keyword", v.Query), &found)
		v.Teams, v.People, v.Found = linksTo(found.Teams), found.People, map[string][]teamLink{}
		for service, teams := range found.Services {
			v.Found[service] = linksTo(teams)
		}
	}
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	h.Pages.Render(rw, r, http.StatusOK, "oncall-teams", v)
}

func (h Handlers) allTeams(r *http.Request, v *teamsView) error {
	var names []string
	if err := h.Pages.API(r).Get("/api/v0/teams", &names); err != nil {
		return err
	}
	slices.Sort(names)
	if after := r.URL.Query().Get("after"); after != "" {
		names = slices.DeleteFunc(names, func(n string) bool { return n <= after })
	}
	if len(names) > page.ListLength {
		names = names[:page.ListLength]
		v.More = page.Query("/oncall/teams", "after", names[len(names)-1])
	}
	v.Teams = linksTo(names)
	return nil
}

func unix(t time.Time) string { return strconv.FormatInt(t.Unix(), 10) }
