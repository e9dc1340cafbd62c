package pages

import (
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/notifications"
	"github.com/iris-oncall/iris/internal/web/mount"
)

// Mount adds the operations to /v1.
func Mount(a *mount.API, m *messages.Messages, n *notifications.Notifications) {
	mount.Mount(a, m.List)
	mount.Mount(a, m.Get)
	mount.Mount(a, m.ListOfIncident)
	mount.Mount(a, n.List)
	mount.Mount(a, n.Create)
	mount.Mount(a, n.Get)
}
