package pages

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/page"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// person is a person of /v1.
type person struct {
	Name        string       `json:"name"`
	FullName    string       `json:"full_name"`
	TimeZone    string       `json:"time_zone"`
	Active      bool         `json:"active"`
	Admin       bool         `json:"admin"`
	ReadOnly    bool         `json:"read_only"`
	Modes       []users.Mode `json:"modes"`
	ManagedBy   string       `json:"managed_by"`
	LastLoginAt time.Time    `json:"last_login_at"`
	Teams       []string     `json:"teams"`
}

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

// held is a deactivation that a directory asked for and that waits for an administrator.
type held struct {
	ID          int64     `json:"id"`
	Connection  string    `json:"connection"`
	User        string    `json:"user"`
	RequestedAt time.Time `json:"requested_at"`
}

type listView struct {
	page.Frame
	page.Again
	Tabs                        []page.Tab
	Rows                        []person
	More                        string
	Held                        []held
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
	api, q := h.Pages.API(r), r.URL.Query()
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
	var found page.Listed[person]
	err := api.Get(page.Query("/v1/users", "active", active, "q", v.Q, "role", v.Role, "team", v.Team, "without",
		v.Lacks, "limit", "50", "cursor", q.Get("cursor")), &found)
	if err == nil && v.Admin && q.Get("cursor") == "" {
		var waiting page.Listed[held]
		err = api.Get("/v1/held-deactivations", &waiting)
		v.Held = waiting.Items
	}
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	v.Rows = found.Items
	if found.Next != "" {
		v.More = page.Query("/people", "q", v.Q, "role", v.Role, "state", v.State, "team", v.Team, "without", v.Lacks,
			"cursor", found.Next)
	}
	h.Pages.Render(rw, r, was.Status(), "people", v)
}

// add adds a person.
func (h Handlers) add(rw http.ResponseWriter, r *http.Request) {
	form := page.Typed(r)
	contacts := map[string]string{}
	for _, m := range []users.Mode{users.Email, users.SMS} {
		if to := form.Get("contacts." + string(m)); to != "" {
			contacts[string(m)] = to
		}
	}
	if phone := contacts[string(users.SMS)]; phone != "" {
		contacts[string(users.Call)] = phone
	}
	name := form.Get("name")
	err := h.Pages.API(r).Send(http.MethodPost, "/v1/users",
		map[string]any{"name": name, "full_name": form.Get("full_name"), "contacts": contacts,
			"admin": form.Get("role") == users.RoleAdmin, "read_only": form.Get("role") == users.RoleReadOnly}, nil)
	h.Pages.Finish(rw, r, name+" is added, without a password. The person logs in at a provider or with the directory, or iris user passwd sets one.", page.Path("/people/%s", name), err, func(refusal page.Refusal) {
		h.showList(rw, r, page.Again{Form: "add", Typed: form, Refusal: refusal})
	})
}

// decide confirms or rejects a held deactivation.
func (h Handlers) decide(rw http.ResponseWriter, r *http.Request) {
	form := page.Typed(r)
	method, path, done := http.MethodDelete, page.Path("/v1/held-deactivations/%s", form.Get("id")), " stays active."
	if form.Get("decision") == "confirm" {
		method, path, done = http.MethodPost, path+"/confirm", " is switched off."
	}
	err := h.Pages.API(r).Send(method, path, nil, nil)
	h.Pages.Finish(rw, r, form.Get("user")+done, "/people", err,
		func(refusal page.Refusal) { h.showList(rw, r, page.Again{Form: "held", Typed: form, Refusal: refusal}) })
}

// reach is how many people of a team can be reached.
type reach struct {
	Team           string             `json:"team"`
	People         int                `json:"people"`
	WithoutPhone   int                `json:"without_phone"`
	WithoutContact int                `json:"without_contact"`
	Modes          map[users.Mode]int `json:"modes"`
}

type reachView struct {
	page.Frame
	page.Again
	Tabs   []page.Tab
	All    reach
	Teams  []reach
	Search string // in the names of the teams
	More   string // address of the next teams
	Modes  []users.Mode
	Zone   string
}

