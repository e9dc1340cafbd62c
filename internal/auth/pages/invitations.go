package pages

import (
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/iris-oncall/iris/internal/auth/accounts"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/humanize"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/web/page"
	"github.com/iris-oncall/iris/internal/web/wire"
)

type invitationsView struct {
	page.Frame
	Rows    []accounts.Invitation
	Mails   bool
	Typed   accounts.NewInvitation
	Teams   string // as typed
	Problem string
}

// mostShown is how many invitations the page shows.
const mostShown = 500

// invitations shows the open invitations, and the form for another one.
func (a *Account) invitations(rw http.ResponseWriter, r *http.Request) {
	a.renderInvitations(rw, r, http.StatusOK, invitationsView{})
}

func (a *Account) renderInvitations(rw http.ResponseWriter, r *http.Request, status int, v invitationsView) {
	found, err := a.Administration.Invitations.Do(r.Context(), page.Actor(r), operation.Paging{Limit: mostShown})
	if err == nil {
		v.Mails, err = a.Mails(r.Context())
	}
	if err != nil {
		a.pages.Fail(rw, r, err)
		return
	}
	v.Rows, v.Frame = found.Items, a.pages.Frame(r, "Invitations", "invitations")
	a.pages.Render(rw, r, status, "invitations", v)
}

func (a *Account) invite(rw http.ResponseWriter, r *http.Request) {
	form := page.Typed(r)
	n := accounts.NewInvitation{Name: form.Get("name"), FullName: operation.Text(form.Get("full_name")),
		Email: form.Get("email"), Role: operation.Text(form.Get("role"))}
	for team := range strings.SplitSeq(form.Get("teams"), ",") {
		if team = strings.TrimSpace(team); team != "" {
			n.Teams = append(n.Teams, team)
		}
	}
	made, err := a.Administration.Invite.Do(r.Context(), page.Actor(r), n)
	if fault.Is(err, fault.Invalid) || fault.Is(err, fault.Conflict) {
		a.renderInvitations(rw, r, http.StatusUnprocessableEntity,
			invitationsView{Typed: n, Teams: form.Get("teams"), Problem: humanize.Sentence(fault.Public(err))})
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

// invitation names the invitation of the path; none has the number 0.
func invitation(r *http.Request) accounts.OneInvitation {
	id, _ := strconv.ParseInt(wire.Param(r, "invitation"), 10, 64)
	return accounts.OneInvitation{ID: id}
}

func (a *Account) resend(rw http.ResponseWriter, r *http.Request) {
	sent, err := a.Administration.Resend.Do(r.Context(), page.Actor(r), invitation(r))
	a.toInvitations(rw, r, "The invitation of "+sent.Name+
		" is on its way again. Its earlier link no longer works.", err)
}

func (a *Account) revoke(rw http.ResponseWriter, r *http.Request) {
	_, err := a.Administration.Revoke.Do(r.Context(), page.Actor(r), invitation(r))
	a.toInvitations(rw, r, "The invitation is revoked. Its link no longer works.", err)
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
