package pages

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/jsonbody"
	"github.com/iris-oncall/iris/internal/web/listing"
	"github.com/iris-oncall/iris/internal/web/routing"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// Accounts reads, adds and changes accounts. A person who does not exist is a NotFound fault.
type Accounts interface {
	Page(ctx context.Context, by users.AccountQuery) ([]users.Account, error)
	Account(ctx context.Context, name string) (users.Account, error)
	Reachability(ctx context.Context) ([]users.Reachability, error)
	// Add returns a Conflict fault if the name exists.
	Add(ctx context.Context, n users.NewAccount) error
	// Change returns a Conflict fault for the last administrator, for what a directory manages, and, unless force is
	// set, for a person who is in use and would be switched off.
	Change(ctx context.Context, u users.User, c users.AccountChange, force bool, by string) error
}

func (a persons) routes() []routing.Route {
	return []routing.Route{
		routing.Get("/v1/users", routing.Someone, a.list),
		routing.Post("/v1/users", routing.Write, a.add),
		routing.Get("/v1/users/{user}", routing.Someone, a.get),
		routing.Put("/v1/users/{user}", routing.Write, a.change),
		routing.Get("/v1/reachability", routing.Someone, a.reachability),
	}
}

// apiPerson is a person as lists show them.
type apiPerson struct {
	Name        string       `json:"name"`
	FullName    *string      `json:"full_name"`
	TimeZone    *string      `json:"time_zone"`
	Active      bool         `json:"active"`
	Admin       bool         `json:"admin"`
	ReadOnly    bool         `json:"read_only"`
	Modes       []users.Mode `json:"modes"` // those for which the person has a contact
	ManagedBy   *string      `json:"managed_by"`
	LastLoginAt *string      `json:"last_login_at"` // null for callers who are no administrators
}

// wholePerson is a person as their own route shows them.
type wholePerson struct {
	apiPerson
	Teams []string `json:"teams"`
}

// apiShow returns the function that shows people to the caller.
func apiShow(r *http.Request) func(users.Account) apiPerson {
	admin := wire.Actor(r.Context()).MayAdminister() == nil
	return func(p users.Account) apiPerson {
		out := apiPerson{Name: p.Name, FullName: listing.OrNull(p.FullName), TimeZone: listing.OrNull(p.TimeZone),
			Active: p.Active, Admin: p.Admin,
			ReadOnly: p.ReadOnly, Modes: routing.OrEmpty(p.Reached), ManagedBy: listing.OrNull(p.ManagedBy)}
		if admin {
			out.LastLoginAt = listing.Time(p.LoggedInAt)
		}
		return out
	}
}

// oneOf returns a parameter that has one of few values; "" if the query does not have it.
func oneOf(q listing.Query, name string, values ...string) (string, error) {
	text, given := q.Text(name)
	for _, v := range values {
		if text == v {
			return text, nil
		}
	}
	if !given {
		return "", nil
	}
	return "", fault.Invalidf(name, "%s must be one of %s", name, strings.Join(values, ", "))
}

// list answers with active people, or with active=false with those who are switched off.
func (a persons) list(w http.ResponseWriter, r *http.Request) error {
	q, err := listing.Read(r, "active", "q", "role", "team", "without")
	if err != nil {
		return err
	}
	by := users.AccountQuery{After: q.AfterName(), Most: q.Size + 1}
	if by.Active, err = q.Flag("active", true); err != nil {
		return err
	}
	if by.Role, err = oneOf(q, "role", users.RoleAdmin, users.RoleReadOnly, users.RoleMember); err != nil {
		return err
	}
	if by.Without, err = oneOf(q, "without", "phone", "contact"); err != nil {
		return err
	}
	by.Keyword, _ = q.Text("q")
	by.Team, _ = q.Text("team")
	found, err := a.Accounts.Page(r.Context(), by)
	if err != nil {
		return err
	}
	as := apiShow(r)
	return listing.AnswerFrom(w, q, found, func(p users.Account) any { return as(p) },
		func(p users.Account) string { return p.Name })
}

func (a persons) get(w http.ResponseWriter, r *http.Request) error {
	p, err := a.named(r)
	if err != nil {
		return err
	}
	return a.answer(w, r, http.StatusOK, p)
}

// named finds the person of the path.
func (a persons) named(r *http.Request) (users.Account, error) {
	gone := fault.New(fault.NotFound, "there is no such user")
	name := wire.Param(r, "user")
	if !wire.Storable(name) {
		return users.Account{}, gone
	}
	p, err := a.Accounts.Account(r.Context(), name)
	return p, fault.When(err, fault.NotFound, gone)
}

