// This file builds the routes of /v1 that open incidents.

package apiserver

import (
	"github.com/iris-oncall/iris/internal/intake/pages"
	"github.com/iris-oncall/iris/internal/intake/receiving"
	"github.com/iris-oncall/iris/internal/program/server"
	"github.com/iris-oncall/iris/internal/web/routing"
)

// Opener opens incidents.
type Opener = pages.Opener

// Routes returns the routes that open incidents. o opens them. The handlers call wake with the buckets that they changed.
func Routes(o Opener, s *server.Stores, wake receiving.Wake) []routing.Route {
	return pages.OpeningRoutes(pages.OpeningDeps{Opener: o, Incidents: s.Incidents, Wake: wake})
}
