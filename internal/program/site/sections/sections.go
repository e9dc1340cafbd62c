// Package sections mounts the sections of the web site besides the incidents, in three groups. The web site calls it.
package sections

import (
	"net/http"

	"github.com/go-chi/chi/v5"

	"github.com/iris-oncall/iris/internal/program/site/sections/access"
	"github.com/iris-oncall/iris/internal/program/site/sections/configuration"
	"github.com/iris-oncall/iris/internal/program/site/sections/operations"
	"github.com/iris-oncall/iris/internal/system/pages"
	"github.com/iris-oncall/iris/internal/web/page"
)

type (
	// ConfigurationParts are what the pages of plans, integrations and silences work on.
	ConfigurationParts = configuration.Deps
	// IntegrationParts are what the pages of integrations work on.
	IntegrationParts = configuration.IntegrationParts
	// SilenceParts are what the pages of silences work on.
	SilenceParts = configuration.SilenceParts
	// AccessParts are what the pages of people, tokens and sessions work on.
	AccessParts = access.Deps
	// TokenParts are what the pages of tokens work on.
	TokenParts = access.TokenParts
	// SessionParts are what the page of sessions works on.
	SessionParts = access.SessionParts
	// ServiceTokens are the operations on service tokens.
	ServiceTokens = access.ServiceTokens
	// OperationParts are what the pages for operators work on.
	OperationParts = operations.Deps
	// AuditParts are what the page of the audit log works on.
	AuditParts = operations.AuditParts
)

// Deps are the parts that the sections work on, besides the APIs.
type Deps struct {
	Configuration configuration.Deps
	Access        access.Deps
	Operations    operations.Deps
}

// Home returns the home page. The caller must admit only people who have logged in.
func (d Deps) Home(p *page.Pages) http.HandlerFunc {
	return pages.Home{Pages: p, PublicURL: d.Configuration.Integrations.PublicURL}.Show
}

// Routes mounts the sections. The caller must admit only people who have logged in.
func (d Deps) Routes(r chi.Router, p *page.Pages) {
	d.Configuration.Routes(r, p)
	d.Access.Routes(r, p)
	d.Operations.Routes(r, p)
}

// ChangeRoutes mounts the forms. The caller must admit only people who may write.
func (d Deps) ChangeRoutes(r chi.Router, p *page.Pages) {
	d.Configuration.ChangeRoutes(r, p)
	d.Access.ChangeRoutes(r, p)
	d.Operations.ChangeRoutes(r, p)
}
