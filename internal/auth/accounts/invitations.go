package accounts

import (
	"context"
	"time"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/users"
)

// InvitationLife is how long the link of an invitation works.
const InvitationLife = 72 * time.Hour

// ErrNoMail refuses an invitation that could not be sent.
var ErrNoMail = fault.New(fault.Conflict,
	"no processor sends mails: configure smtp, or add the person with \"iris user add\"")

// Invitation is an invitation of a person who has no account yet.
type Invitation struct {
	ID        int64          `json:"id"`
	Name      string         `json:"name" doc:"Log-in name."`
	FullName  operation.Text `json:"full_name"`
	Email     string         `json:"email"`
	Role      operation.Text `json:"role" doc:"admin or read_only; null = a user."`
	Teams     []string       `json:"teams" doc:"That the person joins."`
	InvitedBy string         `json:"invited_by"`
	CreatedAt time.Time      `json:"created_at"`
	ExpiresAt time.Time      `json:"expires_at"`
}

// Check returns an Invalid fault about a field that cannot be stored.
func (i Invitation) Check() error {
	if i.Name == "" {
		return fault.Invalidf("name", "the name is missing")
	}
	if err := users.CheckNewName(i.Name); err != nil {
		return err
	}
	if err := users.CheckContact(users.Email, i.Email); err != nil {
		return fault.Invalidf("email", "%s", fault.Public(err))
	}
	if i.Role != "" && i.Role != "admin" && i.Role != "read_only" {
		return fault.Invalidf("role", "the role must be admin, read_only, or absent")
	}
	return nil
}

// InvitationStore stores invitations by the hashes of their tokens. Changes have entries in the audit log; by is the
// author.
type InvitationStore interface {
	// Add stores an invitation. A name that a person or an invitation has is a Conflict fault; an unknown team is an
	// Invalid fault.
	Add(ctx context.Context, i Invitation, hash []byte, life time.Duration) (Invitation, error)
	// Renew replaces the link of an invitation; a NotFound fault if there is none.
	Renew(ctx context.Context, id int64, hash []byte, life time.Duration, by string) (Invitation, error)
	// Page returns at most so many invitations with a larger number than after, by number.
	Page(ctx context.Context, after int64, most int) ([]Invitation, error)
	// Revoke deletes an invitation; a NotFound fault if there is none.
	Revoke(ctx context.Context, id int64, by string) error
}

// InvitationLinks accepts invitations. A link that is not valid is ErrLink.
type InvitationLinks interface {
	Find(ctx context.Context, hash []byte) (Invitation, error)
	// Accept creates the person of an invitation, with a verified e-mail contact.
	Accept(ctx context.Context, hash []byte, passwordHash string) (users.User, error)
}

// Invitations invites people and creates their accounts. It is safe for concurrent use.
type Invitations struct {
	InvitationStore
	Links     InvitationLinks
	Mail      Mailer
	Mails     func(ctx context.Context) (bool, error) // whether mails can be sent now
	Keys      Sealer
	Passwords Hasher
	PublicURL string // without a final slash
}

// Invite stores an invitation and sends its link. If that fails, the invitation stays and can be sent again.
func (s Invitations) Invite(ctx context.Context, i Invitation) (Invitation, error) {
	if err := i.Check(); err != nil {
		return i, err
	}
	return s.send(ctx, func(hash []byte) (Invitation, error) { return s.Add(ctx, i, hash, InvitationLife) })
}

// Resend sends a new link. The one before becomes void.
func (s Invitations) Resend(ctx context.Context, id int64, by string) (Invitation, error) {
	return s.send(ctx, func(hash []byte) (Invitation, error) { return s.Renew(ctx, id, hash, InvitationLife, by) })
}

func (s Invitations) send(ctx context.Context, store func(hash []byte) (Invitation, error)) (Invitation, error) {
	if can, err := s.Mails(ctx); err != nil || !can {
		if err == nil {
			err = ErrNoMail
		}
		return Invitation{}, err
	}
	token := newToken()
	i, err := store(hashToken(token))
	if err != nil {
		return i, err
	}
	return i, s.Mail.Send(ctx, i.Email, "Iris: invitation", "You are invited to Iris, with the user name "+i.Name+
		". To choose a password and log in, open this link within 72 hours. It works once.\n\n"+s.PublicURL+
		"/invitation/"+
		s.Keys.SealForRecipient(token, i.Email)+"\n\nIf you did not expect this, ignore this mail.", InvitationLife)
}

// Open returns the invitation of a valid link, else ErrLink.
func (s Invitations) Open(ctx context.Context, token string) (Invitation, error) {
	return s.Links.Find(ctx, hashToken(token))
}

// Accept creates the person of a link with a password. A password that breaks the rules is an Invalid fault, and the
// link stays valid. A name that another person got meanwhile is a Conflict fault.
func (s Invitations) Accept(ctx context.Context, token, password string) (users.User, error) {
	if _, err := s.Open(ctx, token); err != nil { // before the costly hash
		return users.User{}, err
	}
	hash, err := s.Passwords.HashNew(ctx, password)
	if err != nil {
		return users.User{}, err
	}
	return s.Links.Accept(ctx, hashToken(token), hash)
}
