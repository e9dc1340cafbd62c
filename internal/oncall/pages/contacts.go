package pages

import (
	"context"
	"net/http"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/jsonbody"
	"github.com/iris-oncall/iris/internal/web/listing"
	"github.com/iris-oncall/iris/internal/web/routing"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// Contacts stores, verifies and tests contacts of people. Only a verified contact identifies the sender of a reply.
type Contacts interface {
	List(ctx context.Context, id users.ID) ([]users.Contact, error)
	// Set stores a contact; an empty destination removes it. trusted: the destination needs no verification.
	Set(ctx context.Context, id users.ID, to users.Contact, trusted bool, by string) error
	// SendTest sends a test message in the name of an application, and returns the number of the notification.
	SendTest(ctx context.Context, application int64, u users.User, mode users.Mode, by string) (int64, error)
	// SendCode sends a code to an unverified contact in the name of an application.
	SendCode(ctx context.Context, application int64, id users.ID, mode users.Mode) error
	// Verify marks the contact as verified if the code is right.
	Verify(ctx context.Context, id users.ID, mode users.Mode, code string) error
}

func (a contacts) routes() []routing.Route {
	return []routing.Route{
		routing.Get("/v1/users/{user}/contacts", routing.Self, a.listContacts),
		routing.Put("/v1/users/{user}/contacts/{mode}", routing.Self, a.setContact),
		routing.Delete("/v1/users/{user}/contacts/{mode}", routing.Self, a.removeContact),
		routing.Post("/v1/users/{user}/contacts/{mode}/test", routing.Self, a.testContact),
		routing.Post("/v1/users/{user}/contacts/{mode}/code", routing.Self, a.sendContactCode),
		routing.Post("/v1/users/{user}/contacts/{mode}/verify", routing.Self, a.verifyContact),
	}
}

// listContacts answers with a person's contacts and whether each is verified. It is for callers who may change the
// person's settings.
func (a contacts) listContacts(w http.ResponseWriter, r *http.Request) error {
	u, err := a.contactOwner(r)
	if err != nil {
		return err
	}
	found, err := a.Contacts.List(r.Context(), u.ID)
	if err != nil {
		return err
	}
	sight := wire.Actor(r.Context()).Sight(nil)
	return listing.Answer(w, found, func(c users.Contact) any {
		return map[string]any{
			"mode": c.Mode, "destination": sight.Contact(u.Name, c.Mode,
				c.Destination), "verified": c.Verified, "verifiable": users.Identifies(c.Mode), "managed": c.Managed,
			"failing": listing.OrNull(c.Failing),
		}
	}, "")
}

// setContact adds or replaces a contact. One from an administrator or an application counts as verified. A destination
// that cannot be one of the mode is a 400.
func (a contacts) setContact(w http.ResponseWriter, r *http.Request) error {
	u, mode, err := a.contactOfAny(r)
	if err != nil {
		return err
	}
	b, err := jsonbody.Read(w, r, "invalid payload")
	if err != nil {
		return err
	}
	to, err := b.Required("destination")
	if err != nil {
		return err
	}
	if to, err = a.Region.Contact(mode, to); err != nil {
		return fault.Invalidf("destination", "%s", fault.Public(err))
	}
	actor := wire.Actor(r.Context())
	return routing.Done(w, http.StatusNoContent, a.Contacts.Set(r.Context(), u.ID,
		users.Contact{Mode: mode, Destination: to}, actor.Admin || actor.Username == "", actor.String()))
}

func (a contacts) removeContact(w http.ResponseWriter, r *http.Request) error {
	u, mode, err := a.contactOfAny(r)
	if err != nil {
		return err
	}
	return routing.Done(w, http.StatusNoContent, a.Contacts.Set(r.Context(), u.ID, users.Contact{Mode: mode}, false,
		wire.Actor(r.Context()).String()))
}

// testContact sends a test message to a contact. The answer has the number of the notification, whose message shows
// what became of it.
func (a contacts) testContact(w http.ResponseWriter, r *http.Request) error {
	u, mode, err := a.contactOfAny(r)
	if err != nil {
		return err
	}
	actor := wire.Actor(r.Context())
	id, err := a.Contacts.SendTest(r.Context(), actor.ApplicationID, u.User, mode, actor.String())
	return routing.Reply(w, http.StatusAccepted, map[string]any{"notification_id": id}, err)
}

// contactOfAny finds the user and mode of the path. A mode that has no contacts is an Invalid fault.
func (a contacts) contactOfAny(r *http.Request) (oncall.Person, users.Mode, error) {
	u, err := a.contactOwner(r)
	mode, known := users.ParseMode(routing.Param(r, "mode"))
	if err == nil && (!known || mode == users.Drop) {
		err = fault.Invalidf("mode", "nobody can be reached by %.40q: use email, sms, call, slack, push or webhook",
			routing.Param(r, "mode"))
	}
	return u, mode, err
}

// sendContactCode sends a code to an unverified contact and answers 202. It is for callers who may change the person's
// settings.
func (a contacts) sendContactCode(w http.ResponseWriter, r *http.Request) error {
	u, mode, err := a.contactOf(r)
	if err != nil {
		return err
	}
	return routing.Done(w, http.StatusAccepted, a.Contacts.SendCode(r.Context(), wire.Actor(r.Context()).ApplicationID,
		u.ID, mode))
}

// verifyContact marks a contact as verified if the code in the body is right; a wrong code is a 400.
func (a contacts) verifyContact(w http.ResponseWriter, r *http.Request) error {
	u, mode, err := a.contactOf(r)
	if err != nil {
		return err
	}
	b, err := jsonbody.Read(w, r, "invalid payload")
	if err != nil {
		return err
	}
	code, err := b.Required("code")
	if err != nil {
		return err
	}
	return routing.Done(w, http.StatusOK, a.Contacts.Verify(r.Context(), u.ID, mode, code))
}

// contactOwner finds the user of the path. It refuses callers who may not change the user's settings.
func (a contacts) contactOwner(r *http.Request) (oncall.Person, error) {
	u, err := a.Person(r)
	return u, fault.When(err, fault.NotFound, fault.Newf(fault.NotFound, "there is no user %.100q",
		routing.Param(r, "user")))
}

// contactOf finds the user and mode of the path. A mode whose contacts are not verified is an Invalid fault.
func (a contacts) contactOf(r *http.Request) (oncall.Person, users.Mode, error) {
	u, err := a.contactOwner(r)
	if err != nil {
		return u, "", err
	}
	mode := users.Mode(routing.Param(r, "mode"))
	if !users.Identifies(mode) {
		return u, mode, fault.Invalidf("mode",
			"contacts of the mode %.40q need no verification: email, sms, call and slack do", mode)
	}
	return u, mode, nil
}