// teamsShown is the most teams on a page.
const teamsShown = 100

// People returns the address of the members of a team, or of those without something.
func (v reachView) People(team, without string) string {
	return page.Query("/people", "team", team, "without", without)
}

// reachability shows who can be reached, of everybody and by team.
func (h Handlers) reachability(rw http.ResponseWriter, r *http.Request) {
	h.showReach(rw, r, page.Again{})
}

func (h Handlers) showReach(rw http.ResponseWriter, r *http.Request, was page.Again) {
	v := reachView{Frame: h.Pages.Frame(r, "Teams and reachability", "people"), Again: was, Modes: users.ContactModes,
		Zone: page.Zone(r).String()}
	v.Tabs = peopleTabs(v.Frame, "/reachability")
	var found []reach
	if err := page.List(h.Pages.API(r), "/v1/reachability", &found); err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	v.Search = page.Storable(r.URL.Query().Get("q"))
	if was.Form == "delete" {
		v.Search = was.Typed.Get("name")
	}
	v.All, v.Teams = found[0], found[1:]
	after := slices.IndexFunc(v.Teams, func(f reach) bool { return f.Team == r.URL.Query().Get("after") })
	v.Teams = slices.DeleteFunc(v.Teams[after+1:],
		func(f reach) bool { return !strings.Contains(strings.ToLower(f.Team), strings.ToLower(v.Search)) })
	if len(v.Teams) > teamsShown {
		v.Teams = v.Teams[:teamsShown]
		v.More = page.Query("/reachability", "q", v.Search, "after", v.Teams[teamsShown-1].Team)
	}
	h.Pages.Render(rw, r, was.Status(), "reachability", v)
}

// changeTeams creates or deletes a team. Its own settings have its members and administrators.
func (h Handlers) changeTeams(rw http.ResponseWriter, r *http.Request) {
	form := page.Typed(r)
	api, name, to := h.Pages.API(r), form.Get("name"), "/reachability"
	var done string
	var err error
	if form.Get("form") == "delete" {
		done = "The team " + name + " is deleted."
		err = api.Send(http.MethodDelete, page.Query(page.Path("/v1/teams/%s", name), "force", form.Get("force")), nil,
			nil)
	} else {
		done, to = "The team "+name+" is created. Add its members and rosters.", page.Path("/teams/%s/settings", name)
		err = api.Send(http.MethodPost, "/api/v0/teams", map[string]any{"name": url.QueryEscape(name),
			"scheduling_timezone": form.Get("scheduling_timezone")}, nil)
	}
	h.Pages.Finish(rw, r, done, to, err, func(refusal page.Refusal) {
		h.showReach(rw, r, page.Again{Form: form.Get("form"), Typed: form, Refusal: refusal})
	})
}

type rolesView struct {
	page.Frame
	page.Again
	Tabs []page.Tab
	Rows []page.Named
}

// roles shows the names of on-call roles.
func (h Handlers) roles(rw http.ResponseWriter, r *http.Request) { h.showRoles(rw, r, page.Again{}) }

func (h Handlers) showRoles(rw http.ResponseWriter, r *http.Request, was page.Again) {
	v := rolesView{Frame: h.Pages.Frame(r, "On-call roles", "people"), Again: was}
	v.Tabs = peopleTabs(v.Frame, "/on-call-roles")
	if err := h.Pages.API(r).Get("/api/v0/roles", &v.Rows); err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	h.Pages.Render(rw, r, was.Status(), "on-call-roles", v)
}

func (h Handlers) changeRoles(rw http.ResponseWriter, r *http.Request) {
	form := page.Typed(r)
	api, name := h.Pages.API(r), form.Get("name")
	var done string
	var err error
	if form.Get("form") == "delete" {
		done, err = "The role "+name+" is deleted.", api.Send(http.MethodDelete, page.Path("/api/v0/roles/%s", name),
			nil, nil)
	} else {
		done, err = "The role "+name+" is added.", api.Send(http.MethodPost, "/api/v0/roles",
			map[string]string{"name": name}, nil)
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
