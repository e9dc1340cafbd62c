package oncallapi

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/legacy/jsonbody"
	"github.com/iris-oncall/iris/internal/legacy/params"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/calendaring"
	"github.com/iris-oncall/iris/internal/oncall/personal"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/routing"
)

// Users reads people.
type Users interface {
	All(ctx context.Context) ([]oncall.Person, error)
}

// Notices has the types of notices, the keys of feeds, and the audit log of calendars.
type Notices interface {
	Audit(ctx context.Context, by oncall.AuditQuery) ([]oncall.AuditEntry, error)
	Types(ctx context.Context) ([]oncall.NoticeType, error)
	Key(ctx context.Context, key string) (oncall.IcalKey, error)
}

// Feeds reads the shifts of calendar feeds.
type Feeds interface {
	Feed(ctx context.Context, by oncall.FeedQuery) ([]oncall.FeedShift, error)
}

// PeopleDeps are the parts that the routes work on. All are required.
type PeopleDeps struct {
	Requests
	Users   Users
	Notices Notices
	Feeds   Feeds
	// Personal and Search are operations that /v1 has too.
	Personal *personal.Personal
	Search   operation.Op[calendaring.SearchFilter, calendaring.Found]
}

// Each type serves the routes of one resource.
type (
	people   struct{ PeopleDeps }
	pins     struct{ PeopleDeps }
	notices  struct{ PeopleDeps }
	feedKeys struct{ PeopleDeps }
	feeds    struct{ PeopleDeps }
)

// PeopleRoutes returns the routes of this package.
func PeopleRoutes(d PeopleDeps) []routing.Route {
	return slices.Concat(people{d}.routes(), pins{d}.routes(), notices{d}.routes(), feedKeys{d}.routes(),
		feeds{d}.routes())
}

func (a people) routes() []routing.Route {
	return []routing.Route{
		routing.Get("/api/v0/users", routing.Read, a.listUsers),
		routing.Post("/api/v0/users", routing.Write, a.createUser),
		routing.Get("/api/v0/users/{user}", routing.Read, a.getUser),
		routing.Put("/api/v0/users/{user}", routing.Self, a.updateUser),
		routing.Delete("/api/v0/users/{user}", routing.Write, a.deleteUser),
		routing.Get("/api/v0/users/{user}/teams", routing.Read, a.userTeams),
		routing.Get("/api/v0/users/{user}/upcoming", routing.Read, a.upcoming),
		routing.Get("/api/v0/search", routing.Read, a.search),
	}
}

var userFields = []string{"id", "name", "full_name", "time_zone", "photo_url", "contacts", "active", "god"}

// listUsers answers with the people who match the query.
func (a people) listUsers(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	asked, err := params.Fields(q, userFields, params.ErrFields)
	if err != nil {
		return err
	}
	cs, _ := params.Conditions(q, map[string]params.Kind{"id": params.Number, "name": params.Text,
		"full_name": params.Text})
	wanted, err := params.Flag(q, "active", true)
	if err != nil {
		return err
	}
	people, err := a.candidates(r.Context(), cs)
	if err != nil {
		return err
	}
	var shown []oncall.Person
	for _, u := range people {
		v := params.Values{Text: map[string]string{"name": u.Name, "full_name": u.FullName},
			Num: map[string]int64{"id": u.OncallID}}
		if params.Match(cs, v) && (!q.Has("active") || u.Active == wanted) {
			shown = append(shown, u)
		}
	}
	out, err := a.UserObjects(r.Context(), shown...)
	if err != nil {
		return err
	}
	for i := range out {
		out[i] = params.Pick(out[i], asked)
	}
	return routing.Answer(w, http.StatusOK, out)
}

// candidates returns the people who may meet the conditions: one if a condition names the person, else all.
func (a people) candidates(ctx context.Context, cs []params.Condition) ([]oncall.Person, error) {
	name, ok := params.Named(cs, "name")
	if !ok {
		return a.Users.All(ctx)
	}
	u, err := a.People.ByName(ctx, name)
	if fault.Is(err, fault.NotFound) {
		return nil, nil
	}
	return []oncall.Person{u}, err
}

// createUser adds a person with a name only.
func (a people) createUser(w http.ResponseWriter, r *http.Request) error {
	if err := auth.MayManageOncall(a.Caller(r)); err != nil {
		return err
	}
	name, err := jsonbody.ReadName(w, r)
	if err != nil {
		return err
	}
	err = a.Personal.AddPerson(r.Context(), a.Caller(r), name)
	return routing.Done(w, http.StatusCreated, fault.When(err, fault.Conflict,
		Integrity(`user name "`+name+`" already exists`)))
}

// getUser answers with a person.
func (a people) getUser(w http.ResponseWriter, r *http.Request) error {
	asked, err := params.Fields(r.URL.Query(), userFields, params.ErrFields)
	if err != nil {
		return err
	}
	u, err := a.People.ByName(r.Context(), routing.Param(r, "user"))
	if err != nil {
		return err
	}
	out, err := a.UserObjects(r.Context(), u)
	if err != nil {
		return err
	}
	return routing.Answer(w, http.StatusOK, params.Pick(out[0], asked))
}

