package answers

import (
	"context"
	"net/http"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// SlackDeps are the dependencies of buttons in Slack.
type SlackDeps struct {
	// Pressed checks Slack's signature over the raw body and returns the pressed button. It returns an Unauthenticated
	// fault for a wrong signature and an Invalid fault for any other error. Nil = Slack is not configured.
	Pressed func(header http.Header, body []byte, now time.Time) (Pressed, error) `optional:"true"`
	// Reply posts a text to the response URL of an interaction.
	Reply func(ctx context.Context, responseURL, text string) error `optional:"true"`
	// Email asks Slack for the e-mail address of a member; "" = there is none that Iris may see. Nil = Slack cannot be
	// asked: people are then found by id and name only.
	Email func(ctx context.Context, userID string) (string, error) `optional:"true"`
}

// Pressed is a button that somebody pressed under a message in Slack.
type Pressed struct {
	MessageID   messages.ID // from the value of the button
	Timestamp   string      // Slack's id of the message with the button; "" = unknown
	Acts        bool        // the button acknowledges; a link does not
	All         bool        // the button is for every active incident that paged the person
	UserID      string
	UserName    string
	ResponseURL string
}

// slack serves the buttons in Slack.
type slack struct {
	SlackDeps
	*answers
	log *zap.Logger
}

const (
	// maxSlackBody is the largest body of an interaction, in bytes.
	maxSlackBody = 256 << 10
	// slackTimeout limits each request to Slack while Slack waits for the answer to a button. Slack waits 3 seconds.
	slackTimeout = 2 * time.Second
)

func (s *slack) button(w http.ResponseWriter, r *http.Request) error {
	body, r, err := wire.Body(w, r, maxSlackBody)
	if err != nil {
		return err
	}
	if s.Pressed == nil {
		return fault.New(fault.Forbidden, "Slack is not configured: set the signing secret")
	}
	pressed, err := s.Pressed(r.Header, body, time.Now())
	if err != nil {
		if fault.Is(err, fault.Unauthenticated) {
			s.log.Warn("request without a valid Slack signature refused; check the signing secret and the clock",
				zap.Error(err))
		}
		return err
	}
	if !pressed.Acts {
		w.WriteHeader(http.StatusOK)
		return nil
	}
	command := messages.Reply{Command: messages.CommandClaim, MessageID: pressed.MessageID}
	if pressed.All {
		command.Command = messages.CommandClaimAll
	}
	record := messages.Answer{Mode: users.Slack, Source: "button", MessageID: command.MessageID,
		Content: string(command.Command)}
	text := ""
	if err = s.checkMessage(r.Context(), pressed); err == nil {
		text, err = s.answer(r.Context(), pressed, command, &record)
	}
	if explainable(err) {
		text, err = fault.Public(err), nil
	}
	if err != nil {
		return err
	}
	record.Result = text
	s.record(r.Context(), record)
	s.reply(r.Context(), pressed.ResponseURL, text)
	wire.JSON(w, http.StatusOK, map[string]any{"text": text, "replace_original": false})
	return nil
}

func (s *slack) answer(ctx context.Context, p Pressed, r messages.Reply, record *messages.Answer) (string, error) {
	user, err := s.user(ctx, p, r)
	if fault.Is(err, fault.NotFound) {
		return textUnknownSource, nil
	}
	if err != nil {
		return "", err
	}
	return s.carryOutFor(ctx, user, incidents.ViaSlack, r, record)
}

// checkMessage checks that the button belongs to the message that its value names. Anybody can write a value into a
// message, but Slack reports which message has the button.
func (s *slack) checkMessage(ctx context.Context, p Pressed) error {
	// The order matters: Slack's answer may be recorded between the two queries. Then the second query finds the time
	// stamp.
	unknown, err := s.Store.SlackUnknown(ctx, p.MessageID)
	if err != nil {
		return err
	}
	var posted []messages.ID
	if p.Timestamp != "" {
		if posted, err = s.Store.SlackMessages(ctx, p.Timestamp, p.MessageID); err != nil {
			return err
		}
	}
	if slices.Contains(posted, p.MessageID) || len(posted) == 0 && unknown {
		return nil
	}
	s.log.Warn("a Slack button was refused: its value names another message than the one it belongs to",
		zap.Int64("message_id", int64(p.MessageID)), zap.String("slack_ts", p.Timestamp), zap.String("slack_user",
			p.UserID))
	return fault.New(fault.Forbidden, "This button does not belong to the message that it names.")
}

// user finds the person who pressed the button. It tries the member's id, then the member's e-mail address as a contact
// for Slack and for mail; Slack guarantees both. It tries the member's name last, because members choose it themselves.
func (s *slack) user(ctx context.Context, p Pressed, r messages.Reply) (users.User, error) {
	find := func(mode users.Mode, contact string) (users.User, error) {
		if contact == "" {
			return users.User{}, fault.New(fault.NotFound, "nobody has that Slack contact")
		}
		return s.identify(ctx, sender{mode, contact, incidents.ViaSlack}, r)
	}
	user, err := find(users.Slack, p.UserID)
	if !fault.Is(err, fault.NotFound) {
		return user, err
	}
	email := s.email(ctx, p.UserID)
	for _, mode := range []users.Mode{users.Slack, users.Email} {
		if user, err = find(mode, email); !fault.Is(err, fault.NotFound) {
			return user, err
		}
	}
	return find(users.Slack, p.UserName)
}

// email asks Slack for a member's address; "" = the address is not known.
func (s *slack) email(ctx context.Context, userID string) string {
	if userID == "" || s.Email == nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, slackTimeout)
	defer cancel()
	email, err := s.Email(ctx, userID)
	if err != nil {
		s.log.Warn("Slack did not return the e-mail address of the member who pressed a button", zap.Error(err))
	}
	return email
}

// reply shows the text under the message. Slack ignores the HTTP answer to a block button, so the text goes to the
// response URL too.
func (s *slack) reply(ctx context.Context, responseURL, text string) {
	if responseURL == "" || s.Reply == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), slackTimeout)
	defer cancel()
	if err := s.Reply(ctx, responseURL, text); err != nil {
		s.log.Warn("Slack did not accept the reply to a button", zap.Error(err))
	}
}
