package users

import (
	"cmp"
	"context"
	"net/http"
	"slices"

	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
)

// TeamRow is a team as lists show it.
type TeamRow struct {
	Name  string         `json:"name"`
	Email operation.Text `json:"email"`
}

// Team is a team as its own route shows it.
type Team struct {
	TeamRow
	Description  operation.Text `json:"description"`
	TimeZone     string         `json:"time_zone"`
	SlackChannel operation.Text `json:"slack_channel"`
	Plan         operation.Text `json:"plan"`
	Members      []string       `json:"members"`
	Managed      []string       `json:"managed_members" doc:"Members who are in the team because of their groups at an identity provider."`
	Admins       []string       `json:"admins"`
}

// OneTeam names a team, ignoring case.
type OneTeam struct {
	Team string `path:"team" json:"team"`
}

// TeamRemoval deletes a team.
type TeamRemoval struct {
	OneTeam
	Force bool `query:"force" json:"force,omitempty" doc:"true: even if something uses it."`
}

// The operations on teams.
var (
	ListTeams = operation.Define[operation.Paging, operation.Page[TeamRow]](operation.Doc{Name: "team.list",
		Method: http.MethodGet, Path: "/v1/teams", Needs: operation.Reader, Summary: "Teams by name"})
	GetTeam = operation.Define[OneTeam, Team](operation.Doc{Name: "team.get",
		Method: http.MethodGet, Path: "/v1/teams/{team}", Needs: operation.Reader, Summary: "A team"})
	DeleteTeam = operation.Define[TeamRemoval, operation.None](operation.Doc{Name: "team.delete",
		Method: http.MethodDelete, Path: "/v1/teams/{team}", Needs: operation.Member, Rule: operation.OfItsTeam,
		Audit: []audit.Action{audit.TeamDeleted}, Errors: []int{http.StatusConflict},
		Summary: "Delete a team; its past stays", Note: "409 names what uses it, unless force=true."})
)

// TeamKind has what all kinds of objects have.
var TeamKind = operation.Kind(ListTeams, GetTeam, operation.Def[Team, Team]{}, DeleteTeam, "NAME=name", "EMAIL=email")

// TeamStore reads the active teams. A team that does not exist is a NotFound fault.
type TeamStore interface {
	Rows(ctx context.Context) ([]TeamRow, error)
	Team(ctx context.Context, name string) (Team, error)
}

// Teams are the operations on teams. They are safe for concurrent use.
type Teams struct {
	List   operation.Op[operation.Paging, operation.Page[TeamRow]]
	Get    operation.Op[OneTeam, Team]
	Delete operation.Op[TeamRemoval, operation.None]

	store    TeamStore
	removals Removals
}

// NewTeams returns the operations.
func NewTeams(store TeamStore, removals Removals) *Teams {
	t := &Teams{store: store, removals: removals}
	t.List, t.Get, t.Delete = ListTeams.By(t.list), GetTeam.By(t.get), DeleteTeam.By(t.remove)
	return t
}

func (t *Teams) list(ctx context.Context, _ operation.Actor, p operation.Paging) (operation.Page[TeamRow], error) {
	all, err := t.store.Rows(ctx)
	if err != nil {
		return operation.Page[TeamRow]{}, err
	}
	slices.SortFunc(all, func(a, b TeamRow) int { return cmp.Compare(a.Name, b.Name) })
	return operation.PageByName(p, all, func(r TeamRow) string { return r.Name })
}

func (t *Teams) get(ctx context.Context, _ operation.Actor, one OneTeam) (Team, error) {
	found, err := t.store.Team(ctx, one.Team)
	return found, fault.When(err, fault.NotFound, fault.New(fault.NotFound, "there is no such team"))
}

// remove lets administrators delete any team, and people those that they administer. Others do not learn whether the
// team exists.
func (t *Teams) remove(ctx context.Context, by operation.Actor, r TeamRemoval) (none operation.None, err error) {
	if by.Role != operation.Admin {
		may := false
		if by.Person != 0 {
			may, err = t.removals.AdministersTeam(ctx, ID(by.Person), r.Team)
		}
		if err == nil && !may {
			err = operation.ErrAdminOnly
		}
		if err != nil {
			return none, err
		}
	}
	return none, t.removals.Remove(ctx, "team", r.Team, r.Force, by.Name)
}
