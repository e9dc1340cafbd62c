package pages

import (
	"context"

	"github.com/iris-oncall/iris/internal/catalog/applications"
	"github.com/iris-oncall/iris/internal/kit/filters"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// APIApplications reads and stores applications. An application that does not exist is a NotFound fault. by names the caller for the
// audit log.
type APIApplications interface {
	List(ctx context.Context, q filters.Query) ([]applications.Application, error)
	Describe(ctx context.Context, name string) (applications.Application, error)
	Add(ctx context.Context, name, by string) (int64, error)
	Change(ctx context.Context, id int64, c applications.Change, by string) error
	Delete(ctx context.Context, id int64, ifMatch []string, by string) error
}

// Deps are the parts that the routes work on. All are required.
type Deps struct {
	Applications APIApplications
	People       wire.People
	// Quota returns the quota of an application. One that has none is a NotFound fault.
	Quota func(ctx context.Context, id int64) (applications.Quota, error)
}

type routes struct{ Deps }
