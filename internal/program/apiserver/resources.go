// This file builds the routes of /v1 that open incidents, and those about integrations, heartbeats, and for operators.

package apiserver

import (
	"context"
	"slices"

	"github.com/iris-oncall/iris/internal/intake/pages"
	"github.com/iris-oncall/iris/internal/intake/receiving"
	"github.com/iris-oncall/iris/internal/intake/sources"
	"github.com/iris-oncall/iris/internal/program/config"
	"github.com/iris-oncall/iris/internal/program/server"
	"github.com/iris-oncall/iris/internal/web/routing"
)

// Opener opens incidents.
type Opener = pages.Opener

// resourceRoutes returns the routes. own returns the application that the caller is confined to. o opens the incidents
// that applications and people ask for.
func resourceRoutes(c config.API, s *server.Stores, own func(ctx context.Context) (int64, string), o Opener, p receiving.Previewer, wake receiving.Wake) []routing.Route {
	senders := pages.APIDeps{Integrations: s.Integrations, Records: s.Integrations, Applications: s.Applications,
		Types: sources.Types(), Previewer: p}
	open := pages.OpeningDeps{Opener: o, Incidents: s.Incidents, Wake: wake}
	return slices.Concat(pages.OpeningRoutes(open), operatorRoutes(c, s, own, wake), pages.Routes(senders))
}
