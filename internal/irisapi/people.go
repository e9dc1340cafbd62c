package irisapi

import (
	"context"
	"net/http"
	"strconv"

	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/wire"
)

// Profiles keeps what people choose for themselves. People and what belongs to them that do not exist are NotFound
// faults, names of applications and categories that do not exist are Invalid ones in the words of the routes. Every change
// is in the audit log under the name of who did it (by).
type Profiles interface {
	ByTarget(ctx context.Context, targetID int64) (users.User, error)
	Profile(ctx context.Context, id users.ID) (users.Profile, error)
	Modes(ctx context.Context, id users.ID, application string) (map[users.Priority]users.Mode, error)
	SetModes(ctx context.Context, u users.User, choices []users.ModeChoice, by string) error
	Others(ctx context.Context, id users.ID) (map[string]string, error)
	SetTimeZone(ctx context.Context, u users.User, zone, by string) error
	SetFixedText(ctx context.Context, u users.User, mode users.Mode, fixed bool, by string) error
	Reprioritisations(ctx context.Context, id users.ID) ([]users.Reprioritisation, error)
	SetReprioritisation(ctx context.Context, u users.User, r users.Reprioritisation, by string) error
	RemoveReprioritisation(ctx context.Context, u users.User, source users.Mode, by string) error
	Categories(ctx context.Context, id users.ID, application string) ([]users.CategoryChoice, error)
	SetCategories(ctx context.Context, u users.User, choices []users.CategoryChoice, by string) error
	ClearCategories(ctx context.Context, u users.User, application, by string) error
	RegisterDevice(ctx context.Context, u users.User, d users.Device, by string) error
}

// people are the routes about one person.
type people struct {
	find     wire.People
	settings Profiles
	slackID  func(ctx context.Context, email string) (string, error) // nil = Slack is not configured
	zones    []string
	mobile   bool
	devices  []string // applications that may register phones
}

func newPeople(d Deps) *people {
	return &people{find: d.People, settings: d.Profiles, slackID: d.SlackID, zones: d.Config.TimeZones,
		mobile: d.Config.Mobile, devices: d.Config.DeviceApplications}
}

func (p *people) table() []route {
	routes := []route{
		{get, "/v0/users/{username}", someone, p.show},
		{get, "/v0/users/settings/{username}", someone, p.self(p.getSettings)},
		{put, "/v0/users/settings/{username}", someone, p.self(p.setSettings)},
		{get, "/v0/users/modes/{username}", someone, p.self(p.getModes)},
		{post, "/v0/users/modes/{username}", someone, p.self(p.setModes)},
		{post, "/v0/users/overrides/{username}", someone, p.self(p.setOverrides)},
		{get, "/v0/users/reprioritization/{username}", someone, p.self(p.getReprioritisations)},
		{post, "/v0/users/reprioritization/{username}", someone, p.self(p.setReprioritisation)},
		{del, "/v0/users/reprioritization/{username}/{mode}", someone, p.self(p.removeReprioritisation)},
		{get, "/v0/users/{username}/categories", someone, p.self(p.getCategories)},
		{get, "/v0/users/{username}/categories/{application}", someone, p.self(p.getCategories)},
		{post, "/v0/users/{username}/categories/{application}", someone, p.setCategories},
		{del, "/v0/users/{username}/categories/{application}", someone, p.self(p.clearCategories)},
		{get, "/v0/users/{username}/slackid", read, p.slack},
	}
	if p.mobile {
		routes = append(routes, route{post, "/v0/devices", someone, p.registerDevice})
	}
	return routes
}

// self serves a route about the person named in the path to whoever may look after them. Who may not, learns nothing of
// whether there is such a person.
func (p *people) self(h func(http.ResponseWriter, *http.Request, users.User) error) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		u, err := p.known(r)
		if err != nil {
			return err
		}
		return h(w, r, u)
	}
}

// known finds the person of the path for whoever may look after them, and refuses everybody else in the same words whether or
// not there is such a person.
func (p *people) known(r *http.Request) (users.User, error) {
	u, err := lookUp(r.Context(), p.find, wire.Param(r, "username"))
	if refused := wire.Actor(r.Context()).MaySelf(u); refused != nil && (err == nil || fault.Is(err, fault.NotFound)) {
		return u, refused
	}
	return u, err
}

// lookUp finds a person by name. With a NotFound fault it returns a user that has the name alone, whom permissions take for
// somebody whom Iris does not know.
func lookUp(ctx context.Context, find wire.People, name string) (users.User, error) {
	u, err := find.ByName(ctx, name)
	if err != nil {
		u = users.User{Name: name}
	}
	return u, err
}

// show answers with everything about a person. A number is the public number of a target; permission is by the name as it
// stands in the path all the same, so only administrators and applications with powers get anywhere with one.
func (p *people) show(w http.ResponseWriter, r *http.Request) error {
	name := wire.Param(r, "username")
	if !digits(name) {
		return p.self(p.showUser)(w, r)
	}
	if err := wire.Actor(r.Context()).MaySelf(users.User{Name: name}); err != nil {
		return err
	}
	id, err := strconv.ParseInt(name, 10, 64)
	if err != nil {
		return noSuchPerson()
	}
	u, err := p.settings.ByTarget(r.Context(), id)
	if err == nil {
		err = wire.Actor(r.Context()).MaySelf(u)
	}
	if err != nil {
		return err
	}
	return p.showUser(w, r, u)
}

func (p *people) showUser(w http.ResponseWriter, r *http.Request, u users.User) error {
	profile, err := p.settings.Profile(r.Context(), u.ID)
	if err != nil {
		return err
	}
	wire.JSON(w, http.StatusOK, userPage(profile))
	return nil
}

// userPage is everything about a person.
func userPage(profile users.Profile) record {
	// The wire has one choice of category for each application: the last one. The route of categories has them all.
	categories := map[string]record{}
	for _, c := range profile.Categories {
		categories[c.Application] = record{{"application_name", c.Application}, {"mode", c.Mode}, {"category", c.Category}}
	}
	devices := make([]record, len(profile.Devices))
	for i, d := range profile.Devices {
		devices[i] = record{{"registration_id", d.RegistrationID}, {"user_id", profile.TargetID}, {"platform", d.Platform}}
	}
	return record{
		{"name", profile.Name}, {"admin", profile.Admin}, {"template_overrides", orEmpty(profile.FixedTexts)},
		{"category_overrides", categories}, {"modes", profile.Modes}, {"device", devices}, {"per_app_modes", profile.AppModes},
		{"teams", orEmpty(profile.Teams)}, {"contacts", profile.Contacts},
	}
}

func noSuchPerson() error { return fault.New(fault.NotFound, "no such person") }

// by names who makes a change, for the audit log.
func by(r *http.Request) string { return wire.Actor(r.Context()).String() }
