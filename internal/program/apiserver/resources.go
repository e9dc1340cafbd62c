// This file builds the routes of /v1 that open incidents, and those for operators.

package apiserver

import (
	"context"

	"github.com/iris-oncall/iris/internal/intake/pages"
	"github.com/iris-oncall/iris/internal/intake/receiving"
	"github.com/iris-oncall/iris/internal/program/config"
	"github.com/iris-oncall/iris/internal/program/server"
	"github.com/iris-oncall/iris/internal/web/routing"
)

// Opener opens incidents.
type Opener = pages.Opener

// Routes returns the routes. own returns the application that the caller is confined to. o opens the incidents that
// applications and people ask for. The handlers call wake with the buckets that they changed.
func Routes(c config.API, s *server.Stores, own func(ctx context.Context) (int64, string), o Opener, wake receiving.Wake) []routing.Route {
	open := pages.OpeningDeps{Opener: o, Incidents: s.Incidents, Wake: wake}
	return append(pages.OpeningRoutes(open), operatorRoutes(c, s, own, wake)...)
}
