package teams

import (
	"context"
	"net/http"
	"strings"

	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/planning"
	"github.com/iris-oncall/iris/internal/users"
)

// Team is a team with all its settings.
type Team struct {
	ShownTeam
	SlackNotifications operation.Text `json:"slack_channel_notifications" doc:"For clients of Oncall: the channel for messages about shifts. Iris sends nothing there."`
	OverridePhone      operation.Text `json:"override_phone_number" doc:"The number that the API of Oncall shows instead of the numbers of the primary."`
	IrisEnabled        bool           `json:"iris_enabled" doc:"For clients of Oncall: they show the button that escalates."`
	APIManaged         bool           `json:"api_managed_roster" doc:"For clients of Oncall: a program keeps the rosters, so people should not edit them."`
}

// Location is the address of a team.
func (t Team) Location() string { return operation.Path(GetTeam.Path, t.Name) }

// Settings are the settings of a team that a request gives. Texts lose the spaces at their ends.
type Settings struct {
	Description        operation.Optional[operation.Text] `json:"description,omitzero" maxLength:"10000" doc:"What the team does; null clears it."`
	Email              operation.Optional[operation.Text] `json:"email,omitzero" maxLength:"255" doc:"An e-mail address of the team, for people; null clears it." example:"ops@example.com"`
	SlackChannel       operation.Optional[operation.Text] `json:"slack_channel,omitzero" maxLength:"255" doc:"The channel of the team, for people. It begins with #; null clears it." example:"#ops"`
	SlackNotifications operation.Optional[operation.Text] `json:"slack_channel_notifications,omitzero" maxLength:"255" doc:"For clients of Oncall: the channel for messages about shifts. It begins with #; null clears it."`
	Plan               operation.Optional[operation.Text] `json:"plan,omitzero" maxLength:"255" doc:"The plan that the clients of Oncall start for the team; null clears it."`
	OverridePhone      operation.Optional[operation.Text] `json:"override_phone_number,omitzero" maxLength:"255" doc:"The number that the API of Oncall shows instead of the numbers of the primary; null clears it."`
	IrisEnabled        *bool                              `json:"iris_enabled,omitempty" doc:"For clients of Oncall: true shows the button that escalates. A new team has false."`
	APIManaged         *bool                              `json:"api_managed_roster,omitempty" doc:"For clients of Oncall: true says that a program keeps the rosters. A new team has false."`
}

// NewTeam is a team that does not exist.
type NewTeam struct {
	Name     string `json:"name" maxLength:"255" doc:"At most 255 bytes: letters, digits, spaces and - _ : ? $." example:"ops"`
	TimeZone string `json:"time_zone" maxLength:"100" doc:"The time zone on whose clock shifts are made, by its IANA name." example:"Europe/Zurich"`
	Admin    string `json:"admin,omitempty" maxLength:"255" doc:"The name of the first administrator. Callers who are not a person must give it; people become the administrator themselves."`
	Settings
}

// Change is what changes of the settings of a team. As with people (user.change), what is left out stays, so that two
// callers can change different settings at the same time.
type Change struct {
	Name     *string `json:"name,omitempty" maxLength:"255" doc:"The new name."`
	TimeZone *string `json:"time_zone,omitempty" maxLength:"100" doc:"The IANA name of a time zone. Shifts that exist stay."`
	Settings
}

// TeamEdit changes settings of a team.
type TeamEdit struct {
	users.OneTeam
	Body Change `json:"body"`
	// AnyChannel: a channel need not begin with #. Clients of Oncall may change it to any text.
	AnyChannel bool `json:"-"`
}

// The operations that change teams.
var (
	CreateTeam = operation.Define[NewTeam, Team](operation.Doc{Name: "team.create", Method: http.MethodPost,
		Path: "/v1/teams", Needs: operation.Member, Rule: operation.InOncall,
		Audit: []audit.Action{audit.TeamCreated}, Errors: []int{http.StatusConflict, http.StatusUnprocessableEntity},
		Summary: "Make a team; the caller becomes its administrator"})
	ChangeTeam = operation.Define[TeamEdit, Team](operation.Doc{Name: "team.change", Method: http.MethodPut,
		Path: "/v1/teams/{team}", Needs: operation.Member, Rule: operation.OfTeam,
		Audit: []audit.Action{audit.TeamChanged}, Errors: []int{http.StatusConflict, http.StatusUnprocessableEntity},
		Summary: "Change settings of a team", Note: "What is left out stays."})
)

// Kind has what all kinds of objects have.
var Kind = operation.Kind(ListTeams, GetTeam, ChangeTeam, DeleteTeam, "NAME=name", "EMAIL=email").MadeBy(CreateTeam.Doc)

// Administrators finds teams for their administrators. Package planning implements it.
type Administrators interface {
	// Own finds an active team. It refuses callers who may not do what its administrators may do.
	Own(ctx context.Context, by operation.Actor, team string) (oncall.Profile, error)
}

