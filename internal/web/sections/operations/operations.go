// Package operations mounts the pages for operators: messages, statistics, the system, the audit log, and the components of the pages.
package operations

import (
	"github.com/go-chi/chi/v5"

	"github.com/iris-oncall/iris/internal/web/auditlog"
	"github.com/iris-oncall/iris/internal/web/components"
	"github.com/iris-oncall/iris/internal/web/messages"
	"github.com/iris-oncall/iris/internal/web/page"
	"github.com/iris-oncall/iris/internal/web/statistics"
	"github.com/iris-oncall/iris/internal/web/system"
)

// AuditParts has what the page of the audit log needs.
type AuditParts = auditlog.Deps

// Deps are the parts that the pages work on, besides the APIs.
type Deps struct {
	Audit AuditParts
}

// Routes mounts the pages. The caller must admit only people who have logged in.
func (d Deps) Routes(r chi.Router, p *page.Pages) {
	messages.Handlers{Pages: p}.Routes(r)
	statistics.Handlers{Pages: p}.Routes(r)
	system.Handlers{Pages: p}.Routes(r)
	auditlog.Handlers{Deps: d.Audit, Pages: p}.Routes(r)
	components.Handlers{Pages: p}.Routes(r)
}

// ChangeRoutes mounts the forms. The caller must admit only people who may write.
func (d Deps) ChangeRoutes(r chi.Router, p *page.Pages) {
	messages.Handlers{Pages: p}.ChangeRoutes(r)
	system.Handlers{Pages: p}.ChangeRoutes(r)
}
