// Package access mounts the pages about people and their access: people, the on-call calendar, tokens, sessions.
package site

import (
	"github.com/go-chi/chi/v5"

	pagesauth "github.com/iris-oncall/iris/internal/auth/pages"
	pagesoncall "github.com/iris-oncall/iris/internal/oncall/pages"
	"github.com/iris-oncall/iris/internal/users/pages"
	"github.com/iris-oncall/iris/internal/web/page"
)

type (
	// TokenParts are what the pages of tokens work on.
	AccessTokenParts = pagesauth.TokenDeps
	// SessionParts are what the page of sessions works on.
	AccessSessionParts = pagesauth.SessionDeps
	// ServiceTokens are the operations on service tokens.
	AccessServiceTokens = pagesauth.Services
)

// AccessDeps are the parts that the pages work on, besides the APIs.
type AccessDeps struct {
	Tokens   AccessTokenParts
	Sessions AccessSessionParts
	Teams    pagesoncall.Teams
	// PublicURL is the address of the installation, without a final slash.
	PublicURL string
}

// Routes mounts the pages. The caller must admit only people who have logged in.
func (d AccessDeps) Routes(r chi.Router, p *page.Pages) {
	pages.Handlers{Pages: p, PublicURL: d.PublicURL}.Routes(r)
	pagesoncall.Handlers{Teams: d.Teams, Pages: p}.Routes(r)
	pagesauth.TokenPages{TokenDeps: d.Tokens, Pages: p}.Routes(r)
	pagesauth.SessionPages{SessionDeps: d.Sessions, Pages: p}.Routes(r)
}

// ChangeRoutes mounts the forms. The caller must admit only people who may write.
func (d AccessDeps) ChangeRoutes(r chi.Router, p *page.Pages) {
	pagesauth.TokenPages{TokenDeps: d.Tokens, Pages: p}.ChangeRoutes(r)
}
