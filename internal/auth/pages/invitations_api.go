package pages

import (
	"context"
	"net/http"
	"strconv"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/auth/accounts"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/web/jsonbody"
	"github.com/iris-oncall/iris/internal/web/listing"
	"github.com/iris-oncall/iris/internal/web/routing"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// Invitations invites people; see accounts.Invitations.
type Invitations interface {
	Invite(ctx context.Context, i accounts.Invitation) (accounts.Invitation, error)
	Resend(ctx context.Context, id int64, by string) (accounts.Invitation, error)
	Page(ctx context.Context, after int64, most int) ([]accounts.Invitation, error)
	Revoke(ctx context.Context, id int64, by string) error
}

// invitation is an invitation on the wire. No answer has its link.
type invitation struct {
	ID        int64    `json:"id"`
	Name      string   `json:"name"`
	FullName  *string  `json:"full_name"`
	Email     string   `json:"email"`
	Role      *string  `json:"role"`
	Teams     []string `json:"teams"`
	InvitedBy string   `json:"invited_by"`
	CreatedAt *string  `json:"created_at"`
	ExpiresAt *string  `json:"expires_at"`
}

func show(i accounts.Invitation) any {
	return invitation{ID: i.ID, Name: i.Name, FullName: listing.OrNull(i.FullName), Email: i.Email,
		Role: listing.OrNull(i.Role), Teams: routing.OrEmpty(i.Teams),
		InvitedBy: i.InvitedBy, CreatedAt: listing.Time(i.CreatedAt), ExpiresAt: listing.Time(i.ExpiresAt)}
}

// list answers with the open invitations, by number.
func (a routes) list(w http.ResponseWriter, r *http.Request) error {
	if err := wire.Actor(r.Context()).MayAdminister(); err != nil {
		return err
	}
	q, err := listing.Read(r)
	if err != nil {
		return err
	}
	after := int64(0)
	if q.AfterName() != "" {
		if after, err = strconv.ParseInt(q.AfterName(), 10, 64); err != nil || after <= 0 {
			return listing.BadCursor()
		}
	}
	found, err := a.Invitations.Page(r.Context(), after, q.Size+1)
	if err != nil {
		return err
	}
	return listing.AnswerFrom(w, q, found, show,
		func(i accounts.Invitation) string { return strconv.FormatInt(i.ID, 10) })
}

// mostTeams is how many teams an invitation may name.
const mostTeams = 50

func (a routes) invite(w http.ResponseWriter, r *http.Request) error {
	by := wire.Actor(r.Context())
	if err := by.MayAdminister(); err != nil {
		return err
	}
	b, err := jsonbody.ReadKnown(w, r, "name", "full_name", "email", "role", "teams")
	if err != nil {
		return err
	}
	i := accounts.Invitation{InvitedBy: by.String()}
	if i.Name, err = b.Required("name"); err != nil {
		return err
	}
	if i.Email, err = b.Required("email"); err != nil {
		return err
	}
	for name, into := range map[string]*string{"full_name": &i.FullName, "role": &i.Role} {
		if *into, err = b.Text(name); err != nil {
			return err
		}
	}
	if i.Teams, _, err = b.Names("teams", mostTeams); err != nil {
		return err
	}
	made, err := a.Invitations.Invite(r.Context(), i)
	return routing.Reply(w, http.StatusCreated, show(made), err)
}

// numbered returns the number of the invitation in the path and the author of the change, if the caller is an
// administrator.
func numbered(r *http.Request) (id int64, by auth.Actor, err error) {
	by = wire.Actor(r.Context())
	if err := by.MayAdminister(); err != nil {
		return 0, by, err
	}
	id, err = strconv.ParseInt(wire.Param(r, "invitation"), 10, 64)
	if err != nil || id <= 0 {
		return 0, by, fault.New(fault.NotFound, "there is no such invitation")
	}
	return id, by, nil
}

func (a routes) resend(w http.ResponseWriter, r *http.Request) error {
	id, by, err := numbered(r)
	if err != nil {
		return err
	}
	sent, err := a.Invitations.Resend(r.Context(), id, by.String())
	return routing.Reply(w, http.StatusOK, show(sent), err)
}

func (a routes) revoke(w http.ResponseWriter, r *http.Request) error {
	id, by, err := numbered(r)
	if err != nil {
		return err
	}
	return routing.Done(w, http.StatusNoContent, a.Invitations.Revoke(r.Context(), id, by.String()))
}
