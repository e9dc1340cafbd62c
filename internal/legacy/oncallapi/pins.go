package oncallapi

import (
	"net/http"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/legacy/jsonbody"
	"github.com/iris-oncall/iris/internal/oncall/personal"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/routing"
)

func (a pins) routes() []routing.Route {
	return []routing.Route{
		routing.Get("/api/v0/users/{user}/pinned_teams", routing.Read, a.pinnedTeams),
		routing.Post("/api/v0/users/{user}/pinned_teams", routing.Self, a.pinTeam),
		routing.Delete("/api/v0/users/{user}/pinned_teams/{team}", routing.Self, a.unpinTeam),
	}
}

// pinnedTeams answers with the names of a person's pinned teams; an empty list for an unknown person.
func (a pins) pinnedTeams(w http.ResponseWriter, r *http.Request) error {
	found, err := a.Personal.Pins.Do(r.Context(), a.Caller(r), ofUser(r))
	names := make([]string, len(found.Items))
	for i, t := range found.Items {
		names[i] = t.Name
	}
	return routing.Reply(w, http.StatusOK, names, fault.When(err, fault.NotFound, nil))
}

// pinTeam pins a team for a person.
func (a pins) pinTeam(w http.ResponseWriter, r *http.Request) error {
	const title = "Invalid team pin"
	u, err := a.Person(r)
	if err != nil {
		return fault.When(err, fault.NotFound, Integrity(`user "`+routing.Param(r, "user")+`" not found`))
	}
	b, err := jsonbody.Read(w, r, title)
	if err != nil {
		return err
	}
	team, err := b.Text("team")
	if err != nil {
		return err
	}
	if team == "" {
		return fault.Titled(title, "Missing team parameter")
	}
	_, err = a.Personal.Pin.Do(r.Context(), a.Caller(r),
		personal.TeamPin{OnePerson: users.OnePerson{User: u.Name}, OneTeam: users.OneTeam{Team: team}})
	err = fault.When(err, fault.NotFound, Integrity(`team "`+team+`" not found`))
	return routing.Done(w, http.StatusCreated, fault.When(err, fault.Conflict,
		fault.Titled(title, "Team already pinned for this user")))
}

// unpinTeam removes a pin.
func (a pins) unpinTeam(w http.ResponseWriter, r *http.Request) error {
	_, err := a.Personal.Unpin.Do(r.Context(), a.Caller(r), personal.TeamPin{OnePerson: ofUser(r), OneTeam: ofTeam(r)})
	return routing.Done(w, http.StatusOK, err)
}
