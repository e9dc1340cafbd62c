// This file serves the pages of people: contacts, modes, notification rules, reminders, and for administrators
// accounts, roles, and who can be reached. The operations decide who may do what.

package pages

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/go-chi/chi/v5"

	"github.com/iris-oncall/iris/internal/auth/accounts"
	"github.com/iris-oncall/iris/internal/auth/scim"
	"github.com/iris-oncall/iris/internal/catalog"
	"github.com/iris-oncall/iris/internal/catalog/applications"
	"github.com/iris-oncall/iris/internal/kit/filters"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/oncall/calendaring"
	"github.com/iris-oncall/iris/internal/oncall/personal"
	"github.com/iris-oncall/iris/internal/oncall/teams"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/page"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// Deps are the operations that the pages carry out, and what else they show.
type Deps struct {
	People       *users.People
	Preferences  *users.Preferences
	Contacts     *users.Contacts
	Accounts     *accounts.Administration
	Held         *scim.Connections
	Messages     *messages.Messages
	Applications *catalog.Applications
	// Categories reads the categories of all applications.
	Categories  func(ctx context.Context, q filters.Query) ([]applications.Category, error)
	TimeZones   []string // to choose from
	Personal    *personal.Personal
	OnCallRoles calendaring.OnCallRoles
	Teams       *teams.Teams
	NoticeModes []users.Mode // in which people may be notified of shifts
	PublicURL   string       // begins the addresses of calendars, without a final slash
}

// Handlers serves the pages. It is safe for concurrent use.
type Handlers struct {
	Deps
	Pages *page.Pages
}

// Routes mounts the pages and the forms. People who may only read may change their own settings, so the operations
// alone decide about the forms. The caller must admit only people who have logged in.
func (h Handlers) Routes(r chi.Router) {
	page.Get(r, "/people", h.list)
	r.Post("/people", h.add)
	page.Get(r, "/people/{user}", h.person)
	r.Post("/people/{user}/contacts", h.act(h.showPerson, contactForm, h.setContact))
	r.Post("/people/{user}/contacts/{mode}/{action}", h.contact)
	r.Post("/people/{user}/rules", h.act(h.showPerson, fixed("rules"), h.setRules))
	r.Post("/people/{user}/quiet", h.act(h.showPerson, fixed("quiet"), h.setQuiet))
	r.Post("/people/{user}/account", h.act(h.showPerson, fixed("account"), h.changeAccount))
	page.Get(r, "/people/{user}/preferences", h.preferences)
	r.Post("/people/{user}/preferences", h.act(h.showPreferences, chosen, h.setPreference))
	page.Get(r, "/people/{user}/reminders", h.reminders)
	r.Post("/people/{user}/reminders", h.act(h.showReminders, chosen, h.setReminder))
	page.Get(r, "/reachability", h.reachability)
	r.Post("/reachability", h.changeTeams)
	page.Get(r, "/on-call-roles", h.roles)
	r.Post("/on-call-roles", h.changeRoles)
	r.Post("/held-deactivations", h.decide)
}

// change carries out a form about a person. It returns the text of the success, and where the browser goes on to; "" =
// the page of the form.
type change func(r *http.Request, user string, form url.Values) (done, to string, err error)

// show renders the page of a form.
type show func(rw http.ResponseWriter, r *http.Request, was page.Again)

func fixed(form string) func(url.Values) string { return func(url.Values) string { return form } }

// chosen returns the name of the form that its field "form" has.
func chosen(form url.Values) string { return form.Get("form") }

// act returns the handler of a form. A refusal shows the page again with what was typed.
func (h Handlers) act(again show, name func(url.Values) string, do change) http.HandlerFunc {
	return func(rw http.ResponseWriter, r *http.Request) {
		form := page.Typed(r)
		user := wire.Param(r, "user")
		done, to, err := do(r, user, form)
		if to == "" {
			to = strings.TrimSuffix(r.URL.EscapedPath(), "/")
			for _, part := range []string{"/contacts", "/rules", "/quiet", "/account"} {
				to = strings.TrimSuffix(to, part)
			}
		}
		h.Pages.Finish(rw, r, done, to, err,
			func(refusal page.Refusal) { again(rw, r, page.Again{Form: name(form), Typed: form, Refusal: refusal}) })
	}
}

// peopleTabs are the links between the pages about all people.
func peopleTabs(f page.Frame, current string) []page.Tab {
	tabs := []page.Tab{{Label: "People", Href: "/people"}, {Label: "Teams and reachability", Href: "/reachability"},
		{Label: "On-call roles", Href: "/on-call-roles"}}
	if f.Admin {
		tabs = append(tabs, page.Tab{Label: "Invitations", Href: "/invitations"})
	}
	return page.Tabs(current, tabs...)
}
