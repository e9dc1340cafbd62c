// Package configuration mounts the pages on which people set up what pages whom: plans, templates, integrations, silences, applications.
package site

import (
	"github.com/go-chi/chi/v5"

	"github.com/iris-oncall/iris/internal/catalog"
	pagescatalog "github.com/iris-oncall/iris/internal/catalog/pages"
	pagesintake "github.com/iris-oncall/iris/internal/intake/pages"
	"github.com/iris-oncall/iris/internal/silences/pages"
	"github.com/iris-oncall/iris/internal/web/page"
)

type (
	// IntegrationParts are what the pages of integrations work on.
	ConfigurationIntegrationParts = pagesintake.Deps
	// SilenceParts are what the pages of silences work on.
	ConfigurationSilenceParts = pages.Deps
)

// ConfigurationDeps are the parts that the pages work on, besides the APIs.
type ConfigurationDeps struct {
	Integrations ConfigurationIntegrationParts
	Silences     ConfigurationSilenceParts
	Plans        *catalog.Plans
	Templates    *catalog.Templates
}

// Routes mounts the pages. The caller must admit only people who have logged in.
func (d ConfigurationDeps) Routes(r chi.Router, p *page.Pages) {
	pagescatalog.Handlers{Pages: p, Plans: d.Plans}.Routes(r)
	pagescatalog.TemplatePages{Pages: p, Templates: d.Templates}.Routes(r)
	pagesintake.Handlers{Deps: d.Integrations, Pages: p}.Routes(r)
	pages.Handlers{Deps: d.Silences, Pages: p}.Routes(r)
	pagescatalog.ApplicationPages{Pages: p}.Routes(r)
}

// ChangeRoutes mounts the forms. The caller must admit only people who may write.
func (d ConfigurationDeps) ChangeRoutes(r chi.Router, p *page.Pages) {
	pagescatalog.Handlers{Pages: p, Plans: d.Plans}.ChangeRoutes(r)
	pagescatalog.TemplatePages{Pages: p, Templates: d.Templates}.ChangeRoutes(r)
	pagesintake.Handlers{Deps: d.Integrations, Pages: p}.ChangeRoutes(r)
	pages.Handlers{Deps: d.Silences, Pages: p}.ChangeRoutes(r)
	pagescatalog.ApplicationPages{Pages: p}.ChangeRoutes(r)
}
