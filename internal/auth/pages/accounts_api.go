// This file serves the routes of /v1 about the accounts that Iris keeps: second factors and invitations. Only
// administrators may use them.

package pages

import (
	"context"
	"net/http"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/routing"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// AccountPeople finds people by name. For an unknown name it returns a NotFound fault.
type AccountPeople interface {
	ByName(ctx context.Context, name string) (users.User, error)
}

// Factors removes second factors. Without one, it returns a NotFound fault. by is the author in the audit log.
type Factors interface {
	RemoveOf(ctx context.Context, u users.User, by string) error
}

// Resets sends links for new passwords. A person who cannot use one is a Conflict fault.
type Resets interface {
	SendTo(ctx context.Context, u users.User, by string) error
}

// AccountDeps are the parts that the routes work on.
type AccountDeps struct {
	People      AccountPeople
	Factors     Factors
	Invitations Invitations
	Resets      Resets
	// Mails reports whether Iris can send mails now.
	Mails func(ctx context.Context) (bool, error)
}

type routes struct{ AccountDeps }

// Routes returns the routes.
func Routes(d AccountDeps) []routing.Route {
	a := routes{d}
	return []routing.Route{
		routing.Delete("/v1/users/{user}/second-factor", routing.Write, a.removeFactor),
		routing.Post("/v1/users/{user}/password-link", routing.Write, a.sendLink),
		routing.Get("/v1/invitations", routing.Someone, a.list),
		routing.Post("/v1/invitations", routing.Write, a.invite),
		routing.Post("/v1/invitations/{invitation}/send", routing.Write, a.resend),
		routing.Delete("/v1/invitations/{invitation}", routing.Write, a.revoke),
	}
}

func (a routes) removeFactor(w http.ResponseWriter, r *http.Request) error {
	by := wire.Actor(r.Context())
	if err := by.MayAdminister(); err != nil {
		return err
	}
	u, err := a.People.ByName(r.Context(), wire.Param(r, "user"))
	if err != nil {
		return err
	}
	if err := a.Factors.RemoveOf(r.Context(), u, by.String()); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// sendLink sends a person the link of a new password by mail.
func (a routes) sendLink(w http.ResponseWriter, r *http.Request) error {
	by := wire.Actor(r.Context())
	if err := by.MayAdminister(); err != nil {
		return err
	}
	u, err := a.People.ByName(r.Context(), wire.Param(r, "user"))
	if err != nil {
		return err
	}
	switch sends, err := a.Mails(r.Context()); {
	case err != nil:
		return err
	case !sends:
		return fault.New(fault.Conflict, "this installation sends no mails: set the password with iris user passwd")
	}
	return routing.Done(w, http.StatusAccepted, a.Resets.SendTo(r.Context(), u, by.String()))
}
