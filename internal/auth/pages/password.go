package pages

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/httprate"
	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/auth/accounts"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/humanize"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/page"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// An address may ask so often for a link within askWindow.
const (
	asksPerAddress = 20
	askWindow      = 10 * time.Minute
)

func (a *Account) passwordRoutes(r chi.Router) {
	limit := httprate.LimitBy(asksPerAddress, askWindow, wire.ByAddress, httprate.WithLimitHandler(a.tooMany))
	page.Get(r, "/login/password", a.askForgotten)
	r.With(limit).Post("/login/password", a.forgotten)
	page.Get(r, "/login/password/{token}", a.showReset)
	r.Post("/login/password/{token}", a.reset)
}

type forgottenView struct {
	page.Frame
	Sent, Mails bool
	Problem     string
}

func (a *Account) askForgotten(rw http.ResponseWriter, r *http.Request) {
	a.renderForgotten(rw, r, http.StatusOK, forgottenView{})
}

func (a *Account) tooMany(rw http.ResponseWriter, r *http.Request) {
	a.renderForgotten(rw, r, http.StatusTooManyRequests,
		forgottenView{Problem: "Too many links were asked for from your address. Try again in ten minutes."})
}

func (a *Account) renderForgotten(rw http.ResponseWriter, r *http.Request, status int, v forgottenView) {
	var err error
	if v.Mails, err = a.Mails(r.Context()); err != nil {
		a.pages.Fail(rw, r, err)
		return
	}
	v.Title = "Forgot your password?"
	a.pages.Render(rw, r, status, "forgotten", v)
}

// forgotten sends a link if there is such a person. Its answer and its time are the same if there is none.
func (a *Account) forgotten(rw http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(rw, r.Body, maxForm)
	pause := time.NewTimer(a.Pause)
	defer pause.Stop()
	err := a.Resets.Ask(r.Context(), r.PostFormValue("login"))
	if fault.Is(err, fault.Unavailable) {
		a.pages.Fail(rw, r, err)
		return
	}
	if err != nil {
		a.log.Error("the link of a password reset cannot be sent", zap.Error(err))
	}
	select {
	case <-pause.C:
	case <-r.Context().Done():
	}
	a.renderForgotten(rw, r, http.StatusOK, forgottenView{Sent: true})
}

type resetView struct {
	page.Frame
	Name, Problem string
	Done          bool
	Tokens        string // what became of the personal tokens
}

func (a *Account) showReset(rw http.ResponseWriter, r *http.Request) {
	a.renderReset(rw, r, http.StatusOK, "")
}

// renderReset shows the form for a new password, or that the link is not valid.
func (a *Account) renderReset(rw http.ResponseWriter, r *http.Request, status int, problem string) {
	v := resetView{Frame: page.Frame{Title: "Set a new password"}, Problem: problem}
	u, err := a.Resets.Person(r.Context(), wire.Param(r, "token"))
	switch {
	case errors.Is(err, accounts.ErrLink):
		status = http.StatusNotFound
	case err != nil:
		a.pages.Fail(rw, r, err)
		return
	}
	v.Name = u.Name
	a.pages.Render(rw, r, status, "new-password", v)
}

func (a *Account) reset(rw http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(rw, r.Body, maxForm)
	ctx, password := r.Context(), r.PostFormValue("password")
	if password != r.PostFormValue("again") {
		a.renderReset(rw, r, http.StatusUnprocessableEntity, "The passwords differ.")
		return
	}
	of, err := a.Resets.Set(ctx, wire.Param(r, "token"), password)
	switch {
	case fault.Is(err, fault.Invalid):
		a.renderReset(rw, r, http.StatusUnprocessableEntity, humanize.Sentence(fault.Public(err)))
	case errors.Is(err, accounts.ErrLink):
		a.renderReset(rw, r, http.StatusNotFound, "")
	case err != nil:
		a.pages.Fail(rw, r, err)
	default:
		ended, err := a.endTokens(r, of.User)
		if err != nil {
			a.pages.Fail(rw, r, err)
			return
		}
		if err := a.Resets.Inform(context.WithoutCancel(ctx), of); err != nil {
			a.log.Error("the mail about a changed password cannot be sent", zap.Error(err))
		}
		a.pages.Render(rw, r, http.StatusOK, "new-password",
			resetView{Frame: page.Frame{Title: "Your password is set"}, Done: true, Tokens: ended})
	}
}

// passwordPath is where people send the form for another password.
const passwordPath = "/account/password"

// changePassword changes the password of the reader, who knows the old one. Other sessions of the reader end.
func (a *Account) changePassword(rw http.ResponseWriter, r *http.Request) {
	u, ok := a.confirmed(rw, r)
	if !ok {
		return
	}
	ctx, password := r.Context(), r.PostFormValue("new_password")
	if password != r.PostFormValue("again") {
		a.renderLogin(rw, r, http.StatusUnprocessableEntity,
			page.Refusal{Field: "again", Text: "The new passwords differ."})
		return
	}
	u, err := a.Passwords.Change(ctx, u, password)
	switch {
	case fault.Is(err, fault.Invalid):
		a.renderLogin(rw, r, http.StatusUnprocessableEntity,
			page.Refusal{Field: "new_password", Text: humanize.Sentence(fault.Public(err))})
		return
	case fault.Is(err, fault.Conflict):
		a.renderLogin(rw, r, http.StatusConflict, page.Refusal{Text: humanize.Sentence(fault.Public(err))})
		return
	case err == nil:
		_, err = wire.BeginSession(ctx, a.sessions, a.userKey, u, a.sessions.GetString(ctx, auth.SessionHow),
			time.Now())
	}
	ended := ""
	if err == nil {
		ended, err = a.endTokens(r, u)
	}
	if err != nil {
		a.pages.Fail(rw, r, err)
		return
	}
	a.pages.Done(rw, r, "/account/second-factor", "Your password is changed, and your other sessions have ended. "+
		ended)
}

// endTokens revokes the personal tokens of a person whose new password is stored, if the form asks for it. It returns a
// sentence about them.
func (a *Account) endTokens(r *http.Request, u users.User) (string, error) {
	if r.PostFormValue("end_tokens") == "" {
		return "Personal tokens still work.", nil
	}
	n, err := a.Tokens.RevokeAll(r.Context(), u)
	if n == 0 {
		return "You have no personal tokens.", err
	}
	return humanize.Sentence(humanize.Count(n, "personal token has", "personal tokens have") + " ended"), err
}
