package teams

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/planning"
	"github.com/iris-oncall/iris/internal/users"
)

// Roster is a list of people of a team, from which rotations choose.
type Roster struct {
	ID      int64          `json:"id"`
	Team    string         `json:"team"`
	Name    string         `json:"name"`
	Members []RosterMember `json:"members" doc:"In their order."`

	tag string
}

// Location is the address of a roster.
func (r Roster) Location() string { return operation.Path(GetRoster.Path, r.Team, r.Name) }

// Tag names the state of name and members.
func (r Roster) Tag() string { return r.tag }

// RosterMember is a person's place in a roster.
type RosterMember struct {
	User string `json:"user" maxLength:"255" doc:"The name of a person, who becomes a member of the team."`
	RosterPlace
}

// RosterPlace is what people choose of a member of a roster.
type RosterPlace struct {
	InRotation *bool `json:"in_rotation,omitempty" doc:"false: schedules that choose people by themselves leave the person out. Default: true."`
}

func (p RosterPlace) inRotation() bool { return p.InRotation == nil || *p.InRotation }

// RostersOfTeam selects rosters of a team.
type RostersOfTeam struct {
	users.OneTeam
	operation.Paging
}

// OneRoster names a roster of a team, ignoring case.
type OneRoster struct {
	users.OneTeam
	Roster string `path:"roster" json:"roster"`
}

// RosterSettings are what people choose of a roster.
type RosterSettings struct {
	Name    string         `json:"name" maxLength:"255" doc:"At most 255 bytes: letters, digits, spaces and - _ : ? $." example:"everybody"`
	Members []RosterMember `json:"members" maxItems:"500" doc:"All members, in their order; [] = none."`
}

// NewRoster is a roster that does not exist.
type NewRoster struct {
	users.OneTeam
	Body RosterSettings `json:"body"`
}

// RosterEdit replaces the name and the members of a roster.
type RosterEdit struct {
	OneRoster
	operation.State
	Body RosterSettings `json:"body"`
}

// OneRosterMember names a person in a roster.
type OneRosterMember struct {
	OneRoster
	User string `path:"user" json:"user"`
}

// RosterMemberEdit puts a person into a roster, or changes their place in it.
type RosterMemberEdit struct {
	OneRosterMember
	Body RosterPlace `json:"body"`
}

// The operations on rosters.
var (
	ListRosters = operation.Define[RostersOfTeam, operation.Page[Roster]](operation.Doc{Name: "roster.list",
		Method: http.MethodGet, Path: "/v1/teams/{team}/rosters", Needs: operation.Reader,
		Summary: "The rosters of a team by name"})
	CreateRoster = operation.Define[NewRoster, Roster](operation.Doc{Name: "roster.create", Method: http.MethodPost,
		Path: "/v1/teams/{team}/rosters", Needs: operation.Member, Rule: operation.OfTeam,
		Audit:   []audit.Action{audit.RosterCreated, audit.RosterUserAdded},
		Errors:  []int{http.StatusConflict, http.StatusUnprocessableEntity},
		Summary: "Make a roster; its members become members of the team"})
	GetRoster = operation.Define[OneRoster, Roster](operation.Doc{Name: "roster.get", Method: http.MethodGet,
		Path: "/v1/teams/{team}/rosters/{roster}", Needs: operation.Reader, Summary: "A roster",
		Note: "ETag names the state of its name and members."})
	ReplaceRoster = operation.Define[RosterEdit, Roster](operation.Doc{Name: "roster.replace", Method: http.MethodPut,
		Path: "/v1/teams/{team}/rosters/{roster}", Needs: operation.Member, Rule: operation.OfTeam,
		Audit: []audit.Action{audit.RosterRenamed, audit.RosterOrderChanged, audit.RosterUserAdded,
			audit.RosterUserChanged, audit.RosterUserRemoved},
		Errors:  []int{http.StatusConflict, http.StatusPreconditionFailed, http.StatusUnprocessableEntity},
		Summary: "Replace the name and the members of a roster",
		Note:    "A person who is removed also leaves the order of the weekly schedules of the roster, and leaves the team if they are in no other roster of it and do not administer it. Rotations stay as they are. Send the ETag of a GET as If-Match: the answer is 412 if somebody changed the roster meanwhile."})
	DeleteRoster = operation.Define[OneRoster, operation.None](operation.Doc{Name: "roster.delete",
		Method: http.MethodDelete, Path: "/v1/teams/{team}/rosters/{roster}", Needs: operation.Member,
		Rule: operation.OfTeam, Audit: []audit.Action{audit.RosterDeleted},
		Summary: "Delete a roster with its schedules and rotations; shifts that exist stay",
		Note:    "Members who are in no other roster of the team and do not administer it leave the team."})
	SetRosterMember = operation.Define[RosterMemberEdit, operation.None](operation.Doc{Name: "roster.set-member",
		Method: http.MethodPut, Path: "/v1/teams/{team}/rosters/{roster}/members/{user}", Status: http.StatusNoContent,
		Needs: operation.Member, Rule: operation.OfTeam,
		Audit:   []audit.Action{audit.RosterUserAdded, audit.RosterUserChanged},
		Summary: "Put a person at the end of a roster, or change whether a member is in the rotation",
		Note:    "The person becomes a member of the team. Other members stay as they are."})
	RemoveRosterMember = operation.Define[OneRosterMember, operation.None](operation.Doc{Name: "roster.remove-member",
		Method: http.MethodDelete, Path: "/v1/teams/{team}/rosters/{roster}/members/{user}", Needs: operation.Member,
		Rule: operation.OfTeam, Audit: []audit.Action{audit.RosterUserRemoved},
		Summary: "Remove a person from a roster, and from the order of its weekly schedules",
		Note:    "A person who is in no other roster of the team and does not administer it leaves the team."})
)

