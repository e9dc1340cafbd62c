package personal

import (
	"context"
	"net/http"

	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/users"
)

// PinnedTeam is a team that a person keeps at the top of the list of teams.
type PinnedTeam struct {
	Name string `json:"name"`
}

// TeamPin names a person and a team.
type TeamPin struct {
	users.OnePerson
	users.OneTeam
}

// The operations on pinned teams.
var (
	ListPins = operation.Define[users.OnePerson, operation.Page[PinnedTeam]](operation.Doc{Name: "pinned-team.list",
		Method: http.MethodGet, Path: "/v1/users/{user}/pinned-teams", Needs: operation.Reader,
		Summary: "The teams that a person keeps at the top of the list of teams"})
	PinTeam = operation.Define[TeamPin, operation.None](operation.Doc{Name: "pinned-team.add",
		Method: http.MethodPut, Path: "/v1/users/{user}/pinned-teams/{team}", Status: http.StatusNoContent,
		Needs: operation.Reader, Rule: operation.OfPerson, Audit: []audit.Action{audit.TeamPinned},
		Errors: []int{http.StatusConflict}, Summary: "Keep a team at the top of the list of teams",
		Note: "409: it is there already."})
	UnpinTeam = operation.Define[TeamPin, operation.None](operation.Doc{Name: "pinned-team.remove",
		Method: http.MethodDelete, Path: "/v1/users/{user}/pinned-teams/{team}",
		Needs: operation.Reader, Rule: operation.OfPerson, Audit: []audit.Action{audit.TeamUnpinned},
		Summary: "No longer keep a team at the top of the list of teams"})
)

func (p *Personal) pins(ctx context.Context, _ operation.Actor, of users.OnePerson) (out operation.Page[PinnedTeam], err error) {
	u, err := p.person(ctx, of.User)
	if err != nil {
		return out, err
	}
	names, err := p.deps.Pins.Pinned(ctx, u.ID)
	out.Items = make([]PinnedTeam, len(names))
	for i, name := range names {
		out.Items[i].Name = name
	}
	return out, err
}

func (p *Personal) pin(ctx context.Context, _ operation.Actor, pin TeamPin) (none operation.None, err error) {
	u, err := p.owner(ctx, pin.User)
	if err != nil {
		return none, err
	}
	t, err := p.deps.Finder.ActiveTeam(ctx, pin.Team)
	if err != nil {
		return none, err
	}
	return none, p.deps.Pins.Pin(ctx, u.ID, t.ID)
}

// unpin also removes a deleted team.
func (p *Personal) unpin(ctx context.Context, _ operation.Actor, pin TeamPin) (none operation.None, err error) {
	u, err := p.owner(ctx, pin.User)
	if err != nil {
		return none, err
	}
	t, err := p.deps.Finder.Teams.ByName(ctx, pin.Team)
	if err != nil {
		return none, err
	}
	return none, p.deps.Pins.Unpin(ctx, u.ID, t.ID)
}
