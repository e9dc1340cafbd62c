package site

import (
	"net/http"

	"github.com/go-chi/chi/v5"

	authpages "github.com/iris-oncall/iris/internal/auth/pages"
	"github.com/iris-oncall/iris/internal/catalog"
	catalogpages "github.com/iris-oncall/iris/internal/catalog/pages"
	intakepages "github.com/iris-oncall/iris/internal/intake/pages"
	messagespages "github.com/iris-oncall/iris/internal/messages/pages"
	oncallpages "github.com/iris-oncall/iris/internal/oncall/pages"
	silencespages "github.com/iris-oncall/iris/internal/silences/pages"
	systempages "github.com/iris-oncall/iris/internal/system/pages"
	userspages "github.com/iris-oncall/iris/internal/users/pages"
	"github.com/iris-oncall/iris/internal/web/page"
)

// Sections are what the pages besides incidents and accounts work on, apart from the APIs.
type Sections struct {
	Plans        *catalog.Plans
	Templates    *catalog.Templates
	Integrations intakepages.Deps
	Silences     silencespages.Deps
	Tokens       authpages.TokenDeps
	Sessions     authpages.SessionDeps
	Audit        authpages.AuditLogDeps
	Teams        oncallpages.Teams
	// PublicURL is the address of the installation, without a final slash.
	PublicURL string
}

// Home returns the home page. The caller must admit only people who have logged in.
func (s Sections) Home(p *page.Pages) http.HandlerFunc {
	return systempages.Home{Pages: p, PublicURL: s.PublicURL}.Show
}

// Routes mounts the pages. The caller must admit only people who have logged in.
func (s Sections) Routes(r chi.Router, p *page.Pages) {
	catalogpages.Handlers{Pages: p, Plans: s.Plans}.Routes(r)
	catalogpages.TemplatePages{Pages: p, Templates: s.Templates}.Routes(r)
	catalogpages.ApplicationPages{Pages: p}.Routes(r)
	intakepages.Handlers{Deps: s.Integrations, Pages: p}.Routes(r)
	silencespages.Handlers{Deps: s.Silences, Pages: p}.Routes(r)
	userspages.Handlers{Pages: p, PublicURL: s.PublicURL}.Routes(r)
	oncallpages.Handlers{Teams: s.Teams, Pages: p}.Routes(r)
	authpages.TokenPages{TokenDeps: s.Tokens, Pages: p}.Routes(r)
	authpages.SessionPages{SessionDeps: s.Sessions, Pages: p}.Routes(r)
	authpages.AuditLogPages{AuditLogDeps: s.Audit, Pages: p}.Routes(r)
	messagespages.Handlers{Pages: p}.Routes(r)
	systempages.StatisticsPages{Pages: p}.Routes(r)
	systempages.SystemPages{Pages: p}.Routes(r)
	Handlers{Pages: p}.Routes(r)
}

// ChangeRoutes mounts the forms. The caller must admit only people who may write.
func (s Sections) ChangeRoutes(r chi.Router, p *page.Pages) {
	catalogpages.Handlers{Pages: p, Plans: s.Plans}.ChangeRoutes(r)
	catalogpages.TemplatePages{Pages: p, Templates: s.Templates}.ChangeRoutes(r)
	catalogpages.ApplicationPages{Pages: p}.ChangeRoutes(r)
	intakepages.Handlers{Deps: s.Integrations, Pages: p}.ChangeRoutes(r)
	silencespages.Handlers{Deps: s.Silences, Pages: p}.ChangeRoutes(r)
	authpages.TokenPages{TokenDeps: s.Tokens, Pages: p}.ChangeRoutes(r)
	messagespages.Handlers{Pages: p}.ChangeRoutes(r)
	systempages.SystemPages{Pages: p}.ChangeRoutes(r)
}
