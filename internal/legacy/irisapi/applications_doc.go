package irisapi

import (
	"context"

	"github.com/iris-oncall/iris/internal/catalog/applications"
	"github.com/iris-oncall/iris/internal/kit/filters"
	"github.com/iris-oncall/iris/internal/web/routing"
)

// Applications reads applications. Describe ignores case and returns a NotFound fault for an unknown name.
type Applications interface {
	List(ctx context.Context, q filters.Query) ([]applications.Application, error)
	Describe(ctx context.Context, name string) (applications.Application, error)
}

// Changes stores the settings of applications. In this and the other interfaces, every change is one transaction and is in
// the audit log under the name by.
type Changes interface {
	Add(ctx context.Context, name, by string) (int64, error)
	Change(ctx context.Context, id int64, c applications.Change, by string) error
	Rename(ctx context.Context, id int64, name, by string) error
	Delete(ctx context.Context, id int64, ifMatch []string, by string) error
	SetCategories(ctx context.Context, id int64, all []applications.Category, by string) error
}

// Keys stores the keys that applications sign with.
type Keys interface {
	Key(ctx context.Context, id int64) (primary, secondary string, err error)
	AddSecondary(ctx context.Context, id int64, by string) error
	Rekey(ctx context.Context, id int64, by string) error
}

// Limits stores quotas, and the addresses whose mail opens incidents.
type Limits interface {
	Quota(ctx context.Context, id int64) (applications.Quota, error)
	SetQuota(ctx context.Context, id int64, c applications.Quota, by string) error
	RemoveQuota(ctx context.Context, id int64, by string) error
	IncidentEmails(ctx context.Context, id int64) (map[string]string, error)
	SetIncidentEmails(ctx context.Context, id int64, plans map[string]string, by string) error
}

// ApplicationsDeps are the parts that the routes work on. All are required.
type ApplicationsDeps struct {
	Applications Applications
	Changes      Changes
	Keys         Keys
	Limits       Limits
	Statistics   *RecentStatistics
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
		routing.Post("/v0/applications/{app}/secondary", routing.Write, key.change(d.Keys.AddSecondary, noSecondary)),
		routing.Post("/v0/applications/{app}/rekey", routing.Write, key.change(d.Keys.Rekey, noRotation)),
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
