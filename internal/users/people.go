package users

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
)

// PersonRow is a person as lists show them.
type PersonRow struct {
	Name        string         `json:"name"`
	FullName    operation.Text `json:"full_name"`
	TimeZone    operation.Text `json:"time_zone"`
	Active      bool           `json:"active"`
	Admin       bool           `json:"admin"`
	ReadOnly    bool           `json:"read_only"`
	Modes       []Mode         `json:"modes" doc:"The modes for which the person has a contact."`
	ManagedBy   operation.Text `json:"managed_by" doc:"The kind of directory that manages the account: ldap, slack or scim."`
	LastLoginAt *time.Time     `json:"last_login_at" doc:"The last log-in that is known; null for callers who are no administrators."`
}

// Person is a person as their own route shows them.
type Person struct {
	PersonRow
	Teams []string `json:"teams"`
}

// Location is the address of a person.
func (p Person) Location() string { return operation.Path(GetPerson.Path, p.Name) }

// OnePerson names a person, ignoring case.
type OnePerson struct {
	User string `path:"user" json:"user"`
}

// PeopleFilter selects people.
type PeopleFilter struct {
	operation.Paging
	Active  string `query:"active" json:"active,omitempty" enum:"true,false" doc:"false: those who are switched off; default: true."`
	Search  string `query:"q" json:"q,omitempty" doc:"Text in the name or the full name."`
	Role    string `query:"role" json:"role,omitempty" enum:"admin,read_only,member"`
	Team    string `query:"team" json:"team,omitempty" doc:"Only people in this team."`
	Without string `query:"without" json:"without,omitempty" enum:"phone,contact" doc:"phone: people whom neither calls nor texts reach; contact: people whom nothing reaches."`
}

// PersonEdit changes the account of a person.
type PersonEdit struct {
	OnePerson
	Force bool          `query:"force" json:"force,omitempty" doc:"true: switch the person off even if something uses them."`
	Body  AccountChange `json:"body"`
}

// PersonRemoval deletes a person.
type PersonRemoval struct {
	OnePerson
	Force bool `query:"force" json:"force,omitempty" doc:"true: even if something uses them."`
}

// The operations on people.
var (
	ListPeople = operation.Define[PeopleFilter, operation.Page[PersonRow]](operation.Doc{Name: "user.list",
		Method: http.MethodGet, Path: "/v1/users", Needs: operation.Reader, Summary: "People by name"})
	AddPerson = operation.Define[NewAccount, Person](operation.Doc{Name: "user.create",
		Method: http.MethodPost, Path: "/v1/users", Needs: operation.Admin, Audit: []audit.Action{audit.UserCreated},
		Errors:  []int{http.StatusConflict, http.StatusUnprocessableEntity},
		Summary: "Add a person without a password; the contacts count as verified",
		Note:    "POST /v1/invitations lets the person choose a password."})
	GetPerson = operation.Define[OnePerson, Person](operation.Doc{Name: "user.get",
		Method: http.MethodGet, Path: "/v1/users/{user}", Needs: operation.Reader, Summary: "A person"})
	ChangePerson = operation.Define[PersonEdit, Person](operation.Doc{Name: "user.change",
		Method: http.MethodPut, Path: "/v1/users/{user}", Needs: operation.Admin,
		Audit:   []audit.Action{audit.UserChanged, audit.RoleChanged, audit.UserSwitchedOn, audit.UserSwitchedOff},
		Errors:  []int{http.StatusConflict, http.StatusUnprocessableEntity},
		Summary: "Change the role, the state or the full name of a person",
		Note:    "What is left out stays. 409: the last active administrator, a field that a directory manages, or, unless force=true, a person in use who would be switched off."})
	DeletePerson = operation.Define[PersonRemoval, operation.None](operation.Doc{Name: "user.delete",
		Method: http.MethodDelete, Path: "/v1/users/{user}", Needs: operation.Admin,
		Audit: []audit.Action{audit.UserSwitchedOff}, Errors: []int{http.StatusConflict},
		Summary: "Switch a person off and take them out of rotations",
		Note:    "409 names what uses them, unless force=true."})
	CountReachable = operation.Define[operation.None, operation.Page[Reachability]](operation.Doc{Name: "user.reachability",
		Method: http.MethodGet, Path: "/v1/reachability", Needs: operation.Reader,
		Summary: "How many active people can be reached, by mode: everybody, then each team"})
)

// PersonKind has what all kinds of objects have.
var PersonKind = operation.Kind(ListPeople, GetPerson, ChangePerson, DeletePerson,
	"NAME=name", "FULL NAME=full_name", "ACTIVE=active", "ADMIN=admin", "READ ONLY=read_only", "REACHED BY=modes",
	"MANAGED BY=managed_by", "LAST LOG-IN=last_login_at").MadeBy(AddPerson.Doc)

// Accounts reads, adds and changes accounts. A person who does not exist is a NotFound fault.
type Accounts interface {
	Page(ctx context.Context, by AccountQuery) ([]Account, error)
	Account(ctx context.Context, name string) (Account, error)
	Reachability(ctx context.Context) ([]Reachability, error)
	// Add returns a Conflict fault if the name exists.
	Add(ctx context.Context, n NewAccount) error
	// Change returns a Conflict fault for the last administrator, for what a directory manages, and, unless force is
	// set, for a person who is in use and would be switched off.
	Change(ctx context.Context, u User, c AccountChange, force bool, by string) error
}

