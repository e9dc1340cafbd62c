package answers

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// Texts of the v0 wire.
const (
	oneClickKeys = "Post body missing required key or key of wrong type"
	oneClickOnly = "GmailOneClick only supports claiming individual messages"
)

// gmail serves the button in mails that Gmail shows.
type gmail struct {
	oneClick *auth.OneClick // nil = the button is switched off
	*answers
}

// relayed handles a pressed button that a relay passes on. The relay has verified it.
func (g *gmail) relayed(w http.ResponseWriter, r *http.Request) error {
	members, err := readObject(w, r)
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
	if _, err = g.claimFor(r.Context(), id, text[0]); err != nil {
		return err
	}
	wire.Empty(w, http.StatusNoContent)
	return nil
}

// button handles the request of Gmail for a pressed button. Iris signed the URL of the button, and the URL expires. The
// route accepts only POST, because scanners of mail follow links with GET.
func (g *gmail) button(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	id, err := strconv.ParseInt(q.Get("msg_id"), 10, 64)
	switch {
	case g.oneClick == nil:
		return fault.New(fault.Forbidden, "Gmail's button is switched off")
	case g.oneClick.Verify(q, time.Now()) != nil:
		return fault.New(fault.Forbidden, "The link has expired, or Iris did not sign it")
	case err != nil:
		return fault.Invalidf("msg_id", oneClickKeys)
	case q.Get("cmd") != "claim":
		return fault.Invalidf("cmd", oneClickOnly)
	}
	text, err := g.claimFor(r.Context(), messages.ID(id), q.Get("email_address"))
	switch {
	case err != nil:
		return err
	case text == textUnknownSource:
		return fault.New(fault.Invalid, textUnknownSource)
	}
	wire.Empty(w, http.StatusNoContent)
	return nil
}

// claimFor claims the incident of a message for the owner of the e-mail address.
func (g *gmail) claimFor(ctx context.Context, id messages.ID, email string) (string, error) {
	record := messages.Answer{Mode: users.Email, Source: "button", MessageID: id, Content: "claim"}
	text, err := g.carryOut(ctx, mailSender(email), messages.Reply{Command: messages.CommandClaim, MessageID: id},
		&record)
	return g.recordForRelay(ctx, text, err, record)
}
