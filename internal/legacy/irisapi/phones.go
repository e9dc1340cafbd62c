package irisapi

import (
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/routing"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// get answers with the id of a person in Slack. Slack finds it by an e-mail address: that of the Slack contact, or else
// that of the e-mail contact.
func (p slackIDs) get(w http.ResponseWriter, r *http.Request) error {
	if p.SlackID == nil {
		w.Header().Set("Content-Type", "application/json") // as in Iris, although the body is no JSON
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, "Slack integration is not configured")
		return nil
	}
	u, err := p.People.ByName(r.Context(), wire.Param(r, "username"))
	if err != nil {
		return err
	}
	profile, err := p.Settings.Profile(r.Context(), u.ID)
	if err != nil {
		return err
	}
	email := profile.Contacts[users.Slack]
	if users.CheckContact(users.Email, email) != nil {
		email = profile.Contacts[users.Email]
	}
	if email == "" {
		return fault.New(fault.Invalid, "User has no email contact to be found in Slack by")
	}
	id, err := p.SlackID(r.Context(), email)
	if err != nil {
		return err
	}
	return routing.Answer(w, http.StatusCreated, Record{{"slack_id", id}})
}

// maxRegistration is the longest registration id in bytes. The database has an index on it.
const maxRegistration = 2000

// register registers a phone for push messages.
func (p devices) register(w http.ResponseWriter, r *http.Request) error {
	actor := wire.Actor(r.Context())
	if err := actor.MayRegisterDevice(users.User{ID: actor.UserID, Name: actor.Username}, p.DeviceApplications); err != nil {
		return err
	}
	b := ReadBody(w, r, "")
	name := b.Text("username")
	d := users.Device{RegistrationID: b.Text("registration_id"), Platform: b.Text("platform")}
	blank := slices.ContainsFunc([]string{name, d.RegistrationID, d.Platform},
		func(s string) bool { return strings.TrimSpace(s) == "" })
	b.Check(!blank, fault.New(fault.Invalid, "Missing parameters for adding device"))
	b.Check(len(d.RegistrationID) <= maxRegistration && len(d.Platform) <= 100,
		fault.Invalidf("registration_id", "registration_id can have %d bytes, platform 100", maxRegistration))
	if err := b.Err(); err != nil {
		return err
	}
	u, err := Person(r.Context(), p.People, name)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return err
	}
	if err := actor.MayRegisterDevice(u, p.DeviceApplications); err != nil {
		return err
	}
	if err != nil {
		return fault.Invalidf("username", "User %s not found", name)
	}
	return Empty(w, http.StatusCreated, p.Settings.RegisterDevice(r.Context(), u, d, By(r)))
}
