// This file serves the pages of the on-call calendar, and redirects from the addresses of Oncall's pages. Its pages are
// frames: the scripts in static/oncall fill them with data of the JSON API. The same as lists is there without scripts.

package pages

import (
	"context"
	"net/http"
	"net/url"

	"github.com/go-chi/chi/v5"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/calendaring"
	"github.com/iris-oncall/iris/internal/oncall/planning"
	"github.com/iris-oncall/iris/internal/oncall/teams"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/page"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// Finder finds a team by name, ignoring case. If there is no such team, it returns a NotFound fault.
type Finder interface {
	ByName(ctx context.Context, name string) (oncall.Team, error)
}

// Deps are the parts that the pages work on.
type Deps struct {
	Found       Finder
	Calendaring *calendaring.Calendaring
	Planning    *planning.Planning
	People      *users.People
	Search      operation.Op[calendaring.SearchFilter, calendaring.Found]
	Teams       *teams.Teams
}

// Handlers serves the pages. It is safe for concurrent use.
type Handlers struct {
	Deps
	Pages *page.Pages
}

type calendarView struct {
	page.Frame
	Page     string
	List     string // address of the same as a list
	Team     oncall.Team
	TeamPath string
	Tabs     []tab
	FullName string
}

type tab struct {
	Label, Href string
	Current     bool
}

type teamPage struct {
	path, label, script string
	grid                bool // it draws a calendar
}

// teamPages returns the pages of a team in the order of its navigation.
func teamPages() []teamPage {
	return []teamPage{
		{"", "Calendar", "team.js", true},
		{"/rosters", "Rosters", "rosters.js", false},
		{"/schedules", "Schedules", "schedules.js", true},
		{"/coverage", "Coverage", "coverage.js", false},
		{"/settings", "Settings", "settings.js", false},
		{"/audit", "Audit", "audit.js", false},
	}
}

// Routes mounts the pages and the redirects. The addresses of Oncall's pages are in bookmarks and old messages.
func (h Handlers) Routes(r chi.Router) {
	page.Get(r, "/teams", h.show(calendarView{Frame: page.Frame{Title: "On call", Section: "oncall",
		Scripts: &page.Scripts{Main: "teams.js"}}, Page: "teams", List: "/oncall/teams"}))
	page.Get(r, "/me", h.show(calendarView{Frame: page.Frame{Title: "My shifts", Section: "me",
		Scripts: &page.Scripts{Main: "me.js"}}, Page: "me", List: "/oncall/me"}))
	h.listRoutes(r)
	for _, t := range teamPages() {
		page.Get(r, "/teams/{team}"+t.path, h.team(t))
	}
	for from, to := range map[string]string{"": "", "/info": "/rosters", "/schedules": "/schedules", "/subscriptions": "/settings", "/audit": "/audit"} {
		page.Get(r, "/team/{team}"+from, func(rw http.ResponseWriter, r *http.Request) {
			http.Redirect(rw, r, teamPath(wire.Param(r, "team"))+to, http.StatusMovedPermanently)
		})
	}
	page.Get(r, "/user/{user}", toPerson)
	page.Get(r, "/user/{user}/{part}", toPerson)
}

// toPerson redirects to the page of a person.
func toPerson(rw http.ResponseWriter, r *http.Request) {
	http.Redirect(rw, r, "/people/"+url.PathEscape(wire.Param(r, "user")), http.StatusFound)
}

func teamPath(name string) string { return "/teams/" + url.PathEscape(name) }

// found returns the team of the path.
func (h Handlers) found(r *http.Request) (oncall.Team, error) {
	team, err := h.Found.ByName(r.Context(), wire.Param(r, "team"))
	if err == nil && !team.Active {
		err = fault.New(fault.NotFound, "no such team")
	}
	return team, err
}

func (h Handlers) team(current teamPage) http.HandlerFunc {
	return func(rw http.ResponseWriter, r *http.Request) {
		team, err := h.found(r)
		if err != nil {
			h.Pages.Fail(rw, r, err)
			return
		}
		v := calendarView{Page: current.label, Team: team, TeamPath: teamPath(team.Name), List: listPath(team.Name),
			Frame: page.Frame{Title: team.Name, Section: "oncall",
				Scripts: &page.Scripts{Main: current.script, Grid: current.grid}}}
		for _, t := range teamPages() {
			v.Tabs = append(v.Tabs, tab{t.label, v.TeamPath + t.path, t == current})
		}
		h.show(v)(rw, r)
	}
}

// show renders a frame. The scripts of the page send the session's CSRF token with each change.
func (h Handlers) show(v calendarView) http.HandlerFunc {
	return func(rw http.ResponseWriter, r *http.Request) {
		shown := v
		shown.Frame = h.Pages.Frame(r, v.Title, v.Section)
		shown.Scripts = &page.Scripts{Main: v.Scripts.Main, Grid: v.Scripts.Grid,
			Token: wire.SessionToken(r.Context(), h.Pages.Sessions)}
		shown.FullName = page.Reader(r).FullName
		h.Pages.Render(rw, r, http.StatusOK, "calendar", shown)
	}
}
