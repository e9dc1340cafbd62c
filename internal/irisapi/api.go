// Package irisapi serves the JSON API v0: it decodes a request, decides by auth whether the caller may, calls one method
// of a domain or adapter, and encodes the answer. What is on the wire - names, titles, integers for flags, empty bodies -
// is what Iris's clients rely on; where Iris was too open or answered 500 to bad input, this package is strict.
// Routes are declared in one table (routes.go).
package irisapi

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/cache"
	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/filters"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/notifications"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/wire"
	"github.com/iris-oncall/iris/internal/wire/replay"
)

// Incidents opens, answers and reads incidents. Every answer to a change comes when it is durable.
type Incidents interface {
	List(ctx context.Context, q filters.Query) ([]incidents.Incident, error)
	Get(ctx context.Context, id incidents.ID) (incidents.Incident, error)
	Open(ctx context.Context, n incidents.New) (incidents.Opened, error)
	Acknowledge(ctx context.Context, c incidents.Change, owner users.User) ([]incidents.Acknowledged, error)
	Reopen(ctx context.Context, c incidents.Change) ([]incidents.Acknowledged, error)
	Resolve(ctx context.Context, c incidents.Change, resolved bool) ([]incidents.Acknowledged, error)
	// Count counts what List would return, and per value of the fields.
	Count(ctx context.Context, q filters.Query, fields []string) (filters.Tally, error)
	AddComment(ctx context.Context, id incidents.ID, author users.User, content string) (int64, error)
	Comments(ctx context.Context, id incidents.ID) ([]incidents.Comment, error)
}

// Plans stores versions of plans.
type Plans interface {
	List(ctx context.Context, q filters.Query) ([]escalation.Plan, error)
	Count(ctx context.Context, q filters.Query, fields []string) (filters.Tally, error)
	ByID(ctx context.Context, id escalation.PlanID) (escalation.PlanSteps, error)
	ByName(ctx context.Context, name string) (escalation.PlanSteps, error)
	// Recent is ByName, up to a second old.
	Recent(ctx context.Context, name string) (escalation.PlanSteps, error)
	HasWords(ctx context.Context, plan escalation.PlanID, applicationID int64) (bool, error)
	Reach(ctx context.Context, targets, templates []string) (escalation.Reach, error)
	Create(ctx context.Context, d escalation.PlanContent) (escalation.PlanID, error)
	SetActive(ctx context.Context, id escalation.PlanID, active bool) error
	Delete(ctx context.Context, name string) error
}

// Templates stores versions of templates.
type Templates interface {
	List(ctx context.Context, q filters.Query) ([]messages.TemplateVersion, error)
	Count(ctx context.Context, q filters.Query, fields []string) (filters.Tally, error)
	ByID(ctx context.Context, id messages.TemplateID) (messages.TemplateDetails, error)
	ByName(ctx context.Context, name string) (messages.TemplateDetails, error)
	Create(ctx context.Context, d messages.NewTemplate) (messages.TemplateID, error)
	SetActive(ctx context.Context, id messages.TemplateID, active bool) error
}

// Messages reads messages, queued or past.
type Messages interface {
	List(ctx context.Context, q filters.Query) ([]messages.Message, error)
	Get(ctx context.Context, id messages.ID) (messages.Message, error)
	ByIncident(ctx context.Context, id incidents.ID) ([]messages.Message, error)
	Changes(ctx context.Context, id messages.ID) ([]messages.Change, error)
	ReceiptStatus(ctx context.Context, id messages.ID, vendor string) (string, error)
}

// Applications finds applications and the variables they declared, as they are now.
type Applications interface {
	auth.Applications
	Variables(ctx context.Context, id int64) ([]string, error)
}

// Queues tells what waits for delivery.
type Queues interface {
	Depths(ctx context.Context) ([]messages.QueueDepth, error)
}

// Config holds what operators can choose. The zero value is the default.
type Config struct {
	// Openings are the holes of the predecessors that clients may still need.
	Openings auth.Openings
	// MaxPlanLength refuses plans that take longer than this; 0 = any length, as Iris did in effect.
	MaxPlanLength time.Duration
	// NotificationLifetime is for how long an out-of-band notification is worth sending; 0 = 1 hour.
	NotificationLifetime time.Duration
	// HealthcheckFile holds the text of /healthcheck in its first line; "" = GOOD, always.
	HealthcheckFile string
	// ListLimit is the size from which on a mailing list stands for nobody; 0 = any size will do. The resolver has it, too.
	ListLimit int
	// Tags are the names of tags that may be attached to things; empty = none.
	Tags []string
	// InternalApplications may use the routes below /v0/internal.
	InternalApplications []string
	// DummyRoles: the Resolver answers for any role of any target, also for those that do not exist.
	DummyRoles bool
	// TimeZones are those that people may choose.
	TimeZones []string
	// Mobile serves the route on which DeviceApplications register phones for push messages.
	Mobile             bool
	DeviceApplications []string
}

