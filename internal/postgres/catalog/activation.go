package catalog

import (
	"context"
	"fmt"

	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/postgres"
	"github.com/iris-oncall/iris/internal/postgres/internal/db"
)

// activation has the statements that change the active version of a plan or template. They return the number of changed rows.
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

// auditSwitch adds an entry to the audit log: a version was activated, or the object was deleted (to = 0).
func auditSwitch(ctx context.Context, q *db.Queries, kind, name string, to int64, by string) error {
	entry := db.AppendAuditParams{Actor: postgres.Storable(by), Action: kind + " deleted", Object: kind + " " + name}
	if to != 0 {
		entry.Action, entry.Detail = kind+" version activated", fmt.Sprintf("version %d", to)
	}
	return q.AppendAudit(ctx, entry)
}
