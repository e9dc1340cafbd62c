package accounts

import (
	"context"
	"net/http"

	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/users"
)

// OneInvitation names an invitation.
type OneInvitation struct {
	ID int64 `path:"invitation" json:"id"`
}

// NewInvitation is an invitation that does not exist.
type NewInvitation struct {
	Name     string         `json:"name" doc:"Log-in name."`
	Email    string         `json:"email" doc:"Gets the link, and becomes a verified contact."`
	FullName operation.Text `json:"full_name" required:"false"`
	Role     operation.Text `json:"role" required:"false" doc:"admin or read_only; null = a user."`
	Teams    []string       `json:"teams,omitempty" maxItems:"50" doc:"Names of teams that the person joins."`
}

// Person names a person.
type Person struct {
	User string `path:"user" json:"user"`
}

// The operations on the accounts that Iris keeps, for administrators.
var (
	ListInvitations = operation.Define[operation.Paging, operation.Page[Invitation]](operation.Doc{
		Name: "invitation.list", Method: http.MethodGet, Path: "/v1/invitations", Needs: operation.Admin,
		Summary: "Invitations that nobody has accepted, by number",
		Note:    "No answer has the link. Expired ones are deleted after 30 days."})
	Invite = operation.Define[NewInvitation, Invitation](operation.Doc{Name: "invitation.create",
		Method: http.MethodPost, Path: "/v1/invitations", Needs: operation.Admin,
		Audit: []audit.Action{audit.InvitationAdded}, Errors: []int{http.StatusConflict, http.StatusUnprocessableEntity},
		Summary: "Invite a person by e-mail",
		Note:    "The link works once, for 72 hours. 409: a person or an invitation has the name, or no processor sends mails."})
	Resend = operation.Define[OneInvitation, Invitation](operation.Doc{Name: "invitation.send",
		Method: http.MethodPost, Path: "/v1/invitations/{invitation}/send", Needs: operation.Admin,
		Status: http.StatusOK, Audit: []audit.Action{audit.InvitationSentAgain}, Errors: []int{http.StatusConflict},
		Summary: "Send a new link of an invitation; the one before no longer works"})
	Revoke = operation.Define[OneInvitation, operation.None](operation.Doc{Name: "invitation.revoke",
		Method: http.MethodDelete, Path: "/v1/invitations/{invitation}", Needs: operation.Admin,
		Audit: []audit.Action{audit.InvitationRevoked}, Summary: "Revoke an invitation: its link no longer works"})
	SendPasswordLink = operation.Define[Person, operation.None](operation.Doc{Name: "user.send-password-link",
		Method: http.MethodPost, Path: "/v1/users/{user}/password-link", Needs: operation.Admin,
		Status: http.StatusAccepted, Audit: []audit.Action{audit.PasswordLinkSent}, Errors: []int{http.StatusConflict},
		Summary: "Send a person the link of a new password by mail",
		Note:    "The link works once, for 30 minutes. 409: the person has no password of Iris or no verified e-mail contact, got too many links lately, or no processor sends mails."})
	RemoveFactor = operation.Define[Person, operation.None](operation.Doc{Name: "user.remove-second-factor",
		Method: http.MethodDelete, Path: "/v1/users/{user}/second-factor", Needs: operation.Admin,
		Audit: []audit.Action{audit.SecondFactorRemoved}, Summary: "Remove the second factor of a person",
		Note: "For people who lost it. If the policy requires one, the person sets up a new one at the next log-in with a password. 404: the person has none."})
)

// Administration has the operations of administrators. They are safe for concurrent use.
type Administration struct {
	Invitations      operation.Op[operation.Paging, operation.Page[Invitation]]
	Invite           operation.Op[NewInvitation, Invitation]
	Resend           operation.Op[OneInvitation, Invitation]
	Revoke           operation.Op[OneInvitation, operation.None]
	SendPasswordLink operation.Op[Person, operation.None]
	RemoveFactor     operation.Op[Person, operation.None]

	people      users.Finder
	invitations Invitations
	resets      Resets
	factors     *Factors
}

// NewAdministration returns the operations.
func NewAdministration(people users.Finder, i Invitations, r Resets, f *Factors) *Administration {
	a := &Administration{people: people, invitations: i, resets: r, factors: f}
	a.Invitations, a.Invite, a.Resend, a.Revoke = ListInvitations.By(a.list), Invite.By(a.invite), Resend.By(a.resend), Revoke.By(a.revoke)
	a.SendPasswordLink, a.RemoveFactor = SendPasswordLink.By(a.sendLink), RemoveFactor.By(a.removeFactor)
	return a
}

func (a *Administration) list(ctx context.Context, _ operation.Actor, p operation.Paging) (out operation.Page[Invitation], err error) {
	after, err := p.Before()
	if err != nil {
		return out, err
	}
	found, err := a.invitations.Page(ctx, after, p.Size()+1)
	return operation.PageOf(p, found, func(one Invitation) int64 { return one.ID }), err
}

func (a *Administration) invite(ctx context.Context, by operation.Actor, n NewInvitation) (Invitation, error) {
	return a.invitations.Invite(ctx, Invitation{Name: n.Name, FullName: n.FullName, Email: n.Email, Role: n.Role,
		Teams: n.Teams, InvitedBy: by.Name})
}

func (a *Administration) resend(ctx context.Context, by operation.Actor, one OneInvitation) (Invitation, error) {
	return a.invitations.Resend(ctx, one.ID, by.Name)
}

func (a *Administration) revoke(ctx context.Context, by operation.Actor, one OneInvitation) (none operation.None, err error) {
	return none, a.invitations.Revoke(ctx, one.ID, by.Name)
}

func (a *Administration) sendLink(ctx context.Context, by operation.Actor, p Person) (none operation.None, err error) {
	u, err := a.people.ByName(ctx, p.User)
	if err != nil {
		return none, err
	}
	sends, err := a.invitations.Mails(ctx)
	if err == nil && !sends {
		err = fault.New(fault.Conflict, "this installation sends no mails: set the password with iris user passwd")
	}
	if err != nil {
		return none, err
	}
	return none, a.resets.SendTo(ctx, u, by.Name)
}

func (a *Administration) removeFactor(ctx context.Context, by operation.Actor, p Person) (none operation.None, err error) {
	u, err := a.people.ByName(ctx, p.User)
	if err != nil {
		return none, err
	}
	return none, a.factors.RemoveOf(ctx, u, by.Name)
}
