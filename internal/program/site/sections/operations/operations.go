// Package operations mounts the pages for operators: messages, statistics, the system, the audit log, and the components of the pages.
package operations

import (
	"github.com/go-chi/chi/v5"

	pagesauth "github.com/iris-oncall/iris/internal/auth/pages"
	"github.com/iris-oncall/iris/internal/messages/pages"
	"github.com/iris-oncall/iris/internal/program/site/components"
	pagessystem "github.com/iris-oncall/iris/internal/system/pages"
	"github.com/iris-oncall/iris/internal/web/page"
)

// AuditParts has what the page of the audit log needs.
type AuditParts = pagesauth.AuditLogDeps

// Deps are the parts that the pages work on, besides the APIs.
type Deps struct {
	Audit AuditParts
}

// Routes mounts the pages. The caller must admit only people who have logged in.
func (d Deps) Routes(r chi.Router, p *page.Pages) {
	pages.Handlers{Pages: p}.Routes(r)
	pagessystem.StatisticsPages{Pages: p}.Routes(r)
	pagessystem.SystemPages{Pages: p}.Routes(r)
	pagesauth.AuditLogPages{AuditLogDeps: d.Audit, Pages: p}.Routes(r)
	components.Handlers{Pages: p}.Routes(r)
}

// ChangeRoutes mounts the forms. The caller must admit only people who may write.
func (d Deps) ChangeRoutes(r chi.Router, p *page.Pages) {
	pages.Handlers{Pages: p}.ChangeRoutes(r)
	pagessystem.SystemPages{Pages: p}.ChangeRoutes(r)
}