// updateUser changes a person's settings and contacts.
func (a people) updateUser(w http.ResponseWriter, r *http.Request) error {
	u, err := a.Person(r)
	if err != nil {
		return fault.When(err, fault.NotFound, fault.Titled("No User Found", "no user exists with given name"))
	}
	b, err := jsonbody.Read(w, r, "invalid payload")
	if err != nil {
		return err
	}
	c, err := personChange(b)
	if err != nil {
		return err
	}
	err = a.Personal.ChangePerson(r.Context(), a.Caller(r), u.Name, c)
	if fault.Is(err, fault.Invalid) && fault.FieldOf(err) == "contacts" {
		err = b.Fault("contacts", "%s", fault.Public(err))
	}
	name := u.Name
	if c.Name != nil {
		name = *c.Name
	}
	return routing.Done(w, http.StatusNoContent, fault.When(err, fault.Conflict,
		Integrity(`user name "`+name+`" already exists`)))
}

// personChange reads the changes of a body. Fields that the body does not have stay nil.
func personChange(b jsonbody.Object) (oncall.PersonChange, error) {
	var c oncall.PersonChange
	var err error
	for name, at := range map[string]**string{"name": &c.Name, "full_name": &c.FullName, "time_zone": &c.TimeZone, "photo_url": &c.PhotoURL} {
		if *at, err = b.TextPtr(name); err != nil {
			return c, err
		}
	}
	active, given, err := b.Flag("active")
	if err != nil {
		return c, err
	}
	if given {
		c.Active = &active
	}
	if !b.Given("contacts") {
		return c, nil
	}
	var contacts map[string]*string
	if json.Unmarshal(b.Members["contacts"], &contacts) != nil {
		return c, b.Fault("contacts", "contacts must be an object of mode and destination")
	}
	c.Contacts = map[users.Mode]string{}
	for mode, destination := range contacts {
		if destination != nil {
			c.Contacts[users.Mode(mode)] = strings.TrimSpace(*destination)
			continue
		}
		c.Contacts[users.Mode(mode)] = ""
	}
	return c, nil
}

// deleteUser removes a person from teams and switches the person off. An unknown person is no error.
func (a people) deleteUser(w http.ResponseWriter, r *http.Request) error {
	err := a.Personal.RemovePerson(r.Context(), a.Caller(r), routing.Param(r, "user"))
	return routing.Done(w, http.StatusOK, fault.When(err, fault.NotFound, nil))
}

// userTeams answers with the names of a person's teams.
func (a people) userTeams(w http.ResponseWriter, r *http.Request) error {
	u, err := a.People.ByName(r.Context(), routing.Param(r, "user"))
	if err != nil {
		return err
	}
	teams, err := a.People.Teams(r.Context(), u.ID)
	if err != nil {
		return err
	}
	names := []string{}
	for _, t := range teams {
		names = append(names, t.Name)
	}
	return routing.Answer(w, http.StatusOK, names)
}

// upcoming answers with a person's next shifts; linked shifts are one entry with their number in num_events.
func (a people) upcoming(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	limit, _, err := params.Integer(q, "limit")
	if err != nil {
		return err
	}
	role, given := params.Last(q, "role")
	if given && role == "" { // no role has this name
		return routing.Answer(w, http.StatusOK, []any{})
	}
	found, err := a.Personal.Shifts.DoValid(r.Context(), a.Caller(r),
		personal.ShiftFilter{OnePerson: ofUser(r), Limit: int(max(limit, 0)), Role: role})
	out := make([]map[string]any, len(found.Items))
	for i, up := range found.Items {
		out[i] = eventObject(up.Event)
		if up.Linked > 0 {
			out[i]["num_events"] = up.Linked
		}
	}
	return routing.Reply(w, http.StatusOK, out, fault.When(err, fault.NotFound, nil))
}

// search answers with the teams, services and people whose names match a keyword.
func (a people) search(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	keyword, ok := params.Last(q, "keyword")
	if !ok {
		return params.Missing("keyword")
	}
	asked := q["fields"]
	if len(asked) == 0 {
		asked = []string{"teams", "services", "users"}
	}
	members := slices.Contains(asked, "team_users")
	var team string
	if members {
		if team, ok = params.Last(q, "team"); !ok {
			return params.Missing("team")
		}
	}
	filter := calendaring.SearchFilter{Text: keyword, Team: team}
	found, err := a.Search.DoValid(r.Context(), a.Caller(r), filter)
	if members && team == "" || fault.Is(err, fault.NotFound) { // an unknown team has no members
		filter.Team = ""
		found, err = a.Search.DoValid(r.Context(), a.Caller(r), filter)
		found.Users = nil
	}
	if err != nil {
		return err
	}
	out := map[string]any{}
	if slices.Contains(asked, "teams") {
		out["teams"] = found.Teams
	}
	if slices.Contains(asked, "services") {
		services := map[string][]string{}
		for _, service := range found.Services {
			services[service.Name] = service.Teams
		}
		out["services"] = services
	}
	if members || slices.Contains(asked, "users") {
		people := []map[string]any{}
		for _, u := range found.Users {
			people = append(people, map[string]any{"full_name": u.FullName, "name": u.Name})
		}
		out["users"] = people
	}
	return routing.Answer(w, http.StatusOK, out)
}
