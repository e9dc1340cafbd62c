package irisapi

import (
	"context"
	"net/http"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/legacy/params"
	"github.com/iris-oncall/iris/internal/notifications"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// get answers with the people that a role of a target means now, and with the profile of each.
func (t targets) get(w http.ResponseWriter, r *http.Request) error {
	var asked [2]string
	for n, name := range []string{"role", "target"} {
		value, given, err := Parameter(r, name)
		if err != nil {
			return err
		}
		if !given {
			return params.Missing(name)
		}
		asked[n] = value
	}
	people := map[string]Record{}
	problem, ids, err := t.meant(r.Context(), asked[0], asked[1])
	if err != nil {
		return err
	}
	for _, id := range ids {
		profile, err := t.Settings.Profile(r.Context(), id)
		if fault.Is(err, fault.NotFound) {
			continue // deleted since the resolution
		}
		if err != nil {
			return err
		}
		people[profile.Name] = userPage(wire.Actor(r.Context()).Sight(), profile)
	}
	return Answer(w, Record{{"error", OrNull(problem)}, {"users", people}}, nil)
}

// meant resolves a role of a target. problem is the text that says why the role means nobody.
func (t targets) meant(ctx context.Context, role, target string) (problem string, ids []users.ID, err error) {
	q, err := t.Acceptor.Query(ctx, notifications.Target{Role: role, Name: target}, "target")
	if fault.Is(err, fault.Invalid) {
		return "invalid role " + role + " for target " + target, nil, nil
	}
	if err != nil {
		return "", nil, err
	}
	answer, err := t.Acceptor.Resolver.Resolve(ctx, q, t.Acceptor.Clock.Now())
	switch {
	case fault.Is(err, fault.NotFound) || fault.Is(err, fault.Invalid):
		return fault.Public(err), nil, nil
	case err != nil:
		return "", nil, err
	case len(answer.Users) == 0:
		return answer.Rule, nil, nil
	}
	return "", answer.Users, nil
}
