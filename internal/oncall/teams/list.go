package teams

import (
	"cmp"
	"context"
	"net/http"
	"slices"

	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/oncall/planning"
	"github.com/iris-oncall/iris/internal/users"
)

// TeamRow is a team as lists show it.
type TeamRow struct {
	Name  string         `json:"name"`
	Email operation.Text `json:"email"`
}

// ShownTeam is a team as everybody sees it.
type ShownTeam struct {
	TeamRow
	Description  operation.Text `json:"description"`
	TimeZone     string         `json:"time_zone"`
	SlackChannel operation.Text `json:"slack_channel"`
	Plan         operation.Text `json:"plan"`
	Members      []string       `json:"members"`
	Managed      []string       `json:"managed_members" doc:"Members who are in the team because of their groups at an identity provider."`
	Admins       []string       `json:"admins"`
}

// TeamRemoval deletes a team.
type TeamRemoval struct {
	users.OneTeam
	Force bool `query:"force" json:"force,omitempty" doc:"true: even if something uses it."`
}

// The operations that list, read and delete teams.
var (
	ListTeams = operation.Define[operation.Paging, operation.Page[TeamRow]](operation.Doc{Name: "team.list",
		Method: http.MethodGet, Path: "/v1/teams", Needs: operation.Reader, Summary: "Teams by name"})
	GetTeam = operation.Define[users.OneTeam, ShownTeam](operation.Doc{Name: "team.get",
		Method: http.MethodGet, Path: "/v1/teams/{team}", Needs: operation.Reader, Summary: "A team"})
	DeleteTeam = operation.Define[TeamRemoval, operation.None](operation.Doc{Name: "team.delete",
		Method: http.MethodDelete, Path: "/v1/teams/{team}", Needs: operation.Member, Rule: operation.OfItsTeam,
		Audit: []audit.Action{audit.TeamDeleted}, Errors: []int{http.StatusConflict},
		Summary: "Delete a team; its past stays", Note: "409 names what uses it, unless force=true."})
)

func (t *Teams) list(ctx context.Context, _ operation.Actor, p operation.Paging) (operation.Page[TeamRow], error) {
	all, err := t.deps.Store.Rows(ctx)
	if err != nil {
		return operation.Page[TeamRow]{}, err
	}
	slices.SortFunc(all, func(a, b TeamRow) int { return cmp.Compare(a.Name, b.Name) })
	return operation.PageByName(p, all, func(r TeamRow) string { return r.Name })
}

func (t *Teams) get(ctx context.Context, _ operation.Actor, one users.OneTeam) (ShownTeam, error) {
	found, err := t.deps.Store.Team(ctx, one.Team)
	return found, fault.When(err, fault.NotFound, fault.New(fault.NotFound, "there is no such team"))
}

// remove lets administrators delete any team, and others those that they administer. It does not tell others whether the
// team exists.
func (t *Teams) remove(ctx context.Context, by operation.Actor, r TeamRemoval) (none operation.None, err error) {
	if by.Role != operation.Admin {
		_, err := t.deps.Administrators.Own(ctx, by, r.Team)
		if err = fault.When(err, fault.NotFound, operation.ErrAdminOnly); err != nil {
			return none, fault.When(err, fault.Forbidden, operation.ErrAdminOnly)
		}
	}
	return none, t.deps.Removals.Remove(ctx, "team", r.Team, r.Force, planning.Author(by, nil).Owner)
}
