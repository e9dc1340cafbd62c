package pages

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/iris-oncall/iris/internal/kit/humanize"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/oncall/calendaring"
	"github.com/iris-oncall/iris/internal/web/page"
)

type searchView struct {
	page.Frame
	Query  string
	Groups []foundGroup
}

// foundGroup are the results of one kind.
type foundGroup struct {
	Title   string
	Results []calendaring.Result
	More    string // the address of a page with all results; "" = there is none
}

// shownKinds returns the kinds of results in the order in which they are shown. more is the address of the list that has
// all of them, but for the text at its end.
func shownKinds() []shownKind {
	return []shownKind{
		{calendaring.KindIncident, "Incidents", "/incidents?show=all&text="},
		{calendaring.KindTeam, "Teams", "/oncall/teams?q="},
		{calendaring.KindUser, "People", "/people?q="},
		{calendaring.KindPlan, "Plans", "/plans?name="},
		{calendaring.KindIntegration, "Integrations", "/integrations?text="},
		{calendaring.KindApplication, "Applications", "/applications?name="},
		{calendaring.KindAction, "Actions", ""},
		{calendaring.KindPage, "Pages", ""},
	}
}

type shownKind struct {
	kind        calendaring.ResultKind
	title, more string
}

// search shows what has a text in its name. The dialog of the console asks for the results alone.
func (h Handlers) search(rw http.ResponseWriter, r *http.Request) {
	text := strings.TrimSpace(page.Storable(r.URL.Query().Get("q")))
	v := searchView{Frame: h.Pages.Frame(r, "Search", "search"), Query: humanize.Shorten(text, maxQuery)}
	if v.Query != "" {
		found, err := h.Search.Do(r.Context(), page.Actor(r), calendaring.SearchFilter{Text: v.Query})
		if err != nil {
			h.Pages.Fail(rw, r, err)
			return
		}
		v.Groups = grouped(found, v.Query)
	}
	name := "search"
	if r.Header.Get("HX-Request") != "" {
		name = "search-results"
	}
	h.Pages.Render(rw, r, http.StatusOK, name, v)
}

// grouped sorts results by their kind. Results without a page are left out. A service leads to the teams that own it.
func grouped(found calendaring.Found, text string) (out []foundGroup) {
	services := foundGroup{Title: "Services"}
	for _, s := range found.Services {
		for _, team := range s.Teams {
			services.Results = append(services.Results,
				calendaring.Result{Name: s.Name, Text: "of " + team, Path: operation.Path("/teams/{name}", team)})
		}
	}
	for _, shown := range shownKinds() {
		g := foundGroup{Title: shown.title}
		for _, one := range found.Results {
			if one.Kind == shown.kind && one.Path != "" {
				g.Results = append(g.Results, one)
			}
		}
		if shown.more != "" {
			g.More = shown.more + url.QueryEscape(text)
		}
		if len(g.Results) > 0 {
			out = append(out, g)
		}
		if shown.kind == calendaring.KindTeam && len(services.Results) > 0 {
			out = append(out, services)
		}
	}
	return out
}
