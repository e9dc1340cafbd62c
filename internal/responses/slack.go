package responses

import (
	"context"
	"net/http"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/wire"
)

// Pressed is a button that somebody pressed under a message.
type Pressed struct {
	MessageID   messages.ID // from the value of the button
	Timestamp   string      // Slack's id of the message with the button; "" = unknown
	Acts        bool        // it acknowledges; a pressed link does not
	All         bool        // for every active incident that paged the person
	UserID      string
	UserName    string
	ResponseURL string
}

func (s *Responses) slack(w http.ResponseWriter, r *http.Request) {
	body, r, err := wire.Body(w, r, 256<<10)
	if err != nil {
		s.d.Errors.Write(w, r, err)
		return
	}
	if s.d.SlackPressed == nil {
		s.d.Errors.Write(w, r, fault.New(fault.Forbidden, "Slack is not configured: set the signing secret"))
		return
	}
	pressed, err := s.d.SlackPressed(r.Header, body, time.Now())
	if err != nil {
		if fault.Is(err, fault.Unauthenticated) {
			s.d.Log.Warn("request without a valid Slack signature refused; check the signing secret and the clock", zap.Error(err))
		}
		s.d.Errors.Write(w, r, err)
		return
	}
	if !pressed.Acts {
		w.WriteHeader(http.StatusOK)
		return
	}
	cmd := messages.Reply{Command: messages.CommandClaim, MessageID: pressed.MessageID}
	if pressed.All {
		cmd.Command = messages.CommandClaimAll
	}
	kept := messages.Answer{Mode: users.Slack, Source: "button", MessageID: cmd.MessageID, Content: string(cmd.Command)}
	said := ""
	if err = s.underItsMessage(r.Context(), pressed); err == nil {
		said, err = s.answerSlack(r.Context(), pressed, cmd, &kept)
	}
	if explained(err) {
		said, err = fault.Public(err), nil
	}
	if err != nil {
		s.d.Errors.Write(w, r, err)
		return
	}
	kept.Result = said
	s.keep(r.Context(), kept)
	s.tellSlack(r.Context(), pressed.ResponseURL, said)
	wire.JSON(w, http.StatusOK, map[string]any{"text": said, "replace_original": false})
}

func (s *Responses) answerSlack(ctx context.Context, p Pressed, cmd messages.Reply, kept *messages.Answer) (string, error) {
	user, err := s.slackUser(ctx, p, cmd)
	if fault.Is(err, fault.NotFound) {
		return textUnknownSource, nil
	}
	if err != nil {
		return "", err
	}
	return s.obeyUser(ctx, user, incidents.ViaSlack, cmd, kept)
}

// underItsMessage checks that the button belongs to the message that its value names. Anybody can write a value into a message;
// Slack says which message carries the button.
func (s *Responses) underItsMessage(ctx context.Context, p Pressed) error {
	var carriers []messages.ID
	if p.Timestamp != "" {
		found, err := s.d.Posted.SlackMessages(ctx, p.Timestamp, p.MessageID)
		if err != nil {
			return err
		}
		carriers = found
	}
	if slices.Contains(carriers, p.MessageID) {
		return nil
	}
	if len(carriers) == 0 {
		if unknown, err := s.d.Posted.SlackUnknown(ctx, p.MessageID); unknown || err != nil {
			return err
		}
	}
	s.d.Log.Warn("a Slack button was refused: it names another message than the one that it belongs to",
		zap.Int64("message_id", int64(p.MessageID)), zap.String("slack_ts", p.Timestamp), zap.String("slack_user", p.UserID))
	return fault.New(fault.Forbidden, "This button does not belong to the message that it names.")
}

// slackUser finds the person who pressed. What Slack guarantees comes first: the member's id, then the e-mail address that Slack has of the
// member, as a contact for Slack or for mail. The name in the payload comes last, because members choose it themselves.
func (s *Responses) slackUser(ctx context.Context, p Pressed, cmd messages.Reply) (users.User, error) {
	find := func(mode users.Mode, contact string) (users.User, error) {
		if contact == "" {
			return users.User{}, fault.New(fault.NotFound, "nobody has that Slack contact")
		}
		return s.identify(ctx, from{mode, contact, incidents.ViaSlack}, cmd)
	}
	user, err := find(users.Slack, p.UserID)
	if !fault.Is(err, fault.NotFound) {
		return user, err
	}
	email := s.slackEmail(ctx, p.UserID)
	for _, mode := range []users.Mode{users.Slack, users.Email} {
		if user, err = find(mode, email); !fault.Is(err, fault.NotFound) {
			return user, err
		}
	}
	return find(users.Slack, p.UserName)
}

// slackEmail asks Slack for a member's address; "" = it is not known. Slack wants an answer to the button in three seconds.
func (s *Responses) slackEmail(ctx context.Context, userID string) string {
	if userID == "" || s.d.SlackEmail == nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	email, err := s.d.SlackEmail(ctx, userID)
	if err != nil {
		s.d.Log.Warn("Slack does not say who pressed a button", zap.Error(err))
	}
	return email
}

// tellSlack shows the answer under the message. Block buttons ignore the HTTP answer, so it goes to the response URL as well.
func (s *Responses) tellSlack(ctx context.Context, responseURL, text string) {
	if responseURL == "" || s.d.ReplySlack == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	if err := s.d.ReplySlack(ctx, responseURL, text); err != nil {
		s.d.Log.Warn("Slack did not take the answer to a button", zap.Error(err))
	}
}