// Load says whether so much of an application waits that it must wait itself, and counts what is accepted.
type Load interface {
	Overloaded(ctx context.Context, app auth.Application) (time.Duration, error)
	Notifications(ctx context.Context, app auth.Application) time.Duration
	Accepted(applicationID int64, n int)
}

// Rates says whether an application may open another incident on a plan version; if not, with a Throttled fault.
type Rates interface {
	Check(ctx context.Context, app auth.Application, plan int64) error
}

// Deps are the parts that the API works on. All but SlackID and Rates are required.
type Deps struct {
	Authenticator *wire.Authenticator
	Errors        *wire.Errors
	Incidents     Incidents
	Plans         Plans
	Templates     Templates
	Messages      Messages
	Notifications notifications.Store
	Applications  Applications
	Directory     notifications.Directory
	Resolver      notifications.Resolver
	People        wire.People
	Profiles      Profiles
	Targets       Targets
	Categories    Categories
	Queues        Queues
	// Begin begins units of work for requests that carry an Idempotency-Key.
	Begin replay.Begin[Deps]
	Load  Load
	// SlackID finds who has an e-mail address in Slack: their id there, or a NotFound fault. nil = Slack is not configured.
	SlackID func(ctx context.Context, email string) (string, error)
	// Teammates reports whether two people belong to the same active team.
	Teammates func(ctx context.Context, one, other users.ID) (bool, error)
	// What people set of applications.
	Settings        ApplicationSettings
	ApplicationKeys ApplicationKeys
	Limits          ApplicationLimits
	Tags            Tags
	States          States
	Aggregations    Aggregations
	Statistics      Statistics
	// Rates bounds how many incidents are opened; nil = any number.
	Rates Rates
	// Syntax reports what is wrong with a Jinja2 template, nil when nothing is.
	Syntax func(source string) error
	// Wake tells the processors of changed buckets; it never blocks.
	Wake func(buckets.Set)
	// Ping reports whether the database answers.
	Ping       func(context.Context) error
	Registerer prometheus.Registerer
	Config     Config
}

// API serves the routes. It is safe for concurrent use.
type API struct {
	Deps
	metrics   *metrics
	variables *cache.Cache[int64, []string]
	acceptor  *notifications.Acceptor
	tagging   tagging
	turns     *wire.Turns
	keys      *replay.Keys[Deps]
}

// New checks that every part is there.
func New(d Deps) (*API, error) {
	if d.Authenticator == nil || d.Errors == nil || d.Incidents == nil || d.Plans == nil || d.Templates == nil ||
		d.Messages == nil || d.Notifications == nil || d.Applications == nil || d.Directory == nil || d.Resolver == nil ||
		d.People == nil || d.Profiles == nil || d.Targets == nil || d.Categories == nil ||
		d.Queues == nil || d.Begin == nil || d.Load == nil || d.Settings == nil || d.ApplicationKeys == nil || d.Limits == nil ||
		d.Tags == nil || d.States == nil || d.Aggregations == nil || d.Statistics == nil || d.Syntax == nil || d.Wake == nil ||
		d.Ping == nil || d.Registerer == nil {
		return nil, errors.New("irisapi: a part is missing")
	}
	m, err := newMetrics(d.Registerer)
	if err != nil {
		return nil, err
	}
	return &API{Deps: d, metrics: m, variables: cache.New(cache.Config[int64, []string]{}),
		acceptor: notifications.New(notifications.Deps{Store: d.Notifications, Directory: d.Directory, Resolver: d.Resolver, Load: d.Load,
			DummyRoles: d.Config.DummyRoles, Lifetime: d.Config.NotificationLifetime}),
		tagging: tagging{d.Config.Tags, d.Tags}, turns: wire.NewTurns(d.Errors),
		keys: &replay.Keys[Deps]{Begin: d.Begin, Errors: d.Errors, Wake: d.Wake, Replayed: m.replayed.Inc}}, nil
}

// over returns the API over the parts of a unit of work, with the caches and metrics of a.
func (a *API) over(d Deps, wake replay.Wake) *API {
	c := *a
	d.Wake, d.Config = wake, a.Config
	c.Deps, c.tagging, c.acceptor = d, tagging{d.Config.Tags, d.Tags}, a.acceptor.Within(d.Notifications)
	return &c
}

// Handler returns a router that serves nothing but this API, for tests and for a server of its own.
func (a *API) Handler() http.Handler {
	r := chi.NewRouter()
	r.Use(wire.SecurityHeaders, wire.TrimSlash, a.Errors.BoundQuery)
	a.Errors.Refuse(r)
	a.Routes(r)
	return r
}
