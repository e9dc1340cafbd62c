// Package resources builds the routes of /v1 about integrations, heartbeats and silences. Package receivers calls it.
package resources

import (
	"slices"

	"github.com/iris-oncall/iris/internal/api/heartbeats"
	"github.com/iris-oncall/iris/internal/api/integrations"
	api "github.com/iris-oncall/iris/internal/api/silences"
	"github.com/iris-oncall/iris/internal/app/server"
	"github.com/iris-oncall/iris/internal/intake/receiving"
	"github.com/iris-oncall/iris/internal/intake/sources"
	"github.com/iris-oncall/iris/internal/silences"
	"github.com/iris-oncall/iris/internal/wire/routing"
)

// Routes returns the routes.
func Routes(s *server.Stores, p receiving.Previewer, hide silences.Silences) []routing.Route {
	senders := integrations.Deps{Integrations: s.Integrations, Records: s.Integrations, Applications: s.Applications, Types: sources.Types(), Previewer: p}
	return slices.Concat(integrations.Routes(senders), api.Routes(hide), heartbeats.Routes(heartbeats.Deps{
		Heartbeats: s.Heartbeats, Integrations: s.Integrations, Chooser: p.Chooser, Editable: integrations.Editable(senders),
	}))
}
