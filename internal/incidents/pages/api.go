package pages

import (
	"github.com/iris-oncall/iris/internal/escalation/simulation"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/web/mount"
)

// Mount adds the operations to /v1.
func Mount(a *mount.API, i *incidents.Incidents, next operation.Op[incidents.One, simulation.Foreseen]) {
	mount.Mount(a, i.List)
	mount.Mount(a, i.Get)
	mount.Mount(a, i.Alerts)
	mount.Mount(a, i.Timeline)
	mount.Mount(a, next)
	mount.Mount(a, i.Comments)
	mount.Mount(a, i.AddComment)
	mount.Mount(a, i.Acknowledge)
	mount.Mount(a, i.AcknowledgeSeveral)
	mount.Mount(a, i.Unacknowledge)
	mount.Mount(a, i.ResolveSeveral)
	mount.Mount(a, i.SnoozeSeveral)
	mount.Mount(a, i.Resolve)
	mount.Mount(a, i.Unresolve)
	mount.Mount(a, i.Reopen)
	mount.Mount(a, i.Escalate)
	mount.Mount(a, i.Restart)
	mount.Mount(a, i.Move)
	mount.Mount(a, i.Unsnooze)
	mount.Mount(a, i.Unmerge)
	mount.Mount(a, i.Snooze)
	mount.Mount(a, i.Merge)
	mount.Mount(a, i.Page)
	mount.Mount(a, i.Reassign)
}