func (a persons) answer(w http.ResponseWriter, r *http.Request, status int, p users.Account) error {
	found, err := a.People.Teams(r.Context(), p.ID)
	if err != nil {
		return err
	}
	body := wholePerson{apiPerson: apiShow(r)(p), Teams: make([]string, len(found))}
	for i, t := range found {
		body.Teams[i] = t.Name
	}
	return routing.Answer(w, status, body)
}

// add adds a person without a password. The contacts count as verified.
func (a persons) add(w http.ResponseWriter, r *http.Request) error {
	if err := wire.Actor(r.Context()).MayAdminister(); err != nil {
		return err
	}
	b, err := jsonbody.ReadKnown(w, r, "name", "full_name", "time_zone", "admin", "read_only", "contacts")
	if err != nil {
		return err
	}
	var n users.NewAccount
	n.Name, n.FullName, n.TimeZone = jsonbody.Next(&err, b.Required, "name"), jsonbody.Next(&err, b.Text,
		"full_name"), jsonbody.Next(&err, b.Text, "time_zone")
	for name, into := range map[string]*bool{"admin": &n.Admin, "read_only": &n.ReadOnly} {
		if err == nil {
			*into, _, err = b.Flag(name)
		}
	}
	if err == nil {
		n.Contacts, err = a.readContacts(b)
	}
	if err == nil {
		err = a.Accounts.Add(r.Context(), n)
	}
	if err != nil {
		return err
	}
	p, err := a.Accounts.Account(r.Context(), n.Name)
	if err != nil {
		return err
	}
	w.Header().Set("Location", "/v1/users/"+url.PathEscape(p.Name))
	return a.answer(w, r, http.StatusCreated, p)
}

// readContacts reads destinations by mode.
func (a persons) readContacts(b jsonbody.Object) (map[users.Mode]string, error) {
	if !b.Given("contacts") {
		return nil, nil
	}
	var given map[string]string
	if json.Unmarshal(b.Members["contacts"], &given) != nil {
		return nil, b.Fault("contacts", "contacts must be an object of modes and destinations")
	}
	out := map[users.Mode]string{}
	for name, to := range given {
		if strings.TrimSpace(to) == "" {
			continue
		}
		to, err := a.Region.Contact(users.Mode(name), to)
		if err != nil {
			return nil, fault.Invalidf("contacts."+name, "%s", fault.Public(err))
		}
		out[users.Mode(name)] = to
	}
	return out, nil
}

// change changes the fields that the body has. A person who is in use is switched off only with force=true.
func (a persons) change(w http.ResponseWriter, r *http.Request) error {
	by := wire.Actor(r.Context())
	if err := by.MayAdminister(); err != nil {
		return err
	}
	q, err := listing.Read(r, "force")
	if err != nil {
		return err
	}
	force, err := q.Flag("force", false)
	if err != nil {
		return err
	}
	p, err := a.named(r)
	if err != nil {
		return err
	}
	b, err := jsonbody.ReadKnown(w, r, "full_name", "admin", "read_only", "active")
	if err != nil {
		return err
	}
	var c users.AccountChange
	if c.FullName, err = b.TextPtr("full_name"); err != nil {
		return err
	}
	for name, into := range map[string]**bool{"admin": &c.Admin, "read_only": &c.ReadOnly, "active": &c.Active} {
		value, given, err := b.Flag(name)
		if err != nil {
			return err
		}
		if given {
			*into = &value
		}
	}
	if err := a.Accounts.Change(r.Context(), p.User, c, force, by.String()); err != nil {
		return err
	}
	return a.get(w, r)
}

// reachability is how many people of a team can be reached.
type reachability struct {
	Team           *string            `json:"team"` // null = everybody
	People         int                `json:"people"`
	WithoutPhone   int                `json:"without_phone"`
	WithoutContact int                `json:"without_contact"`
	Modes          map[users.Mode]int `json:"modes"`
}

// reachability answers with how many active people can be reached: of everybody, and of each team.
func (a persons) reachability(w http.ResponseWriter, r *http.Request) error {
	if _, err := listing.Read(r); err != nil {
		return err
	}
	found, err := a.Accounts.Reachability(r.Context())
	if err != nil {
		return err
	}
	return listing.Answer(w, found, func(f users.Reachability) any {
		return reachability{Team: listing.OrNull(f.Team), People: f.People, WithoutPhone: f.WithoutPhone,
			WithoutContact: f.WithoutContact, Modes: f.Modes}
	}, "")
}
