package oncallapi

import (
	"net/http"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/legacy/jsonbody"
	"github.com/iris-oncall/iris/internal/web/routing"
)

func (a pins) routes() []routing.Route {
	return []routing.Route{
		routing.Get("/api/v0/users/{user}/pinned_teams", routing.Read, a.pinnedTeams),
		routing.Post("/api/v0/users/{user}/pinned_teams", routing.Self, a.pinTeam),
		routing.Delete("/api/v0/users/{user}/pinned_teams/{team}", routing.Self, a.unpinTeam),
	}
}

// pinnedTeams answers with the names of a person's pinned teams.
func (a pins) pinnedTeams(w http.ResponseWriter, r *http.Request) error {
	u, err := a.People.ByName(r.Context(), routing.Param(r, "user"))
	if fault.Is(err, fault.NotFound) {
		return routing.Answer(w, http.StatusOK, []string{})
	}
	if err != nil {
		return err
	}
	names, err := a.Users.Pinned(r.Context(), u.ID)
	if err != nil {
		return err
	}
	return routing.Answer(w, http.StatusOK, routing.OrEmpty(names))
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
	t, err := a.ActiveTeam(r.Context(), team)
	if err != nil {
		return fault.When(err, fault.NotFound, Integrity(`team "`+team+`" not found`))
	}
	err = a.Users.Pin(r.Context(), u.ID, t.ID)
	return routing.Done(w, http.StatusCreated, fault.When(err, fault.Conflict,
		fault.Titled(title, "Team already pinned for this user")))
}

// unpinTeam removes a pin.
func (a pins) unpinTeam(w http.ResponseWriter, r *http.Request) error {
	u, err := a.Person(r)
	if err != nil {
		return err
	}
	t, err := a.Teams.ByName(r.Context(), routing.Param(r, "team"))
	if err != nil {
		return err
	}
	return routing.Done(w, http.StatusOK, a.Users.Unpin(r.Context(), u.ID, t.ID))
}
