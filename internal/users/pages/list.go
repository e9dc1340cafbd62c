package pages

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/iris-oncall/iris/internal/auth/scim"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/oncall/calendaring"
	"github.com/iris-oncall/iris/internal/oncall/teams"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/page"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// person is a person as pages show it. Lists have no teams.
type person struct{ users.Person }

// Role returns the role as text.
func (p person) Role() string {
	switch {
	case p.Admin:
		return users.RoleAdmin
	case p.ReadOnly:
		return users.RoleReadOnly
	}
	return users.RoleMember
}

// NoPhone reports whether neither calls nor texts reach the person.
func (p person) NoPhone() bool {
	for _, m := range p.Modes {
		if m == users.SMS || m == users.Call {
			return false
		}
	}
	return true
}

type listView struct {
	page.Frame
	page.Again
	Tabs                        []page.Tab
	Rows                        []person
	More                        string
	Held                        []scim.Held
	Roles, States, Withouts     []page.Option
	Q, Role, State, Team, Lacks string
}

func roleOptions() []page.Option {
	return []page.Option{{Value: users.RoleMember, Label: "member"}, {Value: users.RoleAdmin, Label: "administrator"},
		{Value: users.RoleReadOnly, Label: "may only read"}}
}

// RoleChoices are the roles of a new person.
func (v listView) RoleChoices() []page.Option { return roleOptions() }

// list shows people by name, with a search and filters in the address.
func (h Handlers) list(rw http.ResponseWriter, r *http.Request) { h.showList(rw, r, page.Again{}) }

func (h Handlers) showList(rw http.ResponseWriter, r *http.Request, was page.Again) {
	q := r.URL.Query()
	v := listView{Frame: h.Pages.Frame(r, "People", "people"), Again: was, Q: page.Storable(q.Get("q")),
		Role: q.Get("role"), State: q.Get("state"),
		Team: page.Storable(q.Get("team")), Lacks: q.Get("without")}
	v.Tabs = peopleTabs(v.Frame, "/people")
	v.Roles = append([]page.Option{{Label: "any role"}}, roleOptions()...)
	v.States = []page.Option{{Label: "active"}, {Value: "off", Label: "switched off"}}
	v.Withouts = []page.Option{{Label: "anybody"}, {Value: "phone", Label: "people without a phone"},
		{Value: "contact", Label: "people without any contact"}}
	active := "true"
	if v.State == "off" {
		active = "false"
	}
	found, err := h.People.List.Do(r.Context(), page.Actor(r), users.PeopleFilter{
		Paging: operation.Paging{Limit: page.ListLength, Cursor: q.Get("cursor")},
		Active: active, Search: v.Q, Role: v.Role, Team: v.Team, Without: v.Lacks})
	if err == nil && v.Admin && q.Get("cursor") == "" {
		var waiting operation.Page[scim.Held]
		waiting, err = h.Held.ListHeld.Do(r.Context(), page.Actor(r), operation.Paging{})
		v.Held = waiting.Items
	}
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	for _, one := range found.Items {
		v.Rows = append(v.Rows, person{users.Person{PersonRow: one}})
	}
	if found.Next != nil {
		v.More = page.Query("/people", "q", v.Q, "role", v.Role, "state", v.State, "team", v.Team, "without", v.Lacks,
			"cursor", *found.Next)
	}
	h.Pages.Render(rw, r, was.Status(), "people", v)
}

// add adds a person.
func (h Handlers) add(rw http.ResponseWriter, r *http.Request) {
	form := page.Typed(r)
	text := func(field string) operation.Text { return operation.Text(form.Get(field)) }
	name, phone := form.Get("name"), text("contacts.sms")
	_, err := h.People.Add.Do(r.Context(), page.Actor(r), users.NewAccount{Name: name, FullName: text("full_name"),
		Admin: form.Get("role") == users.RoleAdmin, ReadOnly: form.Get("role") == users.RoleReadOnly,
		Contacts: map[users.Mode]operation.Text{users.Email: text("contacts.email"), users.SMS: phone, users.Call: phone}})
	done := name + " is added, without a password. The person logs in at a provider or with the directory, or iris user passwd sets one."
	h.Pages.Finish(rw, r, done, page.Path("/people/%s", name), err,
		func(refusal page.Refusal) { h.showList(rw, r, page.Again{Form: "add", Typed: form, Refusal: refusal}) })
}

// decide confirms or rejects a held deactivation.
func (h Handlers) decide(rw http.ResponseWriter, r *http.Request) {
	form := page.Typed(r)
	decide, done := h.Held.Reject, " stays active."
	if form.Get("decision") == "confirm" {
		decide, done = h.Held.Confirm, " is switched off."
	}
	id, err := strconv.ParseInt(form.Get("id"), 10, 64)
	if err != nil {
		err = fault.New(fault.NotFound, "there is no such deactivation")
	} else {
		_, err = decide.Do(r.Context(), page.Actor(r), scim.OneHeld{ID: id})
	}
	h.Pages.Finish(rw, r, form.Get("user")+done, "/people", err,
		func(refusal page.Refusal) { h.showList(rw, r, page.Again{Form: "held", Typed: form, Refusal: refusal}) })
}

