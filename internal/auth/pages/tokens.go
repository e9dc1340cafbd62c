// This file serves the pages of personal tokens and service tokens, and the page on which a person allows a command
// line to get a personal token. Only the answer that creates a token shows its secret.

package pages

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/iris-oncall/iris/internal/auth/servicetokens"
	"github.com/iris-oncall/iris/internal/auth/tokens"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/web/page"
)

// Grants stores what people allow to command lines.
type Grants interface {
	Add(ctx context.Context, hash []byte, g tokens.Grant) error
}

// TokenDeps are the parts that the pages work on.
type TokenDeps struct {
	Tokens   *tokens.Tokens
	Services *servicetokens.Services
	Grants   Grants
}

// TokenPages serves the pages. It is safe for concurrent use.
type TokenPages struct {
	TokenDeps
	Pages *page.Pages
}

// Routes mounts the pages.
func (h TokenPages) Routes(r chi.Router) {
	page.Get(r, "/tokens", h.list)
	page.Get(r, "/service-tokens", h.listServices)
	page.Get(r, "/login/command-line", h.askPerson)
}

// ChangeRoutes mounts the forms. The caller must admit only people who may write.
func (h TokenPages) ChangeRoutes(r chi.Router) {
	r.Post("/tokens", h.create)
	r.Post("/tokens/{token}/revoke", h.revoke)
	r.Post("/service-tokens", h.createService)
	r.Post("/service-tokens/{token}/revoke", h.revokeService)
	r.Post("/login/command-line", h.answerCommandLine)
}

// scope is a scope with its description.
type scope struct {
	Name tokens.Scope
	Text string
}

// scopes are all scopes, the narrowest first. every describes the widest one.
func scopes(every string) []scope {
	return []scope{
		{tokens.Read, "read everything except secrets"},
		{tokens.Incidents, "change incidents and silences, send notifications"},
		{tokens.Oncall, "change calendars and teams"},
		{tokens.Config, "change plans, templates, applications, integrations and heartbeats"},
		{tokens.Admin, every},
	}
}

// The widest scope of the two kinds of tokens.
const (
	everyPersonal = "everything that you may do, such as creating tokens"
	everyService  = "everything that an administrator of the team may do, or an administrator of Iris"
)

// described returns a scope of a personal token.
func described(s tokens.Scope) scope {
	for _, one := range scopes(everyPersonal) {
		if one.Name == s {
			return one
		}
	}
	return scope{Name: s}
}

func join(s tokens.Scopes) string {
	names := make([]string, len(s))
	for i, one := range s {
		names[i] = string(one)
	}
	return strings.Join(names, ",")
}

// list shows the reader's tokens, newest first; with ?all=true it shows administrators those of everybody.
func (h TokenPages) list(rw http.ResponseWriter, r *http.Request) {
	h.render(rw, r, http.StatusOK, personal(r), tokenListView{})
}

// personal is the list of personal tokens that a request is about.
func personal(r *http.Request) string {
	if r.FormValue("all") == "true" {
		return listAll
	}
	return listOwn
}

// create stores a token and shows its secret.
func (h TokenPages) create(rw http.ResponseWriter, r *http.Request) {
	c, err := typed(r, h.Tokens.Most)
	v := tokenListView{Typed: c}
	if err == nil {
		var made tokens.Made
		made, err = h.Tokens.Create.Do(r.Context(), page.Actor(r), c.New())
		v.Secret = made.Secret
	}
	h.created(rw, r, listOwn, v, err)
}

func (h TokenPages) revoke(rw http.ResponseWriter, r *http.Request) {
	_, err := h.Tokens.Revoke.Do(r.Context(), page.Actor(r), tokens.One{ID: tokenNumber(r)})
	h.revoked(rw, r, personal(r), err)
}

// listServices shows the service tokens that the reader manages, newest first.
func (h TokenPages) listServices(rw http.ResponseWriter, r *http.Request) {
	h.render(rw, r, http.StatusOK, listServices, tokenListView{})
}

// createService stores a service token and shows its secret.
func (h TokenPages) createService(rw http.ResponseWriter, r *http.Request) {
	c, err := typed(r, h.Services.Most)
	v := tokenListView{Typed: c, Team: page.Typed(r).Get("team")}
	if err == nil {
		var made servicetokens.Made
		made, err = h.Services.Create.Do(r.Context(), page.Actor(r),
			servicetokens.New{New: c.New(), Team: operation.Text(v.Team)})
		v.Secret = made.Secret
	}
	h.created(rw, r, listServices, v, err)
}

func (h TokenPages) revokeService(rw http.ResponseWriter, r *http.Request) {
	_, err := h.Services.Revoke.Do(r.Context(), page.Actor(r), servicetokens.One{ID: tokenNumber(r)})
	h.revoked(rw, r, listServices, err)
}

// created shows a list with the secret of a new token, or with the reason of a refusal and what was typed.
func (h TokenPages) created(rw http.ResponseWriter, r *http.Request, list string, v tokenListView, err error) {
	switch {
	case err == nil:
		v.Typed, v.Team = tokens.Content{}, ""
		h.render(rw, r, http.StatusOK, list, v)
	case fault.Is(err, fault.Invalid), fault.Is(err, fault.Conflict):
		v.Secret, v.Problem = "", fault.Public(err)
		h.render(rw, r, http.StatusBadRequest, list, v)
	default:
		h.Pages.Fail(rw, r, err)
	}
}

// revoked returns to a list.
func (h TokenPages) revoked(rw http.ResponseWriter, r *http.Request, list string, err error) {
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	h.Pages.Done(rw, r, list, "The token is revoked. Every process refuses it from the next request on.")
}

// typed returns the content that the reader typed. Without a life, as where the installation allows less than a day,
// the usual one is taken.
func typed(r *http.Request, most time.Duration) (c tokens.Content, err error) {
	c.Name, c.Life = page.Typed(r).Get("name"), tokens.UsualLife(most)
	if text := r.PostFormValue("days"); text != "" {
		days, err := strconv.Atoi(text)
		if err != nil || days < 1 || days > int(tokens.MaxLife/day) {
			return c, fault.Invalidf("days", "days must be between 1 and %d", int(tokens.MaxLife/day))
		}
		c.Life = time.Duration(days) * day
	}
	if c.Scopes, err = tokens.ParseScopes(r.PostForm["scopes"]); err != nil {
		return c, err
	}
	return c, c.Check(most)
}

// tokenNumber returns the number of the token of the path; 0, which no token has, if it has none.
func tokenNumber(r *http.Request) tokens.ID {
	id, _ := strconv.ParseInt(chi.URLParam(r, "token"), 10, 64)
	return tokens.ID(id)
}
