// Package sections mounts the sections of the web site besides the incidents: plans, integrations, silences, tokens, the cluster, the audit log and
// the calendar. The web site calls it.
package sections

import (
	"net/http"

	"github.com/go-chi/chi/v5"

	"github.com/iris-oncall/iris/internal/web/auditlog"
	"github.com/iris-oncall/iris/internal/web/calendar"
	"github.com/iris-oncall/iris/internal/web/cluster"
	"github.com/iris-oncall/iris/internal/web/integrations"
	"github.com/iris-oncall/iris/internal/web/page"
	"github.com/iris-oncall/iris/internal/web/plans"
	"github.com/iris-oncall/iris/internal/web/sessions"
	"github.com/iris-oncall/iris/internal/web/silences"
	"github.com/iris-oncall/iris/internal/web/tokens"
)

type (
	// PlanParts are what the pages of plans work on.
	PlanParts = plans.Deps
	// IntegrationParts are what the pages of integrations work on.
	IntegrationParts = integrations.Deps
	// SilenceParts are what the pages of silences work on.
	SilenceParts = silences.Deps
	// ClusterParts are what the page of the cluster works on.
	ClusterParts = cluster.Deps
	// TokenParts are what the pages of tokens work on.
	TokenParts = tokens.Deps
	// SessionParts are what the page of sessions works on.
	SessionParts = sessions.Deps
	// AuditParts are what the page of the audit log works on.
	AuditParts = auditlog.Deps
	// ServiceTokens are the operations on service tokens.
	ServiceTokens = tokens.Services
)

// Deps are the parts that the sections work on.
type Deps struct {
	Plans        PlanParts
	Integrations IntegrationParts
	Silences     SilenceParts
	Cluster      ClusterParts
	Tokens       TokenParts
	Sessions     SessionParts
	Audit        AuditParts
	Teams        calendar.Teams
}

// Routes mounts the sections. The caller must admit only people who have logged in.
func (d Deps) Routes(r chi.Router, p *page.Pages) {
	plans.Handlers{Deps: d.Plans, Pages: p}.Routes(r)
	integrations.Handlers{Deps: d.Integrations, Pages: p}.Routes(r)
	silences.Handlers{Deps: d.Silences, Pages: p}.Routes(r)
	tokens.Handlers{Deps: d.Tokens, Pages: p}.Routes(r)
	sessions.Handlers{Deps: d.Sessions, Pages: p}.Routes(r)
	auditlog.Handlers{Deps: d.Audit, Pages: p}.Routes(r)
	cluster.Handlers{Deps: d.Cluster, Pages: p}.Routes(r)
	calendar.Handlers{Teams: d.Teams, Pages: p}.Routes(r)
}

// ChangeRoutes mounts the forms. The caller must admit only people who may write.
func (d Deps) ChangeRoutes(r chi.Router, p *page.Pages) {
	silences.Handlers{Deps: d.Silences, Pages: p}.ChangeRoutes(r)
	tokens.Handlers{Deps: d.Tokens, Pages: p}.ChangeRoutes(r)
}

// RefuseChange answers a form of somebody without a session, so that its values are not lost. It returns false for other requests.
func RefuseChange(rw http.ResponseWriter, r *http.Request) bool { return silences.RefuseChange(rw, r) }
