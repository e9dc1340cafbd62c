package pages

import (
	"github.com/iris-oncall/iris/internal/intake/integrations"
	"github.com/iris-oncall/iris/internal/intake/opening"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/web/mount"
)

// Mount adds the operations to /v1.
func Mount(a *mount.API, i *integrations.Integrations, open operation.Op[opening.NewIncident, opening.OpenedIncident]) {
	mount.Mount(a, open)
	mount.Mount(a, i.List)
	mount.Mount(a, i.Get)
	mount.Mount(a, i.Replace)
	mount.Mount(a, i.Delete)
	mount.Mount(a, i.AddToken)
	mount.Mount(a, i.DropTokens)
	mount.Mount(a, i.SetSecrets)
	mount.Mount(a, i.Payloads)
	mount.Mount(a, i.TestRoute)
	mount.Mount(a, i.Preview)
	mount.Mount(a, i.Recipes)
	mount.Mount(a, i.Heartbeats.List)
	mount.Mount(a, i.Heartbeats.OfIntegration)
	mount.Mount(a, i.Heartbeats.Get)
	mount.Mount(a, i.Heartbeats.Replace)
	mount.Mount(a, i.Heartbeats.Delete)
}
