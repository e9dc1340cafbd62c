package servicetokens_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/auth/servicetokens"
	"github.com/iris-oncall/iris/internal/auth/tokens"
	"github.com/iris-oncall/iris/internal/users"
)

var ofTeam, ofAdministrators = tokens.Service{ID: 1, TeamID: 7, Team: "ops",
	Scopes: tokens.Scopes{tokens.Admin}}, tokens.Service{ID: 2, Scopes: tokens.Scopes{tokens.Admin}}

// store has the two tokens, and the team ops.
type store struct {
	servicetokens.Store
	administered []int64 // by the person who asks
}

func (store) Service(_ context.Context, id tokens.ID) (tokens.Service, error) {
	return map[tokens.ID]tokens.Service{1: ofTeam, 2: ofAdministrators}[id], nil
}

func (store) CreateService(_ context.Context, s tokens.Service, _ time.Duration, _ []byte) (tokens.Service, error) {
	return s, nil
}

func (store) RevokeService(context.Context, tokens.ID, string) error { return nil }

func (store) ByName(context.Context, string) (users.OwningTeam, error) {
	return users.OwningTeam{ID: 7, Name: "ops"}, nil
}

func (s store) MembershipsOf(context.Context, users.ID) (out []users.Membership, err error) {
	for _, id := range s.administered {
		out = append(out, users.Membership{TeamID: id, Admin: true})
	}
	return append(out, users.Membership{TeamID: 8}), nil
}

// Every operation decides alike who manages a token.
func TestWhoManagesServiceTokens(t *testing.T) {
	t.Parallel()
	person := func(admin bool) auth.Actor {
		return auth.Actor{ApplicationID: 1, UserID: 1, Username: "ann", Session: true, Admin: admin}
	}
	for name, c := range map[string]struct {
		actor                auth.Actor
		administered         []int64
		team, administrators bool
	}{
		"an administrator":                    {person(true), nil, true, true},
		"an administrator of the team":        {person(false), []int64{3, 7}, true, false},
		"an administrator of another team":    {person(false), []int64{3}, false, false},
		"a person with a wrong team":          {person(false), []int64{0}, false, false},
		"a service token of the team":         {auth.ByService(auth.Application{ID: 1}, ofTeam), []int64{7}, false, false},
		"a service token of administrators":   {auth.ByService(auth.Application{ID: 1}, ofAdministrators), nil, false, false},
		"an application that acts for people": {auth.Actor{ApplicationID: 1, UserID: 1, Username: "ann", ActsForUsers: true, Admin: true}, nil, false, false},
		"nobody":                              {auth.Actor{}, nil, false, false},
	} {
		s := store{administered: c.administered}
		o, by := servicetokens.NewServices(s, s, s, time.Hour), c.actor.Caller(auth.Openings{})
		wanted := tokens.New{Name: "job", Scopes: []string{"read"}}
		for id, may := range map[tokens.ID]bool{1: c.team, 2: c.administrators} {
			_, err := o.Get.Do(t.Context(), by, servicetokens.One{ID: id})
			require.Equal(t, may, err == nil, "%s: %v", name, err)
			_, err = o.Revoke.Do(t.Context(), by, servicetokens.One{ID: id})
			require.Equal(t, may, err == nil, "%s: %v", name, err)
		}
		_, err := o.Create.Do(t.Context(), by, servicetokens.New{New: wanted, Team: "ops"})
		require.Equal(t, c.team, err == nil, "%s: %v", name, err)
		made, err := o.Create.Do(t.Context(), by, servicetokens.New{New: wanted})
		require.Equal(t, c.administrators, err == nil, "%s: %v", name, err)
		require.Equal(t, c.administrators, made.Secret != "", name)
	}
}