// Removals deletes objects by kind (team, user) and name. An object that others use is a Conflict fault that names
// them, unless force is set. An object that does not exist or is not active is a NotFound fault.
type Removals interface {
	Remove(ctx context.Context, kind, name string, force bool, actor string) error
}

// PeopleDeps are what People works on.
type PeopleDeps struct {
	Accounts Accounts
	Removals Removals
	Region   Region // of phone numbers without a country code
}

// People are the operations on people. They are safe for concurrent use.
type People struct {
	List         operation.Op[PeopleFilter, operation.Page[PersonRow]]
	Add          operation.Op[NewAccount, Person]
	Get          operation.Op[OnePerson, Person]
	Change       operation.Op[PersonEdit, Person]
	Delete       operation.Op[PersonRemoval, operation.None]
	Reachability operation.Op[operation.None, operation.Page[Reachability]]

	deps PeopleDeps
}

// NewPeople returns the operations.
func NewPeople(d PeopleDeps) *People {
	p := &People{deps: d}
	p.List, p.Add, p.Get = ListPeople.By(p.list), AddPerson.By(p.add), GetPerson.By(p.get)
	p.Change, p.Delete = ChangePerson.By(p.change), DeletePerson.By(p.remove)
	p.Reachability = CountReachable.By(p.reachability)
	return p
}

// rowOf returns an account as the caller sees it.
func rowOf(a Account, by operation.Actor) PersonRow {
	out := PersonRow{Name: a.Name, FullName: operation.Text(a.FullName), TimeZone: operation.Text(a.TimeZone),
		Active: a.Active, Admin: a.Admin, ReadOnly: a.ReadOnly, Modes: append([]Mode{}, a.Reached...),
		ManagedBy: operation.Text(a.ManagedBy)}
	if by.Role == operation.Admin && !a.LoggedInAt.IsZero() {
		at := a.LoggedInAt.UTC()
		out.LastLoginAt = &at
	}
	return out
}

func (p *People) list(ctx context.Context, by operation.Actor, f PeopleFilter) (operation.Page[PersonRow], error) {
	after, err := f.Place()
	if err != nil {
		return operation.Page[PersonRow]{}, err
	}
	found, err := p.deps.Accounts.Page(ctx, AccountQuery{Active: f.Active != "false", Keyword: f.Search, Role: f.Role,
		Team: f.Team, Without: f.Without, After: after, Most: f.Size() + 1})
	if err != nil {
		return operation.Page[PersonRow]{}, err
	}
	rows := make([]PersonRow, len(found))
	for i, a := range found {
		rows[i] = rowOf(a, by)
	}
	return operation.PageByName(f.Paging, rows, func(r PersonRow) string { return r.Name })
}

func (p *People) find(ctx context.Context, name string) (Account, error) {
	a, err := p.deps.Accounts.Account(ctx, name)
	return a, fault.When(err, fault.NotFound, errNoPerson)
}

var errNoPerson = fault.New(fault.NotFound, "there is no such user")

func (p *People) get(ctx context.Context, by operation.Actor, one OnePerson) (Person, error) {
	a, err := p.find(ctx, one.User)
	return Person{rowOf(a, by), append([]string{}, a.Teams...)}, err
}

// add adds a person without a password. The contacts count as verified.
func (p *People) add(ctx context.Context, by operation.Actor, n NewAccount) (Person, error) {
	n.Name = strings.TrimSpace(n.Name)
	var wrong fault.Wrong
	wrong.If(n.Name == "", "name", "name must not be empty")
	contacts := map[Mode]operation.Text{}
	for _, mode := range slices.Sorted(maps.Keys(n.Contacts)) {
		given := strings.TrimSpace(string(n.Contacts[mode]))
		if given == "" {
			continue
		}
		to, err := p.deps.Region.Contact(mode, given)
		wrong.If(err != nil, "contacts."+string(mode), "%s", fault.Public(err))
		contacts[mode] = operation.Text(to)
	}
	if err := wrong.Err(); err != nil {
		return Person{}, err
	}
	n.Contacts = contacts
	if err := p.deps.Accounts.Add(ctx, n); err != nil {
		return Person{}, err
	}
	return p.get(ctx, by, OnePerson{n.Name})
}

func (p *People) change(ctx context.Context, by operation.Actor, e PersonEdit) (Person, error) {
	a, err := p.find(ctx, e.User)
	if err != nil {
		return Person{}, err
	}
	if err := p.deps.Accounts.Change(ctx, a.User, e.Body, e.Force, by.Name); err != nil {
		return Person{}, err
	}
	return p.get(ctx, by, e.OnePerson)
}

func (p *People) remove(ctx context.Context, by operation.Actor, r PersonRemoval) (none operation.None, err error) {
	return none, p.deps.Removals.Remove(ctx, "user", r.User, r.Force, by.Name)
}

// reachability is never cut: it has a row for each team.
func (p *People) reachability(ctx context.Context, _ operation.Actor, _ operation.None) (operation.Page[Reachability], error) {
	found, err := p.deps.Accounts.Reachability(ctx)
	return operation.Page[Reachability]{Items: append([]Reachability{}, found...)}, err
}
