package pages

import (
	"github.com/iris-oncall/iris/internal/intake/integrations"
	"github.com/iris-oncall/iris/internal/web/mount"
)

// Mount adds the operations to /v1.
func Mount(a *mount.API, h *integrations.Heartbeats) {
	mount.Mount(a, h.List)
	mount.Mount(a, h.OfIntegration)
	mount.Mount(a, h.Get)
	mount.Mount(a, h.Replace)
	mount.Mount(a, h.Delete)
}
