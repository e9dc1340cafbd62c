package pages

import (
	"context"
	"net/http"
	"time"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/oncall/scheduling"
	"github.com/iris-oncall/iris/internal/web/listing"
	"github.com/iris-oncall/iris/internal/web/routing"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// OnCall finds who is on call. A team, service or role that does not exist is a NotFound fault, a time that cannot be
// read an Invalid one.
type OnCall interface {
	Who(ctx context.Context, a scheduling.Ask) ([]scheduling.Team, error)
}

// Deps are the parts that the routes work on. All are required.
type Deps struct {
	OnCall OnCall
}

type onCall struct{ Deps }

// APIRoutes returns the routes on the parts.
func APIRoutes(d Deps) []routing.Route {
	return []routing.Route{routing.Get("/v1/oncall", routing.Someone, onCall{d}.get)}
}

// The period of hand-offs and gaps.
const (
	usualAhead = 30 * 24 * time.Hour
	mostAhead  = 2 * 366 * 24 * time.Hour
)

// get answers with who is on call for a team, or for the teams of a service.
func (a onCall) get(w http.ResponseWriter, r *http.Request) error {
	q, err := listing.Read(r, "team", "service", "role", "at", "for")
	if err != nil {
		return err
	}
	ask := scheduling.Ask{Ahead: usualAhead}
	for name, into := range map[string]*string{"team": &ask.Team, "service": &ask.Service, "role": &ask.Role, "at": &ask.At} {
		if *into, _ = q.Text(name); !wire.Storable(*into) {
			return fault.Newf(fault.NotFound, "there is no such %s", name)
		}
	}
	if (ask.Team == "") == (ask.Service == "") {
		return fault.Invalidf("team", "either team or service is required")
	}
	if text, ok := q.Text("for"); ok {
		if ask.Ahead, err = time.ParseDuration(text); err != nil || ask.Ahead <= 0 || ask.Ahead > mostAhead {
			return fault.Invalidf("for", "for must be a duration such as 24h, at most two years")
		}
	}
	found, err := a.OnCall.Who(r.Context(), ask)
	if err != nil {
		return err
	}
	hideSecrets(wire.Actor(r.Context()), found)
	name := func(t scheduling.Team) string { return t.Team }
	listing.Sort(found, name)
	return listing.AnswerNamed(w, q, found, func(t scheduling.Team) any { return t }, name)
}

// hideSecrets leaves of the contacts what the caller sees. All the people are on call.
func hideSecrets(caller auth.Actor, found []scheduling.Team) {
	for _, t := range found {
		for _, r := range t.Roles {
			for i, p := range r.People {
				r.People[i].Contacts = caller.Sight(map[string]bool{p.Name: true}).Contacts(p.Name, p.Contacts)
			}
		}
	}
}
