// Package tokens serves the page of personal tokens, and the page on which a person allows a command line to get one. The web site mounts
// them. Only the answer that creates a token shows its secret.
package tokens

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/tokens"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/page"
)

// Tokens stores tokens. The methods are those of the routes of /v1/tokens.
type Tokens interface {
	Page(ctx context.Context, user users.ID, before tokens.ID, most int) ([]tokens.Token, error)
	Create(ctx context.Context, u users.User, c tokens.Content, hash []byte) (tokens.Token, error)
	Revoke(ctx context.Context, id tokens.ID, owner users.ID, actor string) error
}

// Grants stores what people allow to command lines.
type Grants interface {
	Add(ctx context.Context, hash []byte, g tokens.Grant) error
}

// Deps are the parts that the pages work on.
type Deps struct {
	Tokens Tokens
	Grants Grants
	Most   time.Duration // the longest life of a token
}

// Handlers serves the pages. It is safe for concurrent use.
type Handlers struct {
	Deps
	Pages *page.Pages
}

// Routes mounts the pages.
func (h Handlers) Routes(r chi.Router) {
	page.Get(r, "/tokens", h.list)
	page.Get(r, "/login/command-line", h.askPerson)
}

// ChangeRoutes mounts the forms. The caller must admit only people who may write.
func (h Handlers) ChangeRoutes(r chi.Router) {
	r.Post("/tokens", h.create)
	r.Post("/tokens/{token}/revoke", h.revoke)
	r.Post("/login/command-line", h.answerCommandLine)
}

// scope is a scope with its description.
type scope struct {
	Name tokens.Scope
	Text string
}

// scopes are all scopes, the narrowest first.
func scopes() []scope {
	return []scope{
		{tokens.Read, "read everything except secrets"},
		{tokens.Incidents, "change incidents and silences, send notifications"},
		{tokens.Oncall, "change calendars and teams"},
		{tokens.Config, "change plans, templates, applications, integrations and heartbeats"},
		{tokens.Admin, "everything that you may do, such as creating tokens"},
	}
}

func described(s tokens.Scope) scope {
	for _, one := range scopes() {
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

type listView struct {
	page.Frame
	All     bool // the tokens of everybody
	Rows    []row
	More    string // address of the next rows; "" = there are none
	Scopes  []scope
	Lives   []life
	Problem string
	Typed   tokens.Content // of a form that was refused
	Secret  string         // of the token that was just created; "" = none was
}

type row struct {
	tokens.Token
	Expired bool
}

// life is a choice of the form.
type life struct {
	Days     int
	Selected bool
}

// list shows the reader's tokens, newest first; with ?all=true it shows administrators those of everybody.
func (h Handlers) list(rw http.ResponseWriter, r *http.Request) {
	h.render(rw, r, http.StatusOK, listView{})
}

func (h Handlers) render(rw http.ResponseWriter, r *http.Request, status int, v listView) {
	q, reader := r.URL.Query(), page.Reader(r)
	user := reader.ID
	if v.All = q.Get("all") == "true"; v.All {
		if err := actor(r).MayAdminister(); err != nil {
			h.Pages.Fail(rw, r, err)
			return
		}
		user = 0
	}
	before, _ := strconv.ParseInt(q.Get("before"), 10, 64) // 0 = from the newest
	found, err := h.Tokens.Page(r.Context(), user, tokens.ID(max(before, 0)), page.ListLength+1)
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	if len(found) > page.ListLength {
		found = found[:page.ListLength]
		more := url.Values{"before": {fmt.Sprint(found[len(found)-1].ID)}}
		if v.All {
			more.Set("all", "true")
		}
		v.More = "/tokens?" + more.Encode()
	}
	now := time.Now()
	for _, t := range found {
		v.Rows = append(v.Rows, row{t, !t.ExpiresAt.After(now)})
	}
	v.Scopes, v.Lives = scopes(), h.lives(v.Typed.Life)
	v.Frame = h.Pages.Frame(r, "Tokens", "tokens")
	h.Pages.Render(rw, r, status, "tokens", v)
}

const day = 24 * time.Hour

// lives returns the choices of lives that the installation allows. It selects the chosen one, or the usual one if chosen is 0.
func (h Handlers) lives(chosen time.Duration) (out []life) {
	if chosen == 0 {
		chosen = tokens.UsualLife(h.Most)
	}
	for _, days := range []int{1, 7, 30, 90, 180, 366} {
		if l := time.Duration(days) * day; l <= h.Most {
			out = append(out, life{days, l == chosen.Truncate(day)})
		}
	}
	return out
}

// create stores a token and shows its secret.
func (h Handlers) create(rw http.ResponseWriter, r *http.Request) {
	c, err := h.typed(r)
	v := listView{Typed: c}
	if err == nil {
		v.Secret = tokens.Make(tokens.Personal)
		err = h.store(r, c, v.Secret)
	}
	switch {
	case err == nil:
		v.Typed = tokens.Content{}
		h.render(rw, r, http.StatusOK, v)
	case fault.Is(err, fault.Invalid), fault.Is(err, fault.Conflict):
		v.Secret, v.Problem = "", fault.Public(err)
		h.render(rw, r, http.StatusBadRequest, v)
	default:
		h.Pages.Fail(rw, r, err)
	}
}

func (h Handlers) store(r *http.Request, c tokens.Content, secret string) error {
	_, hash, err := tokens.Hash(secret)
	if err != nil {
		return err
	}
	_, err = h.Tokens.Create(r.Context(), page.Reader(r), c, hash)
	return err
}

// typed returns the content that the reader typed. Without a life, as where the installation allows less than a day, the usual one is
// taken.
func (h Handlers) typed(r *http.Request) (c tokens.Content, err error) {
	c.Name, c.Life = page.Storable(strings.TrimSpace(r.PostFormValue("name"))), tokens.UsualLife(h.Most)
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
	return c, c.Check(h.Most)
}

// revoke revokes a token of the reader. Administrators may revoke any.
func (h Handlers) revoke(rw http.ResponseWriter, r *http.Request) {
	reader := page.Reader(r)
	owner := reader.ID
	if actor(r).MayAdminister() == nil {
		owner = 0
	}
	id, err := strconv.ParseInt(chi.URLParam(r, "token"), 10, 64)
	if err != nil || id <= 0 {
		err = fault.New(fault.NotFound, "there is no such token")
	} else {
		err = h.Tokens.Revoke(r.Context(), tokens.ID(id), owner, reader.Name)
	}
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	h.Pages.Sessions.Put(r.Context(), "flash", "The token is revoked. Every process refuses it from the next request on.")
	to := "/tokens"
	if r.PostFormValue("all") == "true" {
		to += "?all=true"
	}
	http.Redirect(rw, r, to, http.StatusSeeOther)
}

func actor(r *http.Request) auth.Actor { return (auth.Actor{}).As(page.Reader(r)) }
