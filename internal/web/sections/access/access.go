// Package access mounts the pages about people and their access: people, the on-call calendar, tokens, sessions.
package access

import (
	"github.com/go-chi/chi/v5"

	"github.com/iris-oncall/iris/internal/web/calendar"
	"github.com/iris-oncall/iris/internal/web/page"
	"github.com/iris-oncall/iris/internal/web/people"
	"github.com/iris-oncall/iris/internal/web/sessions"
	"github.com/iris-oncall/iris/internal/web/tokens"
)

type (
	// TokenParts are what the pages of tokens work on.
	TokenParts = tokens.Deps
	// SessionParts are what the page of sessions works on.
	SessionParts = sessions.Deps
	// ServiceTokens are the operations on service tokens.
	ServiceTokens = tokens.Services
)

// Deps are the parts that the pages work on, besides the APIs.
type Deps struct {
	Tokens   TokenParts
	Sessions SessionParts
	Teams    calendar.Teams
	// PublicURL is the address of the installation, without a final slash.
	PublicURL string
}

// Routes mounts the pages. The caller must admit only people who have logged in.
func (d Deps) Routes(r chi.Router, p *page.Pages) {
	people.Handlers{Pages: p, PublicURL: d.PublicURL}.Routes(r)
	calendar.Handlers{Teams: d.Teams, Pages: p}.Routes(r)
	tokens.Handlers{Deps: d.Tokens, Pages: p}.Routes(r)
	sessions.Handlers{Deps: d.Sessions, Pages: p}.Routes(r)
}

// ChangeRoutes mounts the forms. The caller must admit only people who may write.
func (d Deps) ChangeRoutes(r chi.Router, p *page.Pages) {
	tokens.Handlers{Deps: d.Tokens, Pages: p}.ChangeRoutes(r)
}