// RosterKind has what all kinds of objects have.
var RosterKind = operation.Kind(ListRosters, GetRoster, ReplaceRoster, DeleteRoster, "NAME=name",
	"MEMBERS=members").MadeBy(CreateRoster.Doc)

// Rosters stores rosters. A name that the team has already is a Conflict fault.
type Rosters interface {
	ByTeam(ctx context.Context, team int64) ([]oncall.Roster, error)
	// Create adds a roster with members, who become members of the team.
	Create(ctx context.Context, team oncall.Profile, name string, members []oncall.RosterMember, by oncall.By) (int64, error)
	// Replace returns etag.ErrStale if the roster is in none of the states that may be changed.
	Replace(ctx context.Context, team oncall.Profile, id int64, e oncall.RosterEdit, by oncall.By) error
	Delete(ctx context.Context, team oncall.Profile, roster oncall.Roster, by oncall.By) error
	// SetMember puts a person at the end of a roster, or changes whether a member is in the rotation.
	SetMember(ctx context.Context, team oncall.Profile, roster oncall.Roster, m oncall.RosterMember, by oncall.By) error
	// RemoveMember returns a NotFound fault if the person is not in the roster.
	RemoveMember(ctx context.Context, team oncall.Profile, roster oncall.Roster, user oncall.Person, by oncall.By) error
}

var (
	errNoRoster    = fault.New(fault.NotFound, "the team has no such roster")
	errNotInRoster = fault.New(fault.NotFound, "this person is not in the roster")
)

func rosterOf(team oncall.Profile, r oncall.Roster) Roster {
	out := Roster{ID: r.ID, Team: team.Name, Name: r.Name, Members: make([]RosterMember, len(r.Members)), tag: r.Tag()}
	for i, m := range r.Members {
		out.Members[i] = RosterMember{m.Name, RosterPlace{&m.InRotation}}
	}
	return out
}

// rosters lists the rosters of a team by name.
func (t *Teams) rosters(ctx context.Context, _ operation.Actor, of RostersOfTeam) (out operation.Page[Roster], err error) {
	team, err := t.deps.Finder.ActiveTeam(ctx, of.Team)
	if err != nil {
		return out, err
	}
	found, err := t.deps.Rosters.ByTeam(ctx, team.ID)
	if err != nil {
		return out, err
	}
	all := make([]Roster, len(found))
	for i, r := range found {
		all[i] = rosterOf(team, r)
	}
	slices.SortFunc(all, func(a, b Roster) int { return strings.Compare(a.Name, b.Name) })
	return operation.PageByName(of.Paging, all, func(r Roster) string { return r.Name })
}

func (t *Teams) roster(ctx context.Context, _ operation.Actor, one OneRoster) (Roster, error) {
	team, err := t.deps.Finder.ActiveTeam(ctx, one.Team)
	if err != nil {
		return Roster{}, err
	}
	return t.named(ctx, team, one.Roster)
}

func (t *Teams) named(ctx context.Context, team oncall.Profile, name string) (Roster, error) {
	found, err := t.deps.Finder.RosterNamed(ctx, team, name)
	if err != nil {
		return Roster{}, fault.When(err, fault.NotFound, errNoRoster)
	}
	return rosterOf(team, found), nil
}

// managed finds a roster of a team whose administrator the caller is.
func (t *Teams) managed(ctx context.Context, by operation.Actor, one OneRoster) (oncall.Profile, oncall.Roster, error) {
	team, err := t.deps.Administrators.Own(ctx, by, one.Team)
	if err != nil {
		return team, oncall.Roster{}, err
	}
	found, err := t.deps.Finder.RosterNamed(ctx, team, one.Roster)
	return team, found, fault.When(err, fault.NotFound, errNoRoster)
}

