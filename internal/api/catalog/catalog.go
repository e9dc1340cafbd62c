// Package catalog serves the plans, templates and applications of /v1. A plan or template is shown in its active version;
// `versions=all` lists the others too. api mounts its routes.
package catalog

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/iris-oncall/iris/internal/api/page"
	"github.com/iris-oncall/iris/internal/applications"
	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/filters"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/wire"
	"github.com/iris-oncall/iris/internal/wire/routing"
)

// Plans reads versions of plans. What does not exist is a NotFound fault.
type Plans interface {
	List(ctx context.Context, q filters.Query) ([]escalation.Plan, error)
	ByID(ctx context.Context, id escalation.PlanID) (escalation.PlanSteps, error)
	ByName(ctx context.Context, name string) (escalation.PlanSteps, error)
}

// Templates reads versions of templates. What does not exist is a NotFound fault.
type Templates interface {
	List(ctx context.Context, q filters.Query) ([]messages.TemplateVersion, error)
	ByID(ctx context.Context, id messages.TemplateID) (messages.TemplateDetails, error)
	ByName(ctx context.Context, name string) (messages.TemplateDetails, error)
}

// Applications reads applications. What does not exist is a NotFound fault.
type Applications interface {
	List(ctx context.Context, q filters.Query) ([]applications.Application, error)
	Describe(ctx context.Context, name string) (applications.Application, error)
}

// Deps are the parts that the routes work on. All are required.
type Deps struct {
	Plans        Plans
	Templates    Templates
	Applications Applications
	Simulator    Simulator
}

// The routes by resource.
type (
	plans       struct{ Deps }
	templates   struct{ Deps }
	apps        struct{ Deps }
	simulations struct{ Deps }
)

// Routes returns the routes on the parts.
func Routes(d Deps) []routing.Route {
	return slices.Concat(plans{d}.routes(), templates{d}.routes(), apps{d}.routes(), simulations{d}.routes())
}

// versioned reads the query of a list of versions: the active ones, unless the query asks for all.
func versioned(r *http.Request) (page.Query, filters.Query, error) {
	var query filters.Query
	q, err := page.Read(r, "name", "creator", "versions", "created_after", "created_before")
	if err != nil {
		return q, query, err
	}
	switch text, ok := q.Text("versions"); {
	case !ok || text == "active":
		query.Conditions = append(query.Conditions, page.Equal("active", true))
	case text != "all":
		return q, query, fault.Invalidf("versions", "versions must be active or all")
	}
	if err := q.Texts(&query, "name", "creator"); err != nil {
		return q, query, err
	}
	if err := q.Created(&query); err != nil {
		return q, query, err
	}
	return q, query, q.Newest(&query)
}

// named returns the path parameter as the number of a version, or else as the name of the active version.
func named(r *http.Request, parameter string) (id int64, name string, err error) {
	name = wire.Param(r, parameter)
	if !wire.Storable(name) {
		return 0, "", fault.Newf(fault.NotFound, "there is no such %s", parameter)
	}
	if n, err := strconv.ParseInt(name, 10, 64); err == nil {
		return n, "", nil
	}
	return 0, name, nil
}

// missing turns a NotFound fault into one that names the kind of object.
func missing(err error, what string) error {
	return fault.When(err, fault.NotFound, fault.Newf(fault.NotFound, "there is no such %s", what))
}

// version is what plans and templates have in common on the wire.
type version struct {
	ID        int64   `json:"id"`
	Name      string  `json:"name"`
	Active    bool    `json:"active"`
	Creator   string  `json:"creator"`
	CreatedAt *string `json:"created_at"`
}

func tag(id int64) string { return strconv.FormatInt(id, 10) }

func seconds(d time.Duration) int64 { return int64(d / time.Second) }