// Finder finds what requests name. What does not exist is a NotFound fault.
type Finder interface {
	// ActiveTeam does not find deleted teams.
	ActiveTeam(ctx context.Context, name string) (oncall.Profile, error)
	// RosterNamed ignores case.
	RosterNamed(ctx context.Context, t oncall.Profile, name string) (oncall.Roster, error)
	// Role ignores case.
	Role(ctx context.Context, name string) (oncall.RoleInfo, error)
}

// People finds people.
type People interface {
	ByName(ctx context.Context, name string) (oncall.Person, error)
}

// Store stores teams and their people. A name that exists, and a person who is there already, are Conflict faults; a
// person who is not there is a NotFound fault.
type Store interface {
	// Rows lists the active teams. Team does not find deleted ones.
	Rows(ctx context.Context) ([]TeamRow, error)
	Team(ctx context.Context, name string) (ShownTeam, error)
	Create(ctx context.Context, s oncall.TeamSettings, admin users.ID, by oncall.By) (int64, error)
	Update(ctx context.Context, id int64, p oncall.TeamPatch, by oncall.By) error
	AddMember(ctx context.Context, team oncall.Profile, user oncall.Person, by oncall.By) error
	// RemoveMember returns a Conflict fault if groups of single sign-on give the membership.
	RemoveMember(ctx context.Context, team oncall.Profile, user oncall.Person, by oncall.By) error
	AddAdmin(ctx context.Context, team oncall.Profile, user oncall.Person, by oncall.By) error
	RemoveAdmin(ctx context.Context, team oncall.Profile, user oncall.Person, by oncall.By) error
	Subscriptions(ctx context.Context, team int64) ([]oncall.Subscription, error)
	// Subscribe returns a Conflict fault if the subscription exists.
	Subscribe(ctx context.Context, team, other, role int64) error
	// Unsubscribe returns a NotFound fault if there is no such subscription.
	Unsubscribe(ctx context.Context, team, other, role int64) error
}

// Deps are the parts that the operations work on. All but the last two are required.
type Deps struct {
	Finder         Finder
	Administrators Administrators
	People         People
	Store          Store
	Rosters        Rosters
	Services       Services
	Removals       users.Removals
	// PlanNamed returns a NotFound fault if there is no escalation plan of that name; nil = teams may name any plan.
	PlanNamed func(ctx context.Context, name string) error
	// Region is the country of phone numbers without a country code.
	Region users.Region
}

// Teams are the operations. They are safe for concurrent use.
type Teams struct {
	List   operation.Op[operation.Paging, operation.Page[TeamRow]]
	Get    operation.Op[users.OneTeam, ShownTeam]
	Delete operation.Op[TeamRemoval, operation.None]

	Create        operation.Op[NewTeam, Team]
	Change        operation.Op[TeamEdit, Team]
	AddMember     operation.Op[OnePerson, operation.None]
	RemoveMember  operation.Op[OnePerson, operation.None]
	AddAdmin      operation.Op[OnePerson, operation.None]
	RemoveAdmin   operation.Op[OnePerson, operation.None]
	Rosters       operation.Op[RostersOfTeam, operation.Page[Roster]]
	CreateRoster  operation.Op[NewRoster, Roster]
	Roster        operation.Op[OneRoster, Roster]
	ReplaceRoster operation.Op[RosterEdit, Roster]
	DeleteRoster  operation.Op[OneRoster, operation.None]

	SetRosterMember    operation.Op[RosterMemberEdit, operation.None]
	RemoveRosterMember operation.Op[OneRosterMember, operation.None]

	Services      operation.Op[operation.Paging, operation.Page[ServiceRow]]
	CreateService operation.Op[ServiceSettings, Service]
	Service       operation.Op[OneService, Service]
	RenameService operation.Op[ServiceEdit, Service]
	DeleteService operation.Op[OneService, operation.None]
	TeamServices  operation.Op[ServicesOfTeam, operation.Page[string]]
	Claim         operation.Op[ServiceOfTeam, operation.None]
	Unclaim       operation.Op[ServiceOfTeam, operation.None]
	Subscriptions operation.Op[SubscriptionsOfTeam, operation.Page[SubscribedRole]]
	Subscribe     operation.Op[OneSubscription, operation.None]
	Unsubscribe   operation.Op[OneSubscription, operation.None]

	deps Deps
}

