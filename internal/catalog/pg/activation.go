package pg

import (
	"context"

	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/auditlog"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/postgres/db"
)

// activation has the statements that change the active version of a plan or template. They return the number of changed
// rows.
type activation struct {
	first   func(id int64) (int64, error)           // 0 = the name has an active version
	instead func(replaced, id int64) (int64, error) // 0 = the replaced version is not the active one
	none    func(replaced int64) (int64, error)     // 0 = the replaced version is not the active one
}

// change makes version to the active one in place of version from. See Plans.Switch.
func (a activation) change(from, to int64) error {
	var done int64
	var err error
	switch {
	case from == 0:
		done, err = a.first(to)
	case to == 0:
		done, err = a.none(from)
	default:
		done, err = a.instead(from, to)
	}
	if err == nil && done == 0 {
		err = fault.New(fault.Stale, "another version was saved meanwhile: reload it before you save")
	}
	return err
}

// activate makes a new version the active one. See Replaces of escalation.PlanContent.
func activate(a activation, replaces, id int64, object string) error {
	err := a.change(replaces, id)
	if replaces == 0 && fault.Is(err, fault.Stale) {
		return fault.Newf(fault.Conflict, "there is a %s already: replace it with PUT", object)
	}
	return err
}

// audited says which entries of the audit log the changes of a kind of object have.
type audited struct {
	kind      string
	activated audit.Action
	state     func(name string) auditlog.State
}

var (
	auditedPlan     = audited{"plan", audit.PlanVersionActivated, auditlog.Plan}
	auditedTemplate = audited{"template", audit.TemplateVersionActivated, auditlog.Template}
)

// changing makes a change of the object and writes its entry. by is the actor; "" = that of the request.
func (a audited) changing(ctx context.Context, q *db.Queries, action audit.Action, name, by string, change func() error) error {
	return auditlog.Changing(ctx, q, a.state(name), audit.Entry{Actor: by, Action: action, Object: a.kind + " " +
		name}, change)
}

// switching is the action that makes a version the active one; 0 = none.
func (a audited) switching(to int64, none audit.Action) audit.Action {
	if to == 0 {
		return none
	}
	return a.activated
}