type reachView struct {
	page.Frame
	page.Again
	Tabs   []page.Tab
	All    users.Reachability
	Teams  []users.Reachability
	Search string // in the names of the teams
	More   string // address of the next teams
	Modes  []users.Mode
	Zone   string
}

// teamsShown is the most teams on a page.
const teamsShown = 100

// People returns the address of the members of a team, or of those without something.
func (v reachView) People(team operation.Text, without string) string {
	return page.Query("/people", "team", string(team), "without", without)
}

// reachability shows who can be reached, of everybody and by team.
func (h Handlers) reachability(rw http.ResponseWriter, r *http.Request) {
	h.showReach(rw, r, page.Again{})
}

func (h Handlers) showReach(rw http.ResponseWriter, r *http.Request, was page.Again) {
	v := reachView{Frame: h.Pages.Frame(r, "Teams and reachability", "people"), Again: was, Modes: users.ContactModes,
		Zone: page.Zone(r).String()}
	v.Tabs = peopleTabs(v.Frame, "/reachability")
	found, err := h.People.Reachability.Do(r.Context(), page.Actor(r), operation.None{})
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	v.Search = page.Storable(r.URL.Query().Get("q"))
	if was.Form == "delete" {
		v.Search = was.Typed.Get("name")
	}
	v.All, v.Teams = found.Items[0], found.Items[1:]
	after := slices.IndexFunc(v.Teams, func(f users.Reachability) bool { return string(f.Team) == r.URL.Query().Get("after") })
	v.Teams = slices.DeleteFunc(v.Teams[after+1:],
		func(f users.Reachability) bool {
			return !strings.Contains(strings.ToLower(string(f.Team)), strings.ToLower(v.Search))
		})
	if len(v.Teams) > teamsShown {
		v.Teams = v.Teams[:teamsShown]
		v.More = page.Query("/reachability", "q", v.Search, "after", string(v.Teams[teamsShown-1].Team))
	}
	h.Pages.Render(rw, r, was.Status(), "reachability", v)
}

// changeTeams creates or deletes a team. Its own settings have its members and administrators.
func (h Handlers) changeTeams(rw http.ResponseWriter, r *http.Request) {
	form := page.Typed(r)
	name, to := form.Get("name"), "/reachability"
	var done string
	var err error
	if form.Get("form") == "delete" {
		done = "The team " + name + " is deleted."
		_, err = h.Teams.Delete.Do(r.Context(), page.Actor(r),
			teams.TeamRemoval{OneTeam: users.OneTeam{Team: name}, Force: form.Get("force") == "true"})
	} else {
		done, to = "The team "+name+" is created. Add its members and rosters.", page.Path("/teams/%s/settings", name)
		_, err = h.Teams.Create.Do(r.Context(), page.Actor(r),
			teams.NewTeam{Name: name, TimeZone: form.Get("time_zone")})
	}
	h.Pages.Finish(rw, r, done, to, err, func(refusal page.Refusal) {
		h.showReach(rw, r, page.Again{Form: form.Get("form"), Typed: form, Refusal: refusal})
	})
}

type rolesView struct {
	page.Frame
	page.Again
	Tabs []page.Tab
	Rows []calendaring.Role
}

// roles shows the names of on-call roles.
func (h Handlers) roles(rw http.ResponseWriter, r *http.Request) { h.showRoles(rw, r, page.Again{}) }

func (h Handlers) showRoles(rw http.ResponseWriter, r *http.Request, was page.Again) {
	v := rolesView{Frame: h.Pages.Frame(r, "On-call roles", "people"), Again: was}
	v.Tabs = peopleTabs(v.Frame, "/on-call-roles")
	found, err := h.OnCallRoles.List.Do(r.Context(), page.Actor(r), operation.None{})
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	v.Rows = found.Items
	h.Pages.Render(rw, r, was.Status(), "on-call-roles", v)
}

func (h Handlers) changeRoles(rw http.ResponseWriter, r *http.Request) {
	form := page.Typed(r)
	name := form.Get("name")
	done := "The role " + name + " is added."
	var err error
	if form.Get("form") == "delete" {
		done = "The role " + name + " is deleted."
		_, err = h.OnCallRoles.Remove.Do(r.Context(), page.Actor(r), calendaring.RoleRemoval{Role: name})
	} else {
		_, err = h.OnCallRoles.Add.Do(r.Context(), page.Actor(r), calendaring.NewRole{Name: name})
	}
	h.Pages.Finish(rw, r, done, "/on-call-roles", err, func(refusal page.Refusal) {
		h.showRoles(rw, r, page.Again{Form: form.Get("form"), Typed: form, Refusal: refusal})
	})
}

// path returns the person of the path and the address of the person's page.
func path(r *http.Request) (user, at string) {
	user = strings.TrimSpace(wire.Param(r, "user"))
	return user, page.Path("/people/%s", user)
}
