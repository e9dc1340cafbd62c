// Package sections mounts the sections of the web site besides the incidents, in three groups. The web site calls it.
package site

import (
	"net/http"

	"github.com/go-chi/chi/v5"

	"github.com/iris-oncall/iris/internal/system/pages"
	"github.com/iris-oncall/iris/internal/web/page"
)

type (
	// ConfigurationParts are what the pages of plans, integrations and silences work on.
	ConfigurationParts = ConfigurationDeps
	// IntegrationParts are what the pages of integrations work on.
	IntegrationParts = ConfigurationIntegrationParts
	// SilenceParts are what the pages of silences work on.
	SilenceParts = ConfigurationSilenceParts
	// AccessParts are what the pages of people, tokens and sessions work on.
	AccessParts = AccessDeps
	// TokenParts are what the pages of tokens work on.
	TokenParts = AccessTokenParts
	// SessionParts are what the page of sessions works on.
	SessionParts = AccessSessionParts
	// ServiceTokens are the operations on service tokens.
	ServiceTokens = AccessServiceTokens
	// OperationParts are what the pages for operators work on.
	OperationParts = OperationDeps
	// AuditParts are what the page of the audit log works on.
	AuditParts = OperationAuditParts
)

// SectionDeps are the parts that the sections work on, besides the APIs.
type SectionDeps struct {
	Configuration ConfigurationDeps
	Access        AccessDeps
	Operations    OperationDeps
}

// Home returns the home page. The caller must admit only people who have logged in.
func (d SectionDeps) Home(p *page.Pages) http.HandlerFunc {
	return pages.Home{Pages: p, PublicURL: d.Configuration.Integrations.PublicURL}.Show
}

// Routes mounts the sections. The caller must admit only people who have logged in.
func (d SectionDeps) Routes(r chi.Router, p *page.Pages) {
	d.Configuration.Routes(r, p)
	d.Access.Routes(r, p)
	d.Operations.Routes(r, p)
}

// ChangeRoutes mounts the forms. The caller must admit only people who may write.
func (d SectionDeps) ChangeRoutes(r chi.Router, p *page.Pages) {
	d.Configuration.ChangeRoutes(r, p)
	d.Access.ChangeRoutes(r, p)
	d.Operations.ChangeRoutes(r, p)
}
