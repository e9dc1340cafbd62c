package irisapi

import (
	"context"
	"net/http"
	"strconv"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/notifications"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/routing"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// Settings stores what only /v0 has of people: the profile, the numbers of targets, and the registration of phones that
// take push messages.
type Settings interface {
	ByTarget(ctx context.Context, targetID int64) (users.User, error)
	Profile(ctx context.Context, id users.ID) (users.Profile, error)
	// Others returns the settings that have no field in the profile.
	Others(ctx context.Context, id users.ID) (map[string]string, error)
	RegisterDevice(ctx context.Context, u users.User, d users.Device, by string) error
}

// PeopleDeps are the parts that the routes work on. All but SlackID are required.
type PeopleDeps struct {
	People      users.Finder
	Settings    Settings
	Preferences *users.Preferences
	// Acceptor finds the people that a target means.
	Acceptor *notifications.Acceptor
	// SlackID returns the Slack id of the person with an e-mail address. It returns a NotFound fault if there is none.
	// nil = Slack is not configured.
	SlackID func(ctx context.Context, email string) (string, error) `optional:"true"`
	// TimeZones are the time zones that people may choose.
	TimeZones []string
	// Mobile serves the route on which DeviceApplications register phones.
	Mobile             bool
	DeviceApplications []string
	// InternalApplications may use the routes below /v0/internal.
	InternalApplications []string
}

// The routes by resource.
type (
	profiles          struct{ PeopleDeps }
	settings          struct{ PeopleDeps }
	modes             struct{ PeopleDeps }
	reprioritisations struct{ PeopleDeps }
	categories        struct{ PeopleDeps }
	slackIDs          struct{ PeopleDeps }
	devices           struct{ PeopleDeps }
	targets           struct{ PeopleDeps }
)

// Routes returns the routes on the parts.
func Routes(d PeopleDeps) []routing.Route {
	person, setting, mode, rule, category := profiles{d}, settings{d}, modes{d}, reprioritisations{d}, categories{d}
	const (
		ofSettings   = "/v0/users/settings/{username}"
		ofModes      = "/v0/users/modes/{username}"
		ofRules      = "/v0/users/reprioritization/{username}"
		ofCategories = "/v0/users/{username}/categories/{application}"
	)
	routes := []routing.Route{
		routing.Get("/v0/users/{username}", routing.Someone, person.show),
		routing.Get(ofSettings, routing.Someone, d.self(setting.get)),
		routing.Put(ofSettings, routing.Someone, d.self(setting.set)),
		routing.Post("/v0/users/overrides/{username}", routing.Someone, d.self(setting.setOverrides)),
		routing.Get(ofModes, routing.Someone, d.self(mode.get)),
		routing.Post(ofModes, routing.Someone, d.self(mode.set)),
		routing.Get(ofRules, routing.Someone, d.self(rule.get)),
		routing.Post(ofRules, routing.Someone, d.self(rule.set)),
		routing.Delete(ofRules+"/{mode}", routing.Someone, d.self(rule.remove)),
		routing.Get("/v0/users/{username}/categories", routing.Someone, d.self(category.get)),
		routing.Get(ofCategories, routing.Someone, d.self(category.get)),
		routing.Post(ofCategories, routing.Someone, category.set),
		routing.Delete(ofCategories, routing.Someone, d.self(category.clear)),
		routing.Get("/v0/users/{username}/slackid", routing.Read, slackIDs{d}.get),
		routing.Get("/v0/internal/target", routing.Someone, Internal(d.InternalApplications, targets{d}.get)),
	}
	if d.Mobile {
		routes = append(routes, routing.Post("/v0/devices", routing.Someone, devices{d}.register))
	}
	return routes
}

// self serves a route about the person of the path to callers who may manage that person. Other callers do not learn
// whether the person exists.
func (d PeopleDeps) self(h func(http.ResponseWriter, *http.Request, users.User) error) routing.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		u, err := d.known(r)
		if err != nil {
			return err
		}
		return h(w, r, u)
	}
}

// caller returns the caller of a request as operations see it.
func (PeopleDeps) caller(r *http.Request) operation.Actor {
	return wire.Actor(r.Context()).Caller(auth.Openings{})
}

// onePerson names a person for an operation.
func onePerson(u users.User) users.OnePerson { return users.OnePerson{User: u.Name} }

// known finds the person of the path for callers who may manage that person. Other callers get the same refusal,
// whether or not the person exists.
func (d PeopleDeps) known(r *http.Request) (users.User, error) {
	u, err := Person(r.Context(), d.People, wire.Param(r, "username"))
	if refused := wire.Actor(r.Context()).MaySelf(u); refused != nil && (err == nil || fault.Is(err, fault.NotFound)) {
		return u, refused
	}
	return u, err
}

// show answers with the profile of a person. A number in the path is the number of a target. People may read their own
// profile by name only; administrators and applications that act for people may also use the number.
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
	u, err := p.Settings.ByTarget(r.Context(), id)
	if err == nil {
		err = wire.Actor(r.Context()).MaySelf(u)
	}
	if err != nil {
		return err
	}
	return p.showUser(w, r, u)
}

func (p profiles) showUser(w http.ResponseWriter, r *http.Request, u users.User) error {
	profile, err := p.Settings.Profile(r.Context(), u.ID)
	return Answer(w, userPage(wire.Actor(r.Context()).Sight(), profile), err)
}

// userPage is the profile of a person on the wire, as the caller sees it.
func userPage(sight auth.Sight, profile users.Profile) Record {
	// The wire has one category for each application, the last one. The route of categories has all.
	categories := map[string]Record{}
	for _, c := range profile.Categories {
		categories[c.Application] = Record{{"application_name", c.Application}, {"mode", c.Mode},
			{"category", c.Category}}
	}
	devices := make([]Record, len(profile.Devices))
	for i, d := range profile.Devices {
		devices[i] = Record{{"registration_id", sight.Contact(profile.Name, users.Push, d.RegistrationID)},
			{"user_id", profile.TargetID}, {"platform", d.Platform}}
	}
	return Record{
		{"name", profile.Name}, {"admin", profile.Admin}, {"template_overrides", routing.OrEmpty(profile.FixedTexts)},
		{"category_overrides", categories}, {"modes", profile.Modes}, {"device", devices}, {"per_app_modes",
			profile.AppModes},
		{"teams", routing.OrEmpty(profile.Teams)}, {"contacts", sight.Contacts(profile.Name, profile.Contacts)},
	}
}

func noSuchPerson() error { return fault.New(fault.NotFound, "no such person") }