// New returns the operations on the parts.
func New(d Deps) *Teams {
	t := &Teams{deps: d}
	t.List, t.Get, t.Delete = ListTeams.By(t.list), GetTeam.By(t.get), DeleteTeam.By(t.remove)
	t.Create, t.Change = CreateTeam.By(t.create), ChangeTeam.By(t.change)
	t.AddMember = AddMember.By(t.adding(d.Store.AddMember))
	t.RemoveMember = RemoveMember.By(t.removing(d.Store.RemoveMember, errNoMember))
	t.AddAdmin = AddAdmin.By(t.adding(d.Store.AddAdmin))
	t.RemoveAdmin = RemoveAdmin.By(t.removing(d.Store.RemoveAdmin, errNoAdmin))
	t.Rosters, t.CreateRoster = ListRosters.By(t.rosters), CreateRoster.By(t.createRoster)
	t.Roster, t.ReplaceRoster = GetRoster.By(t.roster), ReplaceRoster.By(t.replaceRoster)
	t.DeleteRoster, t.SetRosterMember = DeleteRoster.By(t.deleteRoster), SetRosterMember.By(t.setRosterMember)
	t.RemoveRosterMember = RemoveRosterMember.By(t.removeRosterMember)
	t.Services, t.CreateService = ListServices.By(t.services), CreateService.By(t.createService)
	t.Service, t.RenameService = GetService.By(t.service), RenameService.By(t.renameService)
	t.DeleteService, t.TeamServices = DeleteService.By(t.deleteService), ListTeamServices.By(t.teamServices)
	t.Claim, t.Unclaim = ClaimService.By(t.claim), UnclaimService.By(t.unclaim)
	t.Subscriptions, t.Subscribe = ListSubscriptions.By(t.subscriptions), AddSubscription.By(t.subscribe)
	t.Unsubscribe = RemoveSubscription.By(t.unsubscribe)
	return t
}

func (t *Teams) create(ctx context.Context, by operation.Actor, n NewTeam) (Team, error) {
	p, err := t.patch(n.Settings)
	if err != nil {
		return Team{}, err
	}
	s := p.Apply(oncall.TeamSettings{Name: strings.TrimSpace(n.Name)})
	if err := checkTeamName(s.Name); err != nil {
		return Team{}, err
	}
	if err := t.check(ctx, p, false); err != nil {
		return Team{}, err
	}
	if s.TimeZone, err = Zone(strings.TrimSpace(n.TimeZone), nil); err != nil {
		return Team{}, err
	}
	admin, err := t.firstAdmin(ctx, by, strings.TrimSpace(n.Admin))
	if err != nil {
		return Team{}, err
	}
	if _, err := t.deps.Store.Create(ctx, s, admin.ID, planning.Author(by, nil)); err != nil {
		return Team{}, taken(err, s.Name)
	}
	return t.shown(ctx, s.Name)
}

// firstAdmin returns the administrator of a new team: the caller, or the person whom a caller names who is not a person.
func (t *Teams) firstAdmin(ctx context.Context, by operation.Actor, named string) (oncall.Person, error) {
	name := named
	switch {
	case by.Person != 0 && named != "" && !users.SameName(named, by.Name):
		return oncall.Person{}, fault.Invalidf("admin",
			"people become the administrator of a team that they make: leave admin out, and add administrators afterwards")
	case by.Person != 0:
		name = by.Name
	case named == "":
		return oncall.Person{}, fault.Invalidf("admin", "admin must name the first administrator: the caller is not a person")
	}
	p, err := t.deps.People.ByName(ctx, name)
	return p, fault.When(err, fault.NotFound, fault.Invalidf("admin", "there is no user %q", name))
}

// change does not check settings that stay as they are: teams that were imported may break the rules.
func (t *Teams) change(ctx context.Context, by operation.Actor, e TeamEdit) (Team, error) {
	team, err := t.deps.Administrators.Own(ctx, by, e.Team)
	if err != nil {
		return Team{}, err
	}
	p, err := t.patch(e.Body.Settings)
	if err != nil {
		return Team{}, err
	}
	p.Name, p.TimeZone = trimmed(e.Body.Name), trimmed(e.Body.TimeZone)
	p = p.Without(team.TeamSettings)
	if p.Name != nil {
		if err := checkTeamName(*p.Name); err != nil {
			return Team{}, err
		}
	}
	if err := t.check(ctx, p, e.AnyChannel); err != nil {
		return Team{}, err
	}
	if p.TimeZone != nil {
		zone, err := Zone(*p.TimeZone, nil)
		if err != nil {
			return Team{}, err
		}
		p.TimeZone = &zone
	}
	after := p.Apply(team.TeamSettings)
	if p != (oncall.TeamPatch{}) {
		err = t.deps.Store.Update(ctx, team.ID, p, planning.Author(by, e.Body))
	}
	if err != nil {
		return Team{}, taken(err, after.Name)
	}
	return t.shown(ctx, after.Name)
}

// taken names the team in the fault of a name that exists.
func taken(err error, name string) error {
	return fault.When(err, fault.Conflict,
		fault.Newf(fault.Conflict, "there is a team %q already: choose another name", name))
}

// shown reads a team with all its settings.
func (t *Teams) shown(ctx context.Context, name string) (Team, error) {
	found, err := t.deps.Store.Team(ctx, name)
	if err != nil {
		return Team{}, err
	}
	s, err := t.deps.Finder.ActiveTeam(ctx, found.Name)
	return Team{found, operation.Text(s.SlackNotifications), operation.Text(s.OverridePhone), s.IrisEnabled,
		s.APIManaged}, err
}

func trimmed(text *string) *string {
	if text == nil {
		return nil
	}
	out := strings.TrimSpace(*text)
	return &out
}
