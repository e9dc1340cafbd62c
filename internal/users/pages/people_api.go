// This file serves the people and teams of /v1, and who is on call. It shows contacts only of those who are on call;
// package oncall/pages shows people their own.

package pages

import (
	"context"
	"net/http"
	"slices"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/listing"
	"github.com/iris-oncall/iris/internal/web/routing"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// People reads people. A person who does not exist is a NotFound fault.
type People interface {
	ByName(ctx context.Context, name string) (oncall.Person, error)
	Teams(ctx context.Context, id users.ID) ([]oncall.TeamName, error)
}

// Teams reads teams and their people. A team that does not exist is a NotFound fault.
type Teams interface {
	Names(ctx context.Context, active bool) ([]oncall.TeamName, error)
	ByName(ctx context.Context, name string) (oncall.Profile, error)
	People(ctx context.Context, team int64) ([]oncall.TeamPerson, error)
}

// Deps are the parts that the routes work on. All are required.
type Deps struct {
	People   People
	Accounts Accounts
	Teams    Teams
	Rules    Rules
	Quiet    Quiet
	Display  Display
	OnCall   OnCall
	// Region is the country of phone numbers without a country code.
	Region users.Region `optional:"true"`
}

// The routes by resource.
type (
	persons struct{ Deps }
	teams   struct{ Deps }
)

// APIRoutes returns the routes on the parts.
func APIRoutes(d Deps) []routing.Route {
	return slices.Concat(persons{d}.routes(), display{d}.routes(), rules{d}.routes(), apiQuiet{d}.routes(),
		teams{d}.routes(), onCall{d}.routes())
}

func (a teams) routes() []routing.Route {
	return []routing.Route{
		routing.Get("/v1/teams", routing.Someone, a.list),
		routing.Get("/v1/teams/{team}", routing.Someone, a.get),
	}
}

// team is a team as lists show it.
type team struct {
	Name  string  `json:"name"`
	Email *string `json:"email"`
}

// wholeTeam is a team as its own route shows it.
type wholeTeam struct {
	team
	Description  *string  `json:"description"`
	TimeZone     string   `json:"time_zone"`
	SlackChannel *string  `json:"slack_channel"`
	Plan         *string  `json:"plan"`
	Members      []string `json:"members"`
	Managed      []string `json:"managed_members"` // those whose membership groups of single sign-on give
	Admins       []string `json:"admins"`
}

func (a teams) list(w http.ResponseWriter, r *http.Request) error {
	q, err := listing.Read(r)
	if err != nil {
		return err
	}
	all, err := a.Teams.Names(r.Context(), true)
	if err != nil {
		return err
	}
	name := func(t oncall.TeamName) string { return t.Name }
	listing.Sort(all, name)
	return listing.AnswerNamed(w, q, all,
		func(t oncall.TeamName) any { return team{Name: t.Name, Email: listing.OrNull(t.Email)} }, name)
}

func (a teams) get(w http.ResponseWriter, r *http.Request) error {
	gone := fault.New(fault.NotFound, "there is no such team")
	name := wire.Param(r, "team")
	if !wire.Storable(name) {
		return gone
	}
	t, err := a.Teams.ByName(r.Context(), name)
	if err == nil && !t.Active {
		err = gone
	}
	if err != nil {
		return fault.When(err, fault.NotFound, gone)
	}
	found, err := a.Teams.People(r.Context(), t.ID)
	if err != nil {
		return err
	}
	body := wholeTeam{team: team{Name: t.Name, Email: listing.OrNull(t.Email)},
		Description: listing.OrNull(t.Description), TimeZone: t.TimeZone,
		SlackChannel: listing.OrNull(t.SlackChannel), Plan: listing.OrNull(t.IrisPlan), Members: []string{}, Managed: []string{}, Admins: []string{}}
	for _, p := range found {
		if p.Member {
			body.Members = append(body.Members, p.Name)
		}
		if p.Managed {
			body.Managed = append(body.Managed, p.Name)
		}
		if p.Admin {
			body.Admins = append(body.Admins, p.Name)
		}
	}
	return routing.Answer(w, http.StatusOK, body)
}