func (t *Teams) createRoster(ctx context.Context, by operation.Actor, n NewRoster) (Roster, error) {
	team, err := t.deps.Administrators.Own(ctx, by, n.Team)
	if err != nil {
		return Roster{}, err
	}
	name := strings.TrimSpace(n.Body.Name)
	if err := checkRosterName(name); err != nil {
		return Roster{}, err
	}
	members, err := t.members(ctx, n.Body.Members)
	if err != nil {
		return Roster{}, err
	}
	if _, err := t.deps.Rosters.Create(ctx, team, name, members, planning.Author(by, n.Body)); err != nil {
		return Roster{}, rosterTaken(err, team, name)
	}
	return t.named(ctx, team, name)
}

// replaceRoster does not check a name that stays as it is: rosters that were imported may break the rules.
func (t *Teams) replaceRoster(ctx context.Context, by operation.Actor, e RosterEdit) (Roster, error) {
	team, found, err := t.managed(ctx, by, e.OneRoster)
	if err != nil {
		return Roster{}, err
	}
	name := strings.TrimSpace(e.Body.Name)
	if name != found.Name {
		if err := checkRosterName(name); err != nil {
			return Roster{}, err
		}
	}
	members, err := t.members(ctx, e.Body.Members)
	if err != nil {
		return Roster{}, err
	}
	edit := oncall.RosterEdit{IfMatch: e.Tags(), Name: name, Members: members}
	if err := t.deps.Rosters.Replace(ctx, team, found.ID, edit, planning.Author(by, e.Body)); err != nil {
		return Roster{}, rosterTaken(err, team, name)
	}
	return t.named(ctx, team, name)
}

// rosterTaken names the roster in the fault of a name that exists.
func rosterTaken(err error, team oncall.Profile, name string) error {
	return fault.When(err, fault.Conflict, fault.Newf(fault.Conflict, "team %s has a roster %q already: choose another name",
		team.Name, name))
}

func (t *Teams) deleteRoster(ctx context.Context, by operation.Actor, one OneRoster) (none operation.None, err error) {
	team, found, err := t.managed(ctx, by, one)
	if err != nil {
		return none, err
	}
	return none, t.deps.Rosters.Delete(ctx, team, found, planning.Author(by, nil))
}

// members finds the people of a roster. It returns an Invalid fault for one who does not exist, or is named twice.
func (t *Teams) members(ctx context.Context, named []RosterMember) ([]oncall.RosterMember, error) {
	var wrong fault.Wrong
	out, seen := make([]oncall.RosterMember, 0, len(named)), map[users.ID]bool{}
	for i, m := range named {
		field := fmt.Sprintf("members[%d].user", i)
		u, err := t.deps.People.ByName(ctx, m.User)
		switch {
		case fault.Is(err, fault.NotFound):
			wrong.Add(field, "there is no user %q", m.User)
			continue
		case err != nil:
			return nil, err
		}
		wrong.If(seen[u.ID], field, "%s is a member twice", u.Name)
		seen[u.ID] = true
		out = append(out, oncall.RosterMember{User: u.ID, Name: u.Name, InRotation: m.inRotation()})
	}
	return out, wrong.Err()
}

func (t *Teams) setRosterMember(ctx context.Context, by operation.Actor, e RosterMemberEdit) (none operation.None, err error) {
	team, roster, u, err := t.inRoster(ctx, by, e.OneRosterMember)
	if err != nil {
		return none, err
	}
	m := oncall.RosterMember{User: u.ID, Name: u.Name, InRotation: e.Body.inRotation()}
	return none, t.deps.Rosters.SetMember(ctx, team, roster, m, planning.Author(by, e.Body))
}

func (t *Teams) removeRosterMember(ctx context.Context, by operation.Actor, one OneRosterMember) (none operation.None, err error) {
	team, roster, u, err := t.inRoster(ctx, by, one)
	if err != nil {
		return none, err
	}
	err = t.deps.Rosters.RemoveMember(ctx, team, roster, u, planning.Author(by, nil))
	return none, fault.When(err, fault.NotFound, errNotInRoster)
}

// inRoster finds a person, and a roster of a team whose administrator the caller is.
func (t *Teams) inRoster(ctx context.Context, by operation.Actor, one OneRosterMember) (oncall.Profile, oncall.Roster, oncall.Person, error) {
	team, roster, err := t.managed(ctx, by, one.OneRoster)
	if err != nil {
		return team, roster, oncall.Person{}, err
	}
	u, err := t.deps.People.ByName(ctx, one.User)
	return team, roster, u, fault.When(err, fault.NotFound, errNoUser)
}
