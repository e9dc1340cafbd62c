package irisapi

import (
	"context"
	"net/http"
	"strings"

	"github.com/iris-oncall/iris/internal/applications"
	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/filters"
	"github.com/iris-oncall/iris/internal/wire"
)

// ApplicationSettings stores what people set of applications. Every change is one transaction, in the audit log under the name
// of who did it (by), and counts at once.
type ApplicationSettings interface {
	List(ctx context.Context, q filters.Query) ([]applications.Application, error)
	// Describe finds one by name, ignoring case; NotFound when there is none.
	Describe(ctx context.Context, name string) (applications.Application, error)
	Add(ctx context.Context, name, by string) (int64, error)
	Change(ctx context.Context, id int64, c applications.Change, by string) error
	Rename(ctx context.Context, id int64, name, by string) error
	Delete(ctx context.Context, id int64, by string) error
	SetCategories(ctx context.Context, id int64, all []applications.Category, by string) error
}

// ApplicationKeys stores the keys that applications sign with.
type ApplicationKeys interface {
	Key(ctx context.Context, id int64) (primary, secondary string, err error)
	AddSecondary(ctx context.Context, id int64, by string) error
	Rekey(ctx context.Context, id int64, by string) error
}

// ApplicationLimits stores quotas and the addresses whose mail opens incidents.
type ApplicationLimits interface {
	Quota(ctx context.Context, id int64) (applications.Quota, error)
	SetQuota(ctx context.Context, id int64, c applications.Quota, by string) error
	RemoveQuota(ctx context.Context, id int64, by string) error
	IncidentEmails(ctx context.Context, id int64) (map[string]string, error)
	SetIncidentEmails(ctx context.Context, id int64, plans map[string]string, by string) error
}

// applicationRoutes are the routes below /v0/applications, and the applications' side of categories.
type applicationRoutes struct {
	settings ApplicationSettings
	keys     ApplicationKeys
	limits   ApplicationLimits
	plans    Plans
	tagging  tagging
}

func newApplications(d Deps) *applicationRoutes {
	return &applicationRoutes{settings: d.Settings, keys: d.ApplicationKeys, limits: d.Limits, plans: d.Plans,
		tagging: tagging{d.Config.Tags, d.Tags}}
}

func (a *applicationRoutes) table() []route {
	return []route{
		{get, "/v0/applications", read, a.list},
		{post, "/v0/applications", write, a.create},
		{get, "/v0/applications/{app}", read, a.get},
		{put, "/v0/applications/{app}", write, a.change},
		{del, "/v0/applications/{app}", write, a.remove},
		{get, "/v0/applications/{app}/quota", read, a.getQuota},
		{post, "/v0/applications/{app}/quota", write, a.setQuota},
		{del, "/v0/applications/{app}/quota", write, a.removeQuota},
		{get, "/v0/applications/{app}/key", write, a.key},
		{get, "/v0/applications/{app}/secondary", write, a.secondary},
		{post, "/v0/applications/{app}/secondary", write, a.addSecondary},
		{post, "/v0/applications/{app}/rekey", write, a.rekey},
		{get, "/v0/applications/{app}/incident_emails", someone, a.getEmails},
		{put, "/v0/applications/{app}/incident_emails", write, a.setEmails},
		{put, "/v0/applications/{app}/rename", write, a.rename},
		{get, "/v0/applications/{app}/plans", read, a.listPlans},
		{post, "/v0/categories/{app}", write, a.setCategories},
	}
}

type app = applications.Application

var applicationFields = columns[app]{
	{"name", func(a app) any { return a.Name }},
	{"context_template", func(a app) any { return a.ContextTemplate }},
	{"sample_context", func(a app) any { return a.SampleContext }},
	{"summary_template", func(a app) any { return a.SummaryTemplate }},
	{"mobile_template", func(a app) any { return a.MobileTemplate }},
	{"variables", func(a app) any { return a.Variables }},
	{"required_variables", func(a app) any { return a.RequiredVariables }},
	{"title_variable", func(a app) any { return orNull(a.TitleVariable) }},
	{"default_modes", func(a app) any { return a.DefaultModes }},
	{"supported_modes", func(a app) any { return orEmpty(a.Modes) }},
	{"owners", func(a app) any { return a.Owners }},
	{"custom_sender_addresses", func(a app) any { return a.SenderAddresses }},
	{"categories", func(a app) any { return records(applicationCategories, a.Categories) }},
}

