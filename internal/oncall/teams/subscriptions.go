package teams

import (
	"cmp"
	"context"
	"net/http"
	"slices"

	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/users"
)

// SubscribedRole is an on-call role of another team, whose shifts count on the calendar of a team.
type SubscribedRole struct {
	Team string `json:"team" doc:"The other team."`
	Role string `json:"role"`
}

// SubscriptionsOfTeam selects roles to which a team subscribes.
type SubscriptionsOfTeam struct {
	users.OneTeam
	operation.Paging
}

// OneSubscription names a role of another team. Names ignore case.
type OneSubscription struct {
	users.OneTeam
	Other string `path:"other" json:"other"`
	Role  string `path:"role" json:"role"`
}

// The operations on subscriptions between teams.
var (
	ListSubscriptions = operation.Define[SubscriptionsOfTeam, operation.Page[SubscribedRole]](operation.Doc{
		Name: "team.subscriptions", Method: http.MethodGet, Path: "/v1/teams/{team}/subscriptions", Needs: operation.Reader,
		Summary: "The on-call roles of other teams to which a team subscribes"})
	AddSubscription = operation.Define[OneSubscription, operation.None](operation.Doc{Name: "team.add-subscription",
		Method: http.MethodPut, Path: "/v1/teams/{team}/subscriptions/{other}/{role}", Status: http.StatusNoContent,
		Needs: operation.Member, Rule: operation.OfTeam, Audit: []audit.Action{audit.TeamSubscribed},
		Summary: "Subscribe a team to an on-call role of another team",
		Note:    "Its shifts count on the calendar of the team: they are shown there, and their people are paged."})
	RemoveSubscription = operation.Define[OneSubscription, operation.None](operation.Doc{Name: "team.remove-subscription",
		Method: http.MethodDelete, Path: "/v1/teams/{team}/subscriptions/{other}/{role}", Needs: operation.Member,
		Rule: operation.OfTeam, Audit: []audit.Action{audit.TeamUnsubscribed},
		Summary: "End the subscription of a team to an on-call role of another team"})
)

var errNotSubscribed = fault.New(fault.NotFound, "the team does not subscribe to this role")

func (t *Teams) subscriptions(ctx context.Context, _ operation.Actor, of SubscriptionsOfTeam) (out operation.Page[SubscribedRole], err error) {
	team, err := t.deps.Finder.ActiveTeam(ctx, of.Team)
	if err != nil {
		return out, err
	}
	found, err := t.deps.Store.Subscriptions(ctx, team.ID)
	if err != nil {
		return out, err
	}
	all := make([]SubscribedRole, len(found))
	for i, s := range found {
		all[i] = SubscribedRole{s.Team, s.Role}
	}
	key := func(s SubscribedRole) string { return s.Team + "\n" + s.Role }
	slices.SortFunc(all, func(a, b SubscribedRole) int { return cmp.Compare(key(a), key(b)) })
	return operation.PageByName(of.Paging, all, key)
}

// subscribe subscribes a team to a role. A subscription that exists stays.
func (t *Teams) subscribe(ctx context.Context, by operation.Actor, one OneSubscription) (none operation.None, err error) {
	team, other, role, err := t.ownSubscription(ctx, by, one)
	if err != nil {
		return none, err
	}
	if other.ID == team.ID {
		return none, fault.Invalidf("other", "a team cannot subscribe to itself: name another team")
	}
	return none, fault.When(t.deps.Store.Subscribe(ctx, team.ID, other.ID, role.ID), fault.Conflict, nil)
}

func (t *Teams) unsubscribe(ctx context.Context, by operation.Actor, one OneSubscription) (none operation.None, err error) {
	team, other, role, err := t.ownSubscription(ctx, by, one)
	if err != nil {
		return none, err
	}
	return none, fault.When(t.deps.Store.Unsubscribe(ctx, team.ID, other.ID, role.ID), fault.NotFound, errNotSubscribed)
}

// ownSubscription finds a team whose administrator the caller is, another team, and a role. The fault of another team or
// a role that does not exist names its field.
func (t *Teams) ownSubscription(ctx context.Context, by operation.Actor, one OneSubscription) (team, other oncall.Profile, role oncall.RoleInfo, err error) {
	if team, err = t.deps.Administrators.Own(ctx, by, one.Team); err != nil {
		return team, other, role, err
	}
	missing := &fault.Error{Kind: fault.NotFound, Field: "other", Message: "there is no such team"}
	if other, err = t.deps.Finder.ActiveTeam(ctx, one.Other); err != nil {
		return team, other, role, fault.When(err, fault.NotFound, missing)
	}
	missing = &fault.Error{Kind: fault.NotFound, Field: "role", Message: "there is no such on-call role"}
	role, err = t.deps.Finder.Role(ctx, one.Role)
	return team, other, role, fault.When(err, fault.NotFound, missing)
}
