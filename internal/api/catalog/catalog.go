// Package catalog serves the plans and templates of /v1. A plan or template is shown in its active version;
// `versions=all` lists the others too. api mounts its routes.
package catalog

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/iris-oncall/iris/internal/api/page"
	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/filters"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/wire"
	"github.com/iris-oncall/iris/internal/wire/routing"
)

// Plans reads and stores versions of plans. What does not exist is a NotFound fault.
type Plans interface {
	List(ctx context.Context, q filters.Query) ([]escalation.Plan, error)
	ByID(ctx context.Context, id escalation.PlanID) (escalation.PlanSteps, error)
	ByName(ctx context.Context, name string) (escalation.PlanSteps, error)
	Reach(ctx context.Context, targets, templates []string) (escalation.Reach, error)
	Create(ctx context.Context, d escalation.PlanContent) (escalation.PlanID, error)
}

// Templates reads and stores versions of templates. What does not exist is a NotFound fault.
type Templates interface {
	List(ctx context.Context, q filters.Query) ([]messages.TemplateVersion, error)
	ByID(ctx context.Context, id messages.TemplateID) (messages.TemplateDetails, error)
	ByName(ctx context.Context, name string) (messages.TemplateDetails, error)
	Create(ctx context.Context, d messages.NewTemplate) (messages.TemplateID, error)
}

// Deps are the parts that the routes work on. All are required.
type Deps struct {
	Plans     Plans
	Templates Templates
	People    wire.People
	// Teammates reports whether two people belong to the same active team.
	Teammates func(ctx context.Context, one, other users.ID) (bool, error)
	// MaxPlanLength refuses plans that take longer; 0 = any length.
	MaxPlanLength time.Duration
	// ListLimit is the size from which a mailing list pages nobody; 0 = any size is paged.
	ListLimit int
}

// The routes by resource.
type (
	plans     struct{ Deps }
	templates struct{ Deps }
)

// Routes returns the routes on the parts.
func Routes(d Deps) []routing.Route {
	return slices.Concat(plans{d}.routes(), templates{d}.routes())
}

// versioned reads the query of a list of versions: active versions, or all with versions=all.
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

// named reads the number of a version, or the name of an active version, from the path.
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

// activeName reads the name of an active version from the path. It refuses a number, because a version cannot be replaced.
func activeName(r *http.Request, parameter string) (string, error) {
	id, name, err := named(r, parameter)
	if err == nil && id != 0 {
		err = fault.Newf(fault.Invalid, "a version cannot be changed: name the %s", parameter)
	}
	return name, err
}

// created answers 201 with an object and its address.
func created(w http.ResponseWriter, path, name string, body any) error {
	w.Header().Set("Location", path+url.PathEscape(name))
	return routing.Answer(w, http.StatusCreated, body)
}

// missing gives a NotFound fault the text that names the missing object.
func missing(err error, what string) error {
	return fault.When(err, fault.NotFound, fault.Newf(fault.NotFound, "there is no such %s", what))
}

// version has the fields that plans and templates share on the wire.
type version struct {
	ID        int64   `json:"id"`
	Name      string  `json:"name"`
	Active    bool    `json:"active"`
	Creator   string  `json:"creator"`
	CreatedAt *string `json:"created_at"`
}

func tag(id int64) string { return strconv.FormatInt(id, 10) }

func seconds(d time.Duration) int64 { return int64(d / time.Second) }
