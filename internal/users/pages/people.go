// This file serves the pages of people: contacts, modes, notification rules, reminders, and for administrators
// accounts, roles, and who can be reached. The JSON APIs decide who may do what.

package pages

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/go-chi/chi/v5"

	"github.com/iris-oncall/iris/internal/web/page"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// Handlers serves the pages. It is safe for concurrent use.
type Handlers struct {
	Pages     *page.Pages
	PublicURL string // begins the addresses of calendars, without a final slash
}

// Routes mounts the pages and the forms. People who may only read may change their own settings, so the APIs alone
// decide about the forms. The caller must admit only people who have logged in.
func (h Handlers) Routes(r chi.Router) {
	page.Get(r, "/people", h.list)
	r.Post("/people", h.add)
	page.Get(r, "/people/{user}", h.person)
	r.Post("/people/{user}/contacts", h.act(h.showPerson, contactForm, setContact))
	r.Post("/people/{user}/contacts/{mode}/{action}", h.contact)
	r.Post("/people/{user}/rules", h.act(h.showPerson, fixed("rules"), setRules))
	r.Post("/people/{user}/quiet", h.act(h.showPerson, fixed("quiet"), setQuiet))
	r.Post("/people/{user}/account", h.act(h.showPerson, fixed("account"), changeAccount))
	page.Get(r, "/people/{user}/preferences", h.preferences)
	r.Post("/people/{user}/preferences", h.act(h.showPreferences, chosen, setPreference))
	page.Get(r, "/people/{user}/reminders", h.reminders)
	r.Post("/people/{user}/reminders", h.act(h.showReminders, chosen, setReminder))
	page.Get(r, "/reachability", h.reachability)
	r.Post("/reachability", h.changeTeams)
	page.Get(r, "/on-call-roles", h.roles)
	r.Post("/on-call-roles", h.changeRoles)
	r.Post("/held-deactivations", h.decide)
}

// change carries out a form about a person. It returns the text of the success, and where the browser goes on to; "" =
// the page of the form.
type change func(api page.API, user string, form url.Values) (done, to string, err error)

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
		done, to, err := do(h.Pages.API(r), user, form)
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

// orNil returns nil for "", which is null on the wire.
func orNil(s string) *string {
	if s == "" {
		return nil
	}
	return &s
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
