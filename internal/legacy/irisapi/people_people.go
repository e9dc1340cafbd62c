package irisapi

import (
	"net/http"
	"strconv"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/routing"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// self serves a route about the person of the path to callers who may manage that person. Other callers do not learn whether
// the person exists.
func (d PeopleDeps) self(h func(http.ResponseWriter, *http.Request, users.User) error) routing.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		u, err := d.known(r)
		if err != nil {
			return err
		}
		return h(w, r, u)
	}
}

// known finds the person of the path for callers who may manage that person. Other callers get the same refusal, whether or
// not the person exists.
func (d PeopleDeps) known(r *http.Request) (users.User, error) {
	u, err := Person(r.Context(), d.People, wire.Param(r, "username"))
	if refused := wire.Actor(r.Context()).MaySelf(u); refused != nil && (err == nil || fault.Is(err, fault.NotFound)) {
		return u, refused
	}
	return u, err
}

// show answers with the profile of a person. A number in the path is the number of a target. People may read their own profile
// by name only; administrators and applications that act for people may also use the number.
func (p profiles) show(w http.ResponseWriter, r *http.Request) error {
	name := wire.Param(r, "username")
	if !Digits(name) {
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
	return Answer(w, userPage(wire.Actor(r.Context()).Sight(nil), profile), err)
}

// userPage is the profile of a person on the wire, as the caller sees it.
func userPage(sight auth.Sight, profile users.Profile) Record {
	// The wire has one category for each application, the last one. The route of categories has all.
	categories := map[string]Record{}
	for _, c := range profile.Categories {
		categories[c.Application] = Record{{"application_name", c.Application}, {"mode", c.Mode}, {"category", c.Category}}
	}
	devices := make([]Record, len(profile.Devices))
	for i, d := range profile.Devices {
		devices[i] = Record{{"registration_id", sight.Contact(profile.Name, users.Push, d.RegistrationID)}, {"user_id", profile.TargetID}, {"platform", d.Platform}}
	}
	return Record{
		{"name", profile.Name}, {"admin", profile.Admin}, {"template_overrides", routing.OrEmpty(profile.FixedTexts)},
		{"category_overrides", categories}, {"modes", profile.Modes}, {"device", devices}, {"per_app_modes", profile.AppModes},
		{"teams", routing.OrEmpty(profile.Teams)}, {"contacts", sight.Contacts(profile.Name, profile.Contacts)},
	}
}

func noSuchPerson() error { return fault.New(fault.NotFound, "no such person") }