var applicationCategories = columns[applications.Category]{
	{"id", func(c applications.Category) any { return c.ID }},
	{"name", func(c applications.Category) any { return c.Name }},
	{"description", func(c applications.Category) any { return c.Description }},
	{"mode", func(c applications.Category) any { return c.Mode }},
}

var applicationList = list{schema: applications.FilterSchema, columns: applicationFields.names(), limited: true}

// orEmpty renders no elements as [] rather than null.
func orEmpty[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

func (a *applicationRoutes) list(w http.ResponseWriter, r *http.Request) error {
	q, err := a.tagging.list(applicationList).read(w, r)
	if err != nil {
		return err
	}
	found, err := a.settings.List(r.Context(), q)
	if err != nil {
		return err
	}
	cols, err := tagged(r.Context(), a.tagging, applicationFields.pick(q.Fields), q.Fields, "application", found, applicationNumber)
	if err != nil {
		return err
	}
	wire.JSON(w, http.StatusOK, records(cols, found))
	return nil
}

// appName is the application that a path names.
func appName(r *http.Request) string { return strings.TrimRight(wire.Param(r, "app"), " ") }

func noSuchApplication(name string) error {
	return fault.Newf(fault.Invalid, "Application %s not found", name)
}

func (a *applicationRoutes) get(w http.ResponseWriter, r *http.Request) error {
	found, err := a.settings.Describe(r.Context(), appName(r))
	if fault.Is(err, fault.NotFound) {
		return noSuchApplication(appName(r))
	}
	if err != nil {
		return err
	}
	cols, err := tagged(r.Context(), a.tagging, applicationFields, nil, "application", []app{found}, applicationNumber)
	if err != nil {
		return err
	}
	wire.JSON(w, http.StatusOK, cols.record(found))
	return nil
}

func applicationNumber(a app) int64 { return a.ID }

// refusals are the words in which a route refuses who is not a person, and who does not own the application.
type refusals struct {
	nobody string // "" = the same as stranger
	// stranger is answered 403, or 401 when nobody is "".
	stranger string
	// unknown says that the application does not exist; "" = the route looks for itself, at an application without a number.
	unknown string
}

// owned finds the application of the path for somebody who may change its settings. What does not exist is nobody's: only
// administrators hear that it does not.
func (a *applicationRoutes) owned(r *http.Request, say refusals) (app, auth.Actor, error) {
	actor := wire.Actor(r.Context())
	if actor.Username == "" && say.nobody != "" {
		return app{}, actor, fault.New(fault.Unauthenticated, say.nobody)
	}
	found, err := a.settings.Describe(r.Context(), appName(r))
	if err != nil && !fault.Is(err, fault.NotFound) {
		return app{}, actor, err
	}
	if actor.Owning(found.ID, found.OwnerIDs).MayEditApplication(found.ID) != nil {
		kind := fault.Forbidden
		if say.nobody == "" {
			kind = fault.Unauthenticated
		}
		return app{}, actor, fault.New(kind, say.stranger)
	}
	if err != nil && say.unknown != "" {
		return app{}, actor, fault.New(fault.Invalid, say.unknown)
	}
	return found, actor, nil
}

// listPlans lists the active plans that have words for the application.
func (a *applicationRoutes) listPlans(w http.ResponseWriter, r *http.Request) error {
	q, err := applicationPlans.read(w, r)
	if err != nil {
		return err
	}
	q.Conditions = append(q.Conditions,
		filters.Condition{Field: "active", Op: filters.Eq, Values: []any{true}},
		filters.Condition{Field: "application", Op: filters.Eq, Values: []any{storableName(appName(r))}})
	found, err := a.plans.List(r.Context(), q)
	if err != nil {
		return err
	}
	wire.JSON(w, http.StatusOK, records(planColumns.pick(q.Fields), found))
	return nil
}

var applicationPlans = list{schema: without(escalation.PlanFilters, "active"), columns: planColumns.names()}

func without(schema filters.Schema, field string) filters.Schema {
	out := filters.Schema{}
	for name, kind := range schema {
		if name != field {
			out[name] = kind
		}
	}
	return out
}

// storableName is a name that can be compared; what cannot be stored is nobody's name.
func storableName(s string) string {
	if storable(s) {
		return s
	}
	return ""
}
