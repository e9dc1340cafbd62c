package oncallapi

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/ical"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/users"
)

// calendarRoutes are the calendar feeds, and the way back. A secret address is all that its route asks for: calendars cannot log in.
func (a *API) calendarRoutes() []route {
	return []route{
		{get, v0 + "/users/{user}/ical", read, a.userFeed},
		{get, v0 + "/teams/{team}/ical", read, a.teamFeed},
		{get, v0 + "/ical/{key}", public, a.keyFeed},
		{post, v1 + "/teams/{team}/imports", login, a.importCalendar},
	}
}

func (a *API) userFeed(w http.ResponseWriter, r *http.Request) error {
	name := param(r, "user")
	u, err := a.People.ByName(r.Context(), name)
	if fault.Is(err, fault.NotFound) {
		return serveFeed(w, r, ical.Feed{Name: name})
	}
	if err != nil {
		return err
	}
	q := r.URL.Query()
	query := oncall.FeedQuery{IcalSubject: oncall.IcalSubject{User: u.ID}, ExcludedTeams: q["excludedTeams"]}
	return a.openFeed(w, r, u.Name, query)
}

func (a *API) teamFeed(w http.ResponseWriter, r *http.Request) error {
	t, err := a.team(r)
	if fault.Is(err, fault.NotFound) {
		return serveFeed(w, r, ical.Feed{Name: param(r, "team")})
	}
	if err != nil {
		return err
	}
	subscribed, err := queryFlag(r.URL.Query(), "include_subscribed", true)
	if err != nil {
		return err
	}
	return a.openFeed(w, r, t.Name, oncall.FeedQuery{IcalSubject: oncall.IcalSubject{TeamID: t.ID}, Subscribed: subscribed})
}

// openFeed serves a feed to somebody who may read calendars.
func (a *API) openFeed(w http.ResponseWriter, r *http.Request, name string, query oncall.FeedQuery) error {
	q := r.URL.Query()
	since, given, err := queryAt(q, "start")
	if err != nil {
		return err
	}
	if given {
		query.Since = since
	}
	contacts, err := queryFlag(q, "contact", true)
	if err != nil {
		return err
	}
	f, err := a.feed(r.Context(), name, query, q, contacts)
	if err != nil {
		return err
	}
	return serveFeed(w, r, f)
}

// keyFeed serves the feed of a secret address. It never shows contacts.
func (a *API) keyFeed(w http.ResponseWriter, r *http.Request) error {
	key, err := a.Notices.Key(r.Context(), param(r, "key"))
	if err != nil {
		return err
	}
	q := r.URL.Query()
	query := oncall.FeedQuery{IcalSubject: oncall.IcalSubject{User: key.User, TeamID: key.TeamID}, Subscribed: true}
	if key.User != 0 {
		query.ExcludedTeams = q["excludedTeams"]
	}
	f, err := a.feed(r.Context(), key.Name, query, q, false)
	if err != nil {
		return err
	}
	return serveFeed(w, r, f)
}

// feed reads what a feed shows. Roles that do not exist narrow nothing.
func (a *API) feed(ctx context.Context, name string, query oncall.FeedQuery, q url.Values, contacts bool) (ical.Feed, error) {
	f := ical.Feed{Name: name}
	if query.Since.IsZero() {
		now, err := a.People.Clock(ctx)
		if err != nil {
			return f, err
		}
		query.Since = now.Add(-oncall.FeedHistory)
	}
	if asked := q["roles"]; len(asked) > 0 {
		roles, err := a.Names.Roles(ctx)
		if err != nil {
			return f, err
		}
		for _, role := range roles {
			if slices.Contains(asked, role.Name) {
				query.Roles = append(query.Roles, role.Name)
			}
		}
	}
	var err error
	if f.Shifts, err = a.Shifts.Feed(ctx, query); err != nil || !contacts {
		return f, err
	}
	f.Contacts, err = a.contactsOf(ctx, f.Shifts)
	return f, err
}

func (a *API) contactsOf(ctx context.Context, shifts []oncall.FeedShift) (map[users.ID]map[users.Mode]string, error) {
	out := map[users.ID]map[users.Mode]string{}
	var ids []users.ID
	for _, s := range shifts {
		if _, seen := out[s.User]; !seen {
			out[s.User] = nil
			ids = append(ids, s.User)
		}
	}
	if len(ids) == 0 {
		return out, nil
	}
	people, err := a.People.ByID(ctx, ids)
	for _, u := range people {
		out[u.ID] = u.Contacts
	}
	return out, err
}

// serveFeed answers with a feed, or with 304 when the calendar has it already.
func serveFeed(w http.ResponseWriter, r *http.Request, f ical.Feed) error {
	text := f.Text()
	tag := ical.ETag(text)
	h := w.Header()
	h.Set("Content-Type", "text/calendar; charset=utf-8")
	h.Set("ETag", tag)
	h.Set("Cache-Control", "private, no-cache")
	http.ServeContent(w, r, "", time.Time{}, strings.NewReader(text))
	return nil
}
