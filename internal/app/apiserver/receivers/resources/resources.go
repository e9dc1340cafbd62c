// Package resources builds the routes of /v1 about integrations, heartbeats, silences and personal tokens. Package receivers calls it.
package resources

import (
	"slices"

	"github.com/iris-oncall/iris/internal/api/heartbeats"
	"github.com/iris-oncall/iris/internal/api/integrations"
	api "github.com/iris-oncall/iris/internal/api/silences"
	"github.com/iris-oncall/iris/internal/api/tokens"
	"github.com/iris-oncall/iris/internal/app/server"
	"github.com/iris-oncall/iris/internal/intake/receiving"
	"github.com/iris-oncall/iris/internal/intake/sources"
	"github.com/iris-oncall/iris/internal/silences"
	"github.com/iris-oncall/iris/internal/wire/routing"
)

// Routes returns the routes. c chooses the plans of events.
func Routes(s *server.Stores, c receiving.Chooser, hide silences.Silences) []routing.Route {
	senders := integrations.Deps{Integrations: s.Integrations, Records: s.Integrations, Applications: s.Applications, Types: sources.Types(), Chooser: c}
	return slices.Concat(integrations.Routes(senders), api.Routes(hide), tokens.Routes(s.Tokens), heartbeats.Routes(heartbeats.Deps{
		Heartbeats: s.Heartbeats, Integrations: s.Integrations, Chooser: c, Editable: integrations.Editable(senders),
	}))
}
