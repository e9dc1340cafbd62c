package calendaring

import (
	"context"
	"net/http"
	"strings"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/planning"
)

// Role is an on-call role, such as primary.
type Role struct {
	ID           int64  `json:"id"`
	Name         string `json:"name"`
	DisplayOrder int    `json:"display_order" doc:"Calendars show roles in this order, lowest first."`
}

// NewRole adds an on-call role.
type NewRole struct {
	Name string `json:"name" maxLength:"255" example:"shadow"`
}

// RoleRemoval deletes an on-call role, ignoring the case of its name.
type RoleRemoval struct {
	Role  string `path:"role" json:"role"`
	Force bool   `query:"force" json:"force,omitempty" doc:"true: also if schedules or shifts use it, which are deleted then."`
}

// The operations on on-call roles.
var (
	ListRoles = operation.Define[operation.None, operation.Page[Role]](operation.Doc{Name: "on-call-role.list",
		Method: http.MethodGet, Path: "/v1/on-call-roles", Needs: operation.Reader,
		Summary: "On-call roles in the order of calendars"})
	AddRole = operation.Define[NewRole, operation.None](operation.Doc{Name: "on-call-role.add",
		Method: http.MethodPost, Path: "/v1/on-call-roles", Status: http.StatusNoContent, Needs: operation.Member,
		Rule: operation.OfOncall, Audit: []audit.Action{audit.OnCallRoleCreated},
		Errors: []int{http.StatusConflict}, Summary: "Add an on-call role"})
	RemoveRole = operation.Define[RoleRemoval, operation.None](operation.Doc{Name: "on-call-role.remove",
		Method: http.MethodDelete, Path: "/v1/on-call-roles/{role}", Needs: operation.Member,
		Rule: operation.OfOncall, Audit: []audit.Action{audit.OnCallRoleDeleted},
		Errors: []int{http.StatusConflict}, Summary: "Remove an on-call role",
		Note: "409: schedules or shifts use it, unless force=true."})
)

// RoleStore stores on-call roles. A name that is taken is a Conflict fault.
type RoleStore interface {
	Roles
	CreateRole(ctx context.Context, name string, by oncall.By) error
	// DeleteRole returns a Conflict fault for a role that schedules or shifts use, unless force is set: then they are
	// deleted too.
	DeleteRole(ctx context.Context, name string, force bool, by oncall.By) error
}

// OnCallRoles are the operations on on-call roles. They are safe for concurrent use.
type OnCallRoles struct {
	List   operation.Op[operation.None, operation.Page[Role]]
	Add    operation.Op[NewRole, operation.None]
	Remove operation.Op[RoleRemoval, operation.None]
}

// NewRoles returns the operations.
func NewRoles(store RoleStore) OnCallRoles {
	return OnCallRoles{
		List: ListRoles.By(func(ctx context.Context, _ operation.Actor, _ operation.None) (out operation.Page[Role], err error) {
			roles, err := store.Roles(ctx)
			out.Items = make([]Role, len(roles))
			for i, r := range roles {
				out.Items[i] = Role(r)
			}
			return out, err
		}),
		Add: AddRole.By(func(ctx context.Context, by operation.Actor, n NewRole) (none operation.None, err error) {
			if err := auth.MayManageOncall(by); err != nil {
				return none, err
			}
			err = store.CreateRole(ctx, strings.TrimSpace(n.Name), planning.Author(by, nil))
			return none, fault.When(err, fault.Conflict, fault.Newf(fault.Conflict, `role "%s" already existed`, strings.TrimSpace(n.Name)))
		}),
		Remove: RemoveRole.By(func(ctx context.Context, by operation.Actor, r RoleRemoval) (none operation.None, err error) {
			if err := auth.MayManageOncall(by); err != nil {
				return none, err
			}
			return none, store.DeleteRole(ctx, r.Role, r.Force, planning.Author(by, nil))
		}),
	}
}
