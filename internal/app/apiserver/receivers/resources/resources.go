// Package resources builds the routes of /v1 that open incidents, and those about owners, integrations, heartbeats, silences and tokens. Package receivers calls it.
package resources

import (
	"slices"
	"time"

	"github.com/iris-oncall/iris/internal/api/heartbeats"
	"github.com/iris-oncall/iris/internal/api/integrations"
	route "github.com/iris-oncall/iris/internal/api/opening"
	"github.com/iris-oncall/iris/internal/api/owners"
	api "github.com/iris-oncall/iris/internal/api/silences"
	"github.com/iris-oncall/iris/internal/api/tokens"
	"github.com/iris-oncall/iris/internal/app/server"
	"github.com/iris-oncall/iris/internal/intake/receiving"
	"github.com/iris-oncall/iris/internal/intake/sources"
	"github.com/iris-oncall/iris/internal/wire/routing"
)

// Opener opens incidents.
type Opener = route.Opener

// Lives are the longest lives of tokens.
type Lives struct{ Personal, Service time.Duration }

// Routes returns the routes. o opens the incidents that applications and people ask for.
func Routes(s *server.Stores, most Lives, o Opener, p receiving.Previewer, hide api.Operations, wake receiving.Wake) []routing.Route {
	senders := integrations.Deps{Integrations: s.Integrations, Records: s.Integrations, Applications: s.Applications, Types: sources.Types(), Previewer: p}
	open := route.Deps{Opener: o, Incidents: s.Incidents, Wake: wake}
	owned := owners.Deps{Store: s.Owners, Plan: s.Plans.ByName, Template: s.Templates.ByName, Application: s.Applications.Describe}
	return slices.Concat(route.Routes(open), owners.Routes(owned), integrations.Routes(senders), api.Routes(hide), tokens.Routes(tokens.Deps{Tokens: s.Tokens, Services: tokens.Services{Store: s.Tokens, Teams: s.Teams, Most: most.Service}, Grants: s.Grants, Most: most.Personal}), heartbeats.Routes(heartbeats.Deps{
		Heartbeats: s.Heartbeats, Integrations: s.Integrations, Chooser: p.Chooser, Editable: integrations.Editable(senders),
	}))
}
