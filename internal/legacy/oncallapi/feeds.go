package oncallapi

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/legacy/params"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/ical"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/routing"
)

// routes returns the routes of calendar feeds. A feed key is the only credential of its route: calendar programs cannot
// log in.
func (a feeds) routes() []routing.Route {
	return []routing.Route{
		routing.Get("/api/v0/users/{user}/ical", routing.Read, a.userFeed),
		routing.Get("/api/v0/teams/{team}/ical", routing.Read, a.teamFeed),
		routing.Get("/api/v0/ical/{key}", routing.Public, a.keyFeed),
	}
}

// userFeed serves the feed of a person's shifts to callers who may read calendars.
func (a feeds) userFeed(w http.ResponseWriter, r *http.Request) error {
	name := routing.Param(r, "user")
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

// teamFeed serves the feed of a team's shifts to callers who may read calendars.
func (a feeds) teamFeed(w http.ResponseWriter, r *http.Request) error {
	t, err := a.Team(r)
	if fault.Is(err, fault.NotFound) {
		return serveFeed(w, r, ical.Feed{Name: routing.Param(r, "team")})
	}
	if err != nil {
		return err
	}
	subscribed, err := params.Flag(r.URL.Query(), "include_subscribed", true)
	if err != nil {
		return err
	}
	return a.openFeed(w, r, t.Name, oncall.FeedQuery{IcalSubject: oncall.IcalSubject{TeamID: t.ID},
		Subscribed: subscribed})
}

// openFeed serves a feed to callers who may read calendars.
func (a feeds) openFeed(w http.ResponseWriter, r *http.Request, name string, query oncall.FeedQuery) error {
	q := r.URL.Query()
	since, given, err := params.Time(q, "start")
	if err != nil {
		return err
	}
	if given {
		query.Since = since
	}
	contacts, err := params.Flag(q, "contact", true)
	if err != nil {
		return err
	}
	f, err := a.feed(r.Context(), name, query, q, contacts)
	if err != nil {
		return err
	}
	return serveFeed(w, r, f)
}

// keyFeed serves the feed that a feed key opens. The feed has no contacts.
func (a feeds) keyFeed(w http.ResponseWriter, r *http.Request) error {
	key, err := a.Notices.Key(r.Context(), routing.Param(r, "key"))
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

// feed reads the shifts of a feed. Unknown roles are ignored.
func (a feeds) feed(ctx context.Context, name string, query oncall.FeedQuery, q url.Values, contacts bool) (ical.Feed, error) {
	f := ical.Feed{Name: name}
	if query.Since.IsZero() {
		now, err := a.People.Clock(ctx)
		if err != nil {
			return f, err
		}
		query.Since = now.Add(-oncall.FeedHistory)
	}
	if asked := q["roles"]; len(asked) > 0 {
		roles, err := a.Roles.Roles(ctx)
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
	if f.Shifts, err = a.Feeds.Feed(ctx, query); err != nil || !contacts {
		return f, err
	}
	f.Contacts, err = a.contactsOf(ctx, f.Shifts)
	return f, err
}

// contactsOf reads the contacts of the people of shifts that the caller sees.
func (a feeds) contactsOf(ctx context.Context, shifts []oncall.FeedShift) (map[users.ID]map[users.Mode]string, error) {
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
	if err != nil {
		return nil, err
	}
	sight, err := a.Sight(ctx, people...)
	for _, u := range people {
		out[u.ID] = sight.Contacts(u.Name, u.Contacts)
	}
	return out, err
}

// serveFeed answers with a feed, or with 304 if the calendar program already has this version.
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
