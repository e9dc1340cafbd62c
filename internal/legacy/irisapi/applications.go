package irisapi

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/catalog"
	"github.com/iris-oncall/iris/internal/catalog/applications"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/filters"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/web/routing"
	"github.com/iris-oncall/iris/internal/web/wire"
)

var columns = Columns[applications.Application]{
	{"name", func(a applications.Application) any { return a.Name }},
	{"context_template", func(a applications.Application) any { return a.ContextTemplate }},
	{"sample_context", func(a applications.Application) any { return a.SampleContext }},
	{"summary_template", func(a applications.Application) any { return a.SummaryTemplate }},
	{"mobile_template", func(a applications.Application) any { return a.MobileTemplate }},
	{"variables", func(a applications.Application) any { return a.Variables }},
	{"required_variables", func(a applications.Application) any { return a.RequiredVariables }},
	{"title_variable", func(a applications.Application) any { return OrNull(a.TitleVariable) }},
	{"default_modes", func(a applications.Application) any { return a.DefaultModes }},
	{"supported_modes", func(a applications.Application) any { return routing.OrEmpty(a.Modes) }},
	{"owners", func(a applications.Application) any { return a.Owners }},
	{"custom_sender_addresses", func(a applications.Application) any { return a.SenderAddresses }},
	{"categories", func(a applications.Application) any { return categoryColumns.Records(a.Categories) }},
}

var categoryColumns = Columns[applications.Category]{
	{"id", func(c applications.Category) any { return c.ID }},
	{"name", func(c applications.Category) any { return c.Name }},
	{"description", func(c applications.Category) any { return c.Description }},
	{"mode", func(c applications.Category) any { return c.Mode }},
}

var rows = Rows[applications.Application]{Query: List{Schema: applications.FilterSchema, Limited: true},
	Columns: columns,
	Kind:    "application", ID: func(a applications.Application) int64 { return a.ID }}

func (a reads) list(w http.ResponseWriter, r *http.Request) error {
	return rows.Answer(w, r, a.Tags, a.Applications.List, nil)
}

func (a reads) get(w http.ResponseWriter, r *http.Request) error {
	found, err := a.described(r)
	if err != nil {
		return err
	}
	page, err := rows.Record(r.Context(), a.Tags, found)
	return Answer(w, page, err)
}

// described finds the application of the path; an Invalid fault if there is none.
func (d ApplicationsDeps) described(r *http.Request) (applications.Application, error) {
	name := ApplicationName(r)
	found, err := d.Applications.Describe(r.Context(), name)
	return found, fault.When(err, fault.NotFound, fault.Newf(fault.Invalid, "Application %s not found", name))
}

// refusals are the texts with which a route refuses callers.
type refusals struct {
	program string // 401 for a caller that is no person; "" = the text is stranger
	// stranger: 403 for a caller who may not change the application; 401 if program is "".
	stranger string
	// unknown: 400 if the application does not exist; "" = the operation of the handler refuses it.
	unknown string
}

// ownerHandler serves a route about the application in the path to a caller who may change it.
type ownerHandler func(w http.ResponseWriter, r *http.Request, by operation.Actor, one catalog.OneApplication) error

// owned returns a route's handler that calls h for permitted callers and refuses others with the texts of say, before h
// reads a body.
func (d ApplicationsDeps) owned(say refusals, h ownerHandler) routing.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		actor, one := wire.Actor(r.Context()), oneApplication(r)
		if actor.Username == "" && say.program != "" {
			return fault.New(fault.Unauthenticated, say.program)
		}
		by := actor.Caller(auth.Openings{})
		_, err := d.Operations.Owned(r.Context(), by, one.Application)
		switch {
		case err == nil, fault.Is(err, fault.NotFound) && say.unknown == "":
			return h(w, r, by, one)
		case fault.Is(err, fault.NotFound):
			return fault.New(fault.Invalid, strings.ReplaceAll(say.unknown, "%s", one.Application))
		case errors.Is(err, operation.ErrOwnerOnly) && say.program == "":
			return fault.New(fault.Unauthenticated, say.stranger)
		case errors.Is(err, operation.ErrOwnerOnly):
			return fault.New(fault.Forbidden, say.stranger)
		}
		return err
	}
}

// oneApplication returns the application that the path names.
func oneApplication(r *http.Request) catalog.OneApplication {
	return catalog.OneApplication{Application: ApplicationName(r)}
}

// Applications reads applications, their quotas, and the addresses whose mail opens incidents. Describe ignores case. An
// application that does not exist and a quota that was not set are NotFound faults.
type Applications interface {
	List(ctx context.Context, q filters.Query) ([]applications.Application, error)
	Describe(ctx context.Context, name string) (applications.Application, error)
	Quota(ctx context.Context, id int64) (applications.Quota, error)
	IncidentEmails(ctx context.Context, id int64) (map[string]string, error)
}

// ApplicationsDeps are the parts that the routes work on. All are required.
type ApplicationsDeps struct {
	Applications Applications
	Operations   *catalog.Applications
	Statistics   *applications.RecentStatistics
	Tags         Tags
}

// The routes by resource.
type (
	reads      struct{ ApplicationsDeps }
	changes    struct{ ApplicationsDeps }
	keys       struct{ ApplicationsDeps }
	limits     struct{ ApplicationsDeps }
	statistics struct{ ApplicationsDeps }
)

// ApplicationsRoutes returns the routes on the parts.
func ApplicationsRoutes(d ApplicationsDeps) []routing.Route {
	read, change, key, limit, figures := reads{d}, changes{d}, keys{d}, limits{d}, statistics{d}
	return []routing.Route{
		routing.Get("/v0/applications", routing.Read, read.list),
		routing.Get("/v0/applications/{app}", routing.Read, read.get),
		routing.Post("/v0/applications", routing.Write, change.create),
		routing.Put("/v0/applications/{app}", routing.Write, d.owned(noChange, change.change)),
		routing.Delete("/v0/applications/{app}", routing.Write, d.owned(noDelete, change.remove)),
		routing.Put("/v0/applications/{app}/rename", routing.Write, d.owned(noRename, change.rename)),
		routing.Post("/v0/categories/{app}", routing.Write, change.setCategories),
		routing.Get("/v0/applications/{app}/key", routing.Write, d.owned(noKey, key.key)),
		routing.Get("/v0/applications/{app}/secondary", routing.Write, d.owned(noKey, key.secondary)),
		routing.Post("/v0/applications/{app}/secondary", routing.Write, changeKeys(d, d.Operations.AddSecondaryKey, noSecondary)),
		routing.Post("/v0/applications/{app}/rekey", routing.Write, changeKeys(d, d.Operations.RotateKey, noRotation)),
		routing.Get("/v0/applications/{app}/quota", routing.Read, limit.getQuota),
		routing.Post("/v0/applications/{app}/quota", routing.Write, d.owned(noQuota, limit.setQuota)),
		routing.Delete("/v0/applications/{app}/quota", routing.Write, d.owned(noQuotaRemove, limit.removeQuota)),
		routing.Get("/v0/applications/{app}/incident_emails", routing.Someone, limit.getEmails),
		routing.Put("/v0/applications/{app}/incident_emails", routing.Write, d.owned(noEmails, limit.setEmails)),
		routing.Get("/v0/stats", routing.Read, figures.global),
		routing.Get("/v0/applications/{app}/stats", routing.Read, figures.application),
		routing.Get("/v0/singlestats/{name}", routing.Read, figures.single),
	}
}
