package site

import (
	"net/http"

	"github.com/go-chi/chi/v5"

	"github.com/iris-oncall/iris/internal/auth"
	pagesauth "github.com/iris-oncall/iris/internal/auth/pages"
	pagescatalog "github.com/iris-oncall/iris/internal/catalog/pages"
	pagesincidents "github.com/iris-oncall/iris/internal/incidents/pages"
	pagesintake "github.com/iris-oncall/iris/internal/intake/pages"
	pagesmessages "github.com/iris-oncall/iris/internal/messages/pages"
	pagesnotifications "github.com/iris-oncall/iris/internal/notifications/pages"
	pagesoncall "github.com/iris-oncall/iris/internal/oncall/pages"
	pagessilences "github.com/iris-oncall/iris/internal/silences/pages"
	pagessystem "github.com/iris-oncall/iris/internal/system/pages"
	pagesusers "github.com/iris-oncall/iris/internal/users/pages"
	"github.com/iris-oncall/iris/internal/web/page"
)

// Sections are what the pages besides incidents and accounts work on.
type Sections struct {
	Catalog      pagescatalog.Deps
	System       pagessystem.Deps
	People       pagesusers.Deps
	Messages     pagesmessages.Deps
	Integrations pagesintake.Deps
	Silences     pagessilences.Deps
	Reviews      pagesincidents.ReviewDeps
	Updates      pagesnotifications.Deps
	Tokens       pagesauth.TokenDeps
	Sessions     *auth.Sessions
	Audit        pagesauth.AuditLogDeps
	OnCall       pagesoncall.Deps
	// PublicURL is the address of the installation, without a final slash.
	PublicURL string
}

// Home returns the home page. The caller must admit only people who have logged in.
func (s Sections) Home(p *page.Pages) http.HandlerFunc {
	return pagessystem.Home{Deps: s.System, Pages: p, PublicURL: s.PublicURL}.Show
}

// Routes mounts the pages. The caller must admit only people who have logged in.
func (s Sections) Routes(r chi.Router, p *page.Pages) {
	pagescatalog.Handlers{Deps: s.Catalog, Pages: p}.Routes(r)
	pagescatalog.TemplatePages{Deps: s.Catalog, Pages: p}.Routes(r)
	pagescatalog.ApplicationPages{Deps: s.Catalog, Pages: p}.Routes(r)
	pagesintake.Handlers{Deps: s.Integrations, Pages: p}.Routes(r)
	pagessilences.Handlers{Deps: s.Silences, Pages: p}.Routes(r)
	pagesincidents.ReviewPages{ReviewDeps: s.Reviews, Pages: p}.Routes(r)
	pagesnotifications.Handlers{Deps: s.Updates, Pages: p}.Routes(r)
	pagesusers.Handlers{Deps: s.People, Pages: p}.Routes(r)
	pagesoncall.Handlers{Deps: s.OnCall, Pages: p}.Routes(r)
	pagesauth.TokenPages{TokenDeps: s.Tokens, Pages: p}.Routes(r)
	pagesauth.SessionPages{Sessions: s.Sessions, Pages: p}.Routes(r)
	pagesauth.AuditLogPages{AuditLogDeps: s.Audit, Pages: p}.Routes(r)
	pagesmessages.Handlers{Deps: s.Messages, Pages: p}.Routes(r)
	pagessystem.StatisticsPages{Pages: p, System: s.System.System}.Routes(r)
	pagessystem.SystemPages{Deps: s.System, Pages: p}.Routes(r)
	Handlers{Pages: p}.Routes(r)
}

// ChangeRoutes mounts the forms. The caller must admit only people who may write.
func (s Sections) ChangeRoutes(r chi.Router, p *page.Pages) {
	pagescatalog.Handlers{Deps: s.Catalog, Pages: p}.ChangeRoutes(r)
	pagescatalog.TemplatePages{Deps: s.Catalog, Pages: p}.ChangeRoutes(r)
	pagescatalog.ApplicationPages{Deps: s.Catalog, Pages: p}.ChangeRoutes(r)
	pagesintake.Handlers{Deps: s.Integrations, Pages: p}.ChangeRoutes(r)
	pagessilences.Handlers{Deps: s.Silences, Pages: p}.ChangeRoutes(r)
	pagesincidents.ReviewPages{ReviewDeps: s.Reviews, Pages: p}.ChangeRoutes(r)
	pagesnotifications.Handlers{Deps: s.Updates, Pages: p}.ChangeRoutes(r)
	pagesauth.TokenPages{TokenDeps: s.Tokens, Pages: p}.ChangeRoutes(r)
	pagesmessages.Handlers{Deps: s.Messages, Pages: p}.ChangeRoutes(r)
	pagessystem.SystemPages{Deps: s.System, Pages: p}.ChangeRoutes(r)
}
