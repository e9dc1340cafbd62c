package irisapi

import (
	"context"

	"github.com/iris-oncall/iris/internal/notifications"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/routing"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// Profiles stores the settings of people. In this and the other interfaces, a person or object that does not exist is a
// NotFound fault. The name of an application or category that does not exist is an Invalid fault with the text of the route.
// Every change is in the audit log under the name by.
type Profiles interface {
	ByTarget(ctx context.Context, targetID int64) (users.User, error)
	Profile(ctx context.Context, id users.ID) (users.Profile, error)
	// Others returns the settings that have no field in the profile.
	Others(ctx context.Context, id users.ID) (map[string]string, error)
	SetTimeZone(ctx context.Context, u users.User, zone, by string) error
	SetFixedText(ctx context.Context, u users.User, mode users.Mode, fixed bool, by string) error
}

// Modes stores the modes that people choose for priorities.
type Modes interface {
	Modes(ctx context.Context, id users.ID, application string) (map[users.Priority]users.Mode, error)
	SetModes(ctx context.Context, u users.User, choices []users.ModeChoice, by string) error
}

// Reprioritisations stores the rules that move messages to another mode when one mode has too many.
type Reprioritisations interface {
	Reprioritisations(ctx context.Context, id users.ID) ([]users.Reprioritisation, error)
	SetReprioritisation(ctx context.Context, u users.User, r users.Reprioritisation, by string) error
	RemoveReprioritisation(ctx context.Context, u users.User, source users.Mode, by string) error
}

// Categories stores the modes that people choose for categories of applications.
type Categories interface {
	Categories(ctx context.Context, id users.ID, application string) ([]users.CategoryChoice, error)
	SetCategories(ctx context.Context, u users.User, choices []users.CategoryChoice, by string) error
	ClearCategories(ctx context.Context, u users.User, application, by string) error
}

// Devices stores the phones that take push messages.
type Devices interface {
	RegisterDevice(ctx context.Context, u users.User, d users.Device, by string) error
}

// PeopleDeps are the parts that the routes work on. All but SlackID are required.
type PeopleDeps struct {
	People            wire.People
	Profiles          Profiles
	Modes             Modes
	Reprioritisations Reprioritisations
	Categories        Categories
	Devices           Devices
	// Acceptor finds the people that a target means.
	Acceptor *notifications.Acceptor
	// SlackID returns the Slack id of the person with an e-mail address. It returns a NotFound fault if there is none. nil = Slack
	// is not configured.
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
