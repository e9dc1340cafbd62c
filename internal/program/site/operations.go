// Package operations mounts the pages for operators: messages, statistics, the system, the audit log, and the components of the pages.
package site

import (
	"github.com/go-chi/chi/v5"

	pagesauth "github.com/iris-oncall/iris/internal/auth/pages"
	"github.com/iris-oncall/iris/internal/messages/pages"
	pagessystem "github.com/iris-oncall/iris/internal/system/pages"
	"github.com/iris-oncall/iris/internal/web/page"
)

// OperationAuditParts has what the page of the audit log needs.
type OperationAuditParts = pagesauth.AuditLogDeps

// OperationDeps are the parts that the pages work on, besides the APIs.
type OperationDeps struct {
	Audit OperationAuditParts
}

// Routes mounts the pages. The caller must admit only people who have logged in.
func (d OperationDeps) Routes(r chi.Router, p *page.Pages) {
	pages.Handlers{Pages: p}.Routes(r)
	pagessystem.StatisticsPages{Pages: p}.Routes(r)
	pagessystem.SystemPages{Pages: p}.Routes(r)
	pagesauth.AuditLogPages{AuditLogDeps: d.Audit, Pages: p}.Routes(r)
	Handlers{Pages: p}.Routes(r)
}

// ChangeRoutes mounts the forms. The caller must admit only people who may write.
func (d OperationDeps) ChangeRoutes(r chi.Router, p *page.Pages) {
	pages.Handlers{Pages: p}.ChangeRoutes(r)
	pagessystem.SystemPages{Pages: p}.ChangeRoutes(r)
}
