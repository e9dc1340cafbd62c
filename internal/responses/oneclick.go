package responses

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/wire"
)

const (
	oneClickKeys = "Post body missing required key or key of wrong type"
	oneClickOnly = "GmailOneClick only supports claiming individual messages"
)

// relayedOneClick handles the button of a mail that a relay has verified.
func (s *Responses) relayedOneClick(w http.ResponseWriter, r *http.Request) error {
	members, err := object(w, r)
	if err != nil {
		return err
	}
	id, isNumber := messageNumber(members["msg_id"])
	text, ok := texts(members, "email_address", "cmd")
	switch {
	case !ok || !isNumber:
		return fault.Invalidf("msg_id", oneClickKeys)
	case text[1] != "claim":
		return fault.Invalidf("cmd", oneClickOnly)
	}
	_, err = s.press(r, id, text[0])
	if err != nil {
		return err
	}
	wire.Empty(w, http.StatusNoContent)
	return nil
}

// oneClick handles the button of a mail, posted by Gmail. Iris signed the address of the button, and it expires. Only POST
// acts, because mail scanners follow links with GET.
func (s *Responses) oneClick(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	id, err := strconv.ParseInt(q.Get("msg_id"), 10, 64)
	switch {
	case s.d.OneClick == nil:
		err = fault.New(fault.Forbidden, "Gmail's button is switched off")
	case s.d.OneClick.Verify(q, time.Now()) != nil:
		err = fault.New(fault.Forbidden, "The link has expired, or Iris did not sign it")
	case err != nil:
		err = fault.Invalidf("msg_id", oneClickKeys)
	case q.Get("cmd") != "claim":
		err = fault.Invalidf("cmd", oneClickOnly)
	default:
		var said string
		if said, err = s.press(r, messages.ID(id), q.Get("email_address")); err == nil && said == textUnknownSource {
			err = fault.New(fault.Invalid, textUnknownSource)
		}
	}
	if err != nil {
		s.d.Errors.Write(w, r, err)
		return
	}
	wire.Empty(w, http.StatusNoContent)
}

// press claims one message's incident for the owner of the address.
func (s *Responses) press(r *http.Request, id messages.ID, email string) (string, error) {
	kept := messages.Answer{Mode: users.Email, Source: "button", MessageID: id, Content: "claim"}
	said, err := s.obey(r.Context(), writing(email), messages.Reply{Command: messages.CommandClaim, MessageID: id}, &kept)
	return s.settle(r, said, err, &kept)
}

func writing(address string) from { return from{users.Email, address, incidents.ViaEmail} }

// applicationOf is the application of an answered message; 0 = none.
func (s *Responses) applicationOf(ctx context.Context, kept messages.Answer) int64 {
	if kept.MessageID != 0 {
		if m, err := s.d.Pages.Asked(ctx, kept.MessageID); err == nil {
			return m.ApplicationID
		}
	}
	if kept.IncidentID != 0 {
		if i, err := s.d.Incidents.Get(ctx, kept.IncidentID); err == nil {
			return i.ApplicationID
		}
	}
	return 0
}
