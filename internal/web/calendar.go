package web

import (
	"context"
	"net/http"
	"net/url"

	"github.com/go-chi/chi/v5"

	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/wire"
)

// calendarPage is the frame of a page of the on-call calendar: the reader, the team, and the script that fills it in.
type calendarPage struct {
	frame
	Page     string
	Team     oncall.Team
	TeamPath string
	Tabs     []tab
	FullName string
	Admin    bool
}

// teamTabs are the pages of a team, in the order of its navigation.
var teamTabs = []struct {
	path, label, script string
	grid                bool
}{
	{"", "Calendar", "team.js", true},
	{"/rosters", "Rosters", "rosters.js", false},
	{"/schedules", "Schedules", "schedules.js", true},
	{"/coverage", "Coverage", "coverage.js", false},
	{"/settings", "Settings", "settings.js", false},
	{"/audit", "Audit", "audit.js", false},
}

// calendarRoutes mounts the pages of the calendar, and redirects from the addresses of Oncall's pages, which are in bookmarks
// and old messages.
func (w *Web) calendarRoutes(r chi.Router, get func(chi.Router, string, http.HandlerFunc)) {
	for _, end := range []string{"", "/"} {
		get(r, "/teams"+end, w.calendar(calendarPage{frame: frame{Title: "On call", Section: "oncall", Scripts: &scripts{Main: "teams.js"}}, Page: "teams"}))
		get(r, "/me"+end, w.calendar(calendarPage{frame: frame{Title: "My shifts", Section: "me", Scripts: &scripts{Main: "me.js"}}, Page: "me"}))
		for _, t := range teamTabs {
			get(r, "/teams/{team}"+t.path+end, w.teamPage(t.path))
		}
		get(r, "/user/{user}"+end, toMe)
		get(r, "/user/{user}/{part}"+end, toMe)
		get(r, "/team/{team}"+end, moved(""))
		get(r, "/team/{team}/info"+end, moved("/rosters"))
		get(r, "/team/{team}/schedules"+end, moved("/schedules"))
		get(r, "/team/{team}/subscriptions"+end, moved("/settings"))
		get(r, "/team/{team}/audit"+end, moved("/audit"))
	}
}

func moved(to string) http.HandlerFunc {
	return func(rw http.ResponseWriter, r *http.Request) {
		http.Redirect(rw, r, teamPath(wire.Param(r, "team"))+to, http.StatusMovedPermanently)
	}
}

func toMe(rw http.ResponseWriter, r *http.Request) { http.Redirect(rw, r, "/me", http.StatusFound) }

func teamPath(name string) string { return "/teams/" + url.PathEscape(name) }

func (w *Web) teamPage(path string) http.HandlerFunc {
	return func(rw http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), requestTimeout)
		defer cancel()
		team, err := w.d.Teams.ByName(ctx, wire.Param(r, "team"))
		if err == nil && !team.Active {
			err = fault.New(fault.NotFound, "no such team")
		}
		if err != nil {
			w.fail(rw, r, err)
			return
		}
		p := calendarPage{frame: frame{Title: team.Name, Section: "oncall"}, Team: team, TeamPath: teamPath(team.Name)}
		for _, t := range teamTabs {
			p.Tabs = append(p.Tabs, tab{t.label, p.TeamPath + t.path, t.path == path})
			if t.path == path {
				p.Page, p.Scripts = t.label, &scripts{Main: t.script, Grid: t.grid}
			}
		}
		w.calendar(p)(rw, r)
	}
}

// calendar renders a frame. It holds the token of the session, which scripts send with each change, as Oncall's clients do.
func (w *Web) calendar(p calendarPage) http.HandlerFunc {
	return func(rw http.ResponseWriter, r *http.Request) {
		page, reader := p, actor(r)
		page.frame = w.frame(r, p.Title, p.Section)
		page.Scripts = &scripts{p.Scripts.Main, p.Scripts.Grid, wire.SessionToken(r.Context(), w.d.Sessions)}
		page.FullName, page.Admin = reader.FullName, reader.Admin
		w.views.page(rw, r, w.d.Log, http.StatusOK, "calendar", page)
	}
}
