package catalog

import (
	"context"
	"net/http"

	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/kit/operation"
)

// TargetRole is a role that plans and incidents can name with a target.
type TargetRole struct {
	Name string `json:"name"`
	Kind string `json:"kind" enum:"user,team,mailing-list" doc:"Of the targets that it fits."`
}

// ListTargetRoles lists the roles of targets.
var ListTargetRoles = operation.Define[operation.None, operation.Page[TargetRole]](operation.Doc{Name: "target-role.list",
	Method: http.MethodGet, Path: "/v1/target-roles", Needs: operation.Reader,
	Summary: "The roles that plans can name with a target"})

func (p *Plans) roles(ctx context.Context, _ operation.Actor, _ operation.None) (operation.Page[TargetRole], error) {
	found, err := p.deps.Store.Roles(ctx)
	return operation.PageTo(found, nil, func(r escalation.TargetRole) TargetRole { return TargetRole(r) }), err
}
