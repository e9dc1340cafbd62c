// Package catalog serves the plans and templates of /v1. A plan or template is shown in its active version;
// `versions=all` lists the others too. api mounts its routes.
package catalog

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/iris-oncall/iris/internal/api/page"
	"github.com/iris-oncall/iris/internal/catalog"
	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/filters"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/wire"
	"github.com/iris-oncall/iris/internal/wire/jsonbody"
	"github.com/iris-oncall/iris/internal/wire/routing"
)

// Versions finds and activates versions of plans or of templates. A version that does not exist is a NotFound fault.
type Versions[V, D any, ID ~int64] interface {
	List(ctx context.Context, q filters.Query) ([]V, error)
	ByID(ctx context.Context, id ID) (D, error)
	ByName(ctx context.Context, name string) (D, error)
	// Switch activates the version "to" and deactivates the version "from"; from 0 = no version is active. It returns a Stale fault if
	// "from" is not the active version. by is the actor of the audit log.
	Switch(ctx context.Context, from, to ID, by string) error
}

// Teams finds active teams. A team that does not exist is a NotFound fault.
type Teams interface {
	ByName(ctx context.Context, name string) (users.OwningTeam, error)
	ByID(ctx context.Context, id int64) (users.OwningTeam, error)
}

// team reads the team that owns a new plan or template; 0 = none. People may name their own teams, administrators any.
func (d Deps) team(r *http.Request, b jsonbody.Object) (int64, error) {
	name, err := b.Text("team")
	if err != nil || name == "" {
		return 0, err
	}
	t, err := d.Teams.ByName(r.Context(), name)
	if err != nil {
		return 0, fault.When(err, fault.NotFound, fault.Invalidf("team", "there is no active team %.100q", name))
	}
	return t.ID, wire.Actor(r.Context()).MayGive(true, users.OwningTeam{}, t)
}

// Deps are the parts that the routes work on. All are required.
type Deps struct {
	Plans         Versions[escalation.Plan, escalation.PlanSteps, escalation.PlanID]
	PlanStore     catalog.PlanStore
	PlanUses      PlanUses
	Templates     Versions[messages.TemplateVersion, messages.TemplateDetails, messages.TemplateID]
	TemplateStore catalog.TemplateStore
	People        wire.People
	// Teammates reports whether two people belong to the same active team.
	Teammates func(ctx context.Context, one, other users.ID) (bool, error)
	Teams     Teams
	// MaxPlanLength is the maximum duration of a new plan; 0 = any.
	MaxPlanLength time.Duration
	// ListLimit is the number of members from which a mailing list is not paged; 0 = no limit.
	ListLimit int
	// Preview renders a draft of a template.
	Preview routing.Handler
}

// Routes returns the routes on the parts.
func Routes(d Deps) []routing.Route {
	return append(slices.Concat(d.plans().routes(), d.useRoutes(), d.templates().routes()), routing.Post("/v1/templates/preview", routing.Write, d.Preview))
}

func (d Deps) authors() catalog.Authors {
	return catalog.Authors{People: d.People, Teammates: d.Teammates, Team: d.Teams.ByID}
}

// versions adds the conditions of the parameters search, a part of the name, and versions: active versions, or all.
func versions(q page.Query, to *filters.Query) error {
	if text, ok := q.Text("search"); ok {
		if !wire.Storable(text) {
			return fault.Invalidf("search", "search must be UTF-8 text without NUL characters")
		}
		to.Conditions = append(to.Conditions, filters.Condition{Field: "name", Op: filters.Contains, Values: []any{text}})
	}
	switch text, ok := q.Text("versions"); {
	case !ok || text == "active":
		to.Conditions = append(to.Conditions, page.Equal("active", true))
	case text != "all":
		return fault.Invalidf("versions", "versions must be active or all")
	}
	return nil
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

// activeName reads the name of an active version from the path. It refuses the number of a version, because versions do not change.
func activeName(r *http.Request, parameter string) (string, error) {
	id, name, err := named(r, parameter)
	if err == nil && id != 0 {
		err = fault.Newf(fault.Invalid, "a version cannot be changed: name the %s", parameter)
	}
	return name, err
}

// version has the fields that plans and templates share on the wire.
type version struct {
	ID        int64   `json:"id"`
	Name      string  `json:"name"`
	Active    bool    `json:"active"`
	Creator   string  `json:"creator"`
	Team      *string `json:"team"` // that owns all versions
	CreatedAt *string `json:"created_at"`
	MayEdit   *bool   `json:"may_edit,omitempty"` // the caller may delete it and give it to a team; not in lists
}

func seconds(d time.Duration) int64 { return int64(d / time.Second) }
