package pages

import (
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/auth/accounts"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/humanize"
	"github.com/iris-oncall/iris/internal/web/page"
	"github.com/iris-oncall/iris/internal/web/wire"
)

type invitationsView struct {
	page.Frame
	Rows    []accounts.Invitation
	Mails   bool
	Typed   accounts.Invitation
	Teams   string // as typed
	Problem string
}

// mostShown is how many invitations the page shows.
const mostShown = 500

// administrator refuses readers who are no administrators.
func (a *Account) administrator(rw http.ResponseWriter, r *http.Request) bool {
	if err := (auth.Actor{}).As(page.Reader(r)).MayAdminister(); err != nil {
		a.pages.Fail(rw, r, err)
		return false
	}
	return true
}

// invitations shows the open invitations, and the form for another one.
func (a *Account) invitations(rw http.ResponseWriter, r *http.Request) {
	if a.administrator(rw, r) {
		a.renderInvitations(rw, r, http.StatusOK, invitationsView{})
	}
}

func (a *Account) renderInvitations(rw http.ResponseWriter, r *http.Request, status int, v invitationsView) {
	var err error
	if v.Rows, err = a.Invitations.Page(r.Context(), 0, mostShown); err == nil {
		v.Mails, err = a.Mails(r.Context())
	}
	if err != nil {
		a.pages.Fail(rw, r, err)
		return
	}
	v.Frame = a.pages.Frame(r, "Invitations", "invitations")
	a.pages.Render(rw, r, status, "invitations", v)
}

func (a *Account) invite(rw http.ResponseWriter, r *http.Request) {
	if !a.administrator(rw, r) {
		return
	}
	form := page.Typed(r)
	i := accounts.Invitation{Name: form.Get("name"), FullName: form.Get("full_name"), Email: form.Get("email"),
		Role: form.Get("role"), InvitedBy: page.Reader(r).Name}
	for team := range strings.SplitSeq(form.Get("teams"), ",") {
		if team = strings.TrimSpace(team); team != "" {
			i.Teams = append(i.Teams, team)
		}
	}
	made, err := a.Invitations.Invite(r.Context(), i)
	if fault.Is(err, fault.Invalid) || fault.Is(err, fault.Conflict) {
		a.renderInvitations(rw, r, http.StatusUnprocessableEntity,
			invitationsView{Typed: i, Teams: form.Get("teams"), Problem: humanize.Sentence(fault.Public(err))})
		return
	}
	a.toInvitations(rw, r, "The invitation of "+made.Name+" is on its way.", err)
}

func (a *Account) toInvitations(rw http.ResponseWriter, r *http.Request, done string, err error) {
	if err != nil {
		a.pages.Fail(rw, r, err)
		return
	}
	a.pages.Done(rw, r, "/invitations", done)
}

// number returns the number of the invitation in the path; 0 = none has it.
func number(r *http.Request) int64 {
	id, err := strconv.ParseInt(wire.Param(r, "invitation"), 10, 64)
	if err != nil {
		return 0
	}
	return id
}

func (a *Account) resend(rw http.ResponseWriter, r *http.Request) {
	if a.administrator(rw, r) {
		sent, err := a.Invitations.Resend(r.Context(), number(r), page.Reader(r).Name)
		a.toInvitations(rw, r, "The invitation of "+sent.Name+
			" is on its way again. Its earlier link no longer works.", err)
	}
}

func (a *Account) revoke(rw http.ResponseWriter, r *http.Request) {
	if a.administrator(rw, r) {
		a.toInvitations(rw, r, "The invitation is revoked. Its link no longer works.",
			a.Invitations.Revoke(r.Context(), number(r), page.Reader(r).Name))
	}
}

func (a *Account) showInvitation(rw http.ResponseWriter, r *http.Request) {
	a.renderInvitation(rw, r, http.StatusOK, "")
}

// renderInvitation shows the form for the password of an invited person, or that the link is not valid.
func (a *Account) renderInvitation(rw http.ResponseWriter, r *http.Request, status int, problem string) {
	v := resetView{Frame: page.Frame{Title: "Welcome to Iris"}, Problem: problem}
	i, err := a.Invitations.Open(r.Context(), wire.Param(r, "token"))
	switch {
	case errors.Is(err, accounts.ErrLink):
		status = http.StatusNotFound
	case err != nil:
		a.pages.Fail(rw, r, err)
		return
	}
	v.Name = i.Name
	a.pages.Render(rw, r, status, "invitation", v)
}

// accept creates the account and begins its session.
func (a *Account) accept(rw http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(rw, r.Body, maxForm)
	password := r.PostFormValue("password")
	if password != r.PostFormValue("again") {
		a.renderInvitation(rw, r, http.StatusUnprocessableEntity, "The passwords differ.")
		return
	}
	u, err := a.Invitations.Accept(r.Context(), wire.Param(r, "token"), password)
	to := ""
	if err == nil {
		to, err = a.Enter(r, u, "/")
	}
	switch {
	case fault.Is(err, fault.Invalid) || fault.Is(err, fault.Conflict):
		a.renderInvitation(rw, r, http.StatusUnprocessableEntity, humanize.Sentence(fault.Public(err)))
	case errors.Is(err, accounts.ErrLink):
		a.renderInvitation(rw, r, http.StatusNotFound, "")
	case err != nil:
		a.pages.Fail(rw, r, err)
	default:
		http.Redirect(rw, r, to, http.StatusSeeOther)
	}
}
