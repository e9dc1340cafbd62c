package people

import (
	"net/http"
	"strconv"

	v0 "github.com/iris-oncall/iris/internal/irisapi/v0"
	"github.com/iris-oncall/iris/internal/wire/routing"

	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/wire"
)

// self serves a route about the person named in the path to whoever may look after them. Who may not, learns nothing of
// whether there is such a person.
func (d Deps) self(h func(http.ResponseWriter, *http.Request, users.User) error) routing.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		u, err := d.known(r)
		if err != nil {
			return err
		}
		return h(w, r, u)
	}
}

// known finds the person of the path for whoever may look after them, and refuses everybody else in the same words whether or
// not there is such a person.
func (d Deps) known(r *http.Request) (users.User, error) {
	u, err := v0.Person(r.Context(), d.People, wire.Param(r, "username"))
	if refused := wire.Actor(r.Context()).MaySelf(u); refused != nil && (err == nil || fault.Is(err, fault.NotFound)) {
		return u, refused
	}
	return u, err
}

// show answers with everything about a person. A number is the public number of a target; permission is by the name as it
// stands in the path all the same, so only administrators and applications with powers get anywhere with one.
func (p profiles) show(w http.ResponseWriter, r *http.Request) error {
	name := wire.Param(r, "username")
	if !v0.Digits(name) {
		return p.self(p.showUser)(w, r)
	}
	if err := wire.Actor(r.Context()).MaySelf(users.User{Name: name}); err != nil {
		return err
	}
	id, err := strconv.ParseInt(name, 10, 64)
	if err != nil {
		return noSuchPerson()
	}
	u, err := p.Profiles.ByTarget(r.Context(), id)
	if err == nil {
		err = wire.Actor(r.Context()).MaySelf(u)
	}
	if err != nil {
		return err
	}
	return p.showUser(w, r, u)
}

func (p profiles) showUser(w http.ResponseWriter, r *http.Request, u users.User) error {
	profile, err := p.Profiles.Profile(r.Context(), u.ID)
	if err != nil {
		return err
	}
	return routing.Answer(w, http.StatusOK, userPage(profile))
}

// userPage is everything about a person.
func userPage(profile users.Profile) v0.Record {
	// The wire has one choice of category for each application: the last one. The route of categories has them all.
	categories := map[string]v0.Record{}
	for _, c := range profile.Categories {
		categories[c.Application] = v0.Record{{"application_name", c.Application}, {"mode", c.Mode}, {"category", c.Category}}
	}
	devices := make([]v0.Record, len(profile.Devices))
	for i, d := range profile.Devices {
		devices[i] = v0.Record{{"registration_id", d.RegistrationID}, {"user_id", profile.TargetID}, {"platform", d.Platform}}
	}
	return v0.Record{
		{"name", profile.Name}, {"admin", profile.Admin}, {"template_overrides", routing.OrEmpty(profile.FixedTexts)},
		{"category_overrides", categories}, {"modes", profile.Modes}, {"device", devices}, {"per_app_modes", profile.AppModes},
		{"teams", routing.OrEmpty(profile.Teams)}, {"contacts", profile.Contacts},
	}
}

func noSuchPerson() error { return fault.New(fault.NotFound, "no such person") }
