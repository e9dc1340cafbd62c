// Package responses handles the answers of people and vendors: signed links in messages, buttons in Slack, replies by SMS, keys
// pressed on the phone, and delivery receipts. Every acknowledgement ends in the same call as the API's claim, says who did it
// and through which channel. Answers are recorded, understood or not. The routes below /api/v0 are those that existing
// relays serve; requests there need the vendor's own signature. Those below /v0/response are for the
// relays themselves, which sign as applications do.
package responses

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"
	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/load"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/wire"
)

// Pages finds the messages that people answer.
type Pages interface {
	// Asked returns the subject of a message in the queue or in history; a NotFound fault when there is no such message.
	Asked(ctx context.Context, id messages.ID) (messages.AnsweredMessage, error)
	// AskedBatch is Asked for a digest by its number of 32 hexadecimal digits.
	AskedBatch(ctx context.Context, batch string) (messages.AnsweredMessage, error)
	// Newest returns the newest message of an active incident that went to the user; false when there is none.
	Newest(ctx context.Context, user users.ID) (messages.AnsweredMessage, bool, error)
	// Active returns the active incidents that paged the user, with their applications, oldest first.
	Active(ctx context.Context, user users.ID) ([]messages.AnsweredMessage, error)
	// Batch returns the incidents of a digest; none when there is no such digest.
	Batch(ctx context.Context, batch string) ([]incidents.ID, error)
	// Waiting returns those of the incidents that are neither acknowledged nor resolved.
	Waiting(ctx context.Context, ids []incidents.ID) ([]incidents.ID, error)
	// ByContact returns the active user who has the contact verified; phone numbers compare by their digits. A NotFound fault
	// when there is none.
	ByContact(ctx context.Context, mode users.Mode, source string) (users.User, error)
	// ByMessage returns the active recipient of a message if it went to source; a NotFound fault otherwise.
	ByMessage(ctx context.Context, id messages.ID, mode users.Mode, source string) (users.User, error)
	// Record keeps an answer, understood or not.
	Record(ctx context.Context, a messages.Answer) error
	// Mailbox returns the first of the addresses whose mails open incidents; false when none does.
	Mailbox(ctx context.Context, addresses []string) (messages.Mailbox, bool, error)
}

// Posted finds messages by the time stamps that Slack knows them by.
type Posted interface {
	// SlackMessages returns the messages that Slack knows by ts. claimed may be one of history.
	SlackMessages(ctx context.Context, ts string, claimed messages.ID) ([]messages.ID, error)
	// SlackUnknown reports whether Slack may know the message by a time stamp that we do not know.
	SlackUnknown(ctx context.Context, id messages.ID) (bool, error)
}

// Incidents opens and acknowledges. The answer comes when the change is durable.
type Incidents interface {
	Get(ctx context.Context, id incidents.ID) (incidents.Incident, error)
	Open(ctx context.Context, n incidents.New) (incidents.Opened, error)
	Acknowledge(ctx context.Context, c incidents.Change, owner users.User) ([]incidents.Acknowledged, error)
}

// People finds users by id; a NotFound fault when there is none.
type People interface {
	ByID(ctx context.Context, id users.ID) (users.User, error)
}

// Receipts applies the vendors' reports on messages. A receipt that arrives before its message is recorded is kept for a while.
type Receipts interface {
	// Apply reports whether there is a message that the receipt is about.
	Apply(ctx context.Context, r messages.Receipt) (known bool, err error)
}

// Plans finds active plans by name; a NotFound fault when there is none.
type Plans interface {
	Recent(ctx context.Context, name string) (escalation.PlanSteps, error)
	// HasWords reports whether a template of the plan has text for the application.
	HasWords(ctx context.Context, plan escalation.PlanID, applicationID int64) (bool, error)
}

// Load knows the pending work of applications. It decides whether more is accepted, and counts what was accepted.
type Load interface {
	// Overloaded returns zero when there is room; otherwise it is how long the sender should wait.
	Overloaded(ctx context.Context, app auth.Application) (time.Duration, error)
	Accepted(applicationID int64, n int)
}

// Notifications accepts messages to people, durably; it returns the number of the request.
type Notifications interface {
	Create(ctx context.Context, n messages.Notification) (int64, error)
}

// Deps are the parts that answers work on. The vendors' functions are nil when the vendor is not configured; their routes then
// refuse everything.
type Deps struct {
	Pages     Pages
	Posted    Posted
	Incidents Incidents
	People    People
	Receipts  Receipts
	// Authenticator knows the relays, which sign what they pass on.
	Authenticator *wire.Authenticator
	Applications  auth.Applications
	Plans         Plans
	Load          Load
	// Rates bounds how many incidents mails open; nil = any number.
	Rates         *load.Rates
	Notifications Notifications
	Links         *auth.Links
	// OneClick verifies Gmail's button; nil = it is switched off.
	OneClick *auth.OneClick
	// Openings: where sessions may act for anyone, people may pass on the answers of others.
	Openings auth.Openings
	Errors   *wire.Errors
	Wake     func(buckets.Set) // tells the processors of changed buckets; never blocks

	PublicURL string // as configured at the vendors; their signatures cover it
	// ValidTwilio checks Twilio's signature of a request to fullURL with the form as body.
	ValidTwilio func(fullURL string, form url.Values, header http.Header) bool
	// TwilioReceipt reads a status callback. It is always there.
	TwilioReceipt func(url.Values) (messages.Receipt, bool)
	// SlackPressed checks Slack's signature over the raw body and reads which button was pressed. A fault of kind
	// Unauthenticated for a wrong signature, Invalid for anything else that is wrong.
	SlackPressed func(header http.Header, body []byte, now time.Time) (Pressed, error)
	// ReplySlack posts a text to the response URL of an interaction.
	ReplySlack func(ctx context.Context, responseURL, text string) error
	// SlackEmail asks Slack for the e-mail address of a member by id; "" = there is none that we may see. Nil = Slack
	// cannot be asked: people are then found by id and name only.
	SlackEmail func(ctx context.Context, userID string) (string, error)

	// Reveal puts back the secrets of a stored text that are for the destination; nil = there are none.
	Reveal func(text, destination string) string

	Asset func(name string) string // address of a stylesheet or icon
	Log   *zap.Logger
}

// Responses serves the routes for answers. It is safe for concurrent use.
type Responses struct{ d Deps }

// New checks that every required part is there.
func New(d Deps) (*Responses, error) {
	if d.Pages == nil || d.Posted == nil || d.Incidents == nil || d.People == nil || d.Receipts == nil || d.Links == nil || d.Errors == nil || d.Wake == nil ||
		d.Asset == nil || d.Authenticator == nil || d.Applications == nil || d.Plans == nil || d.Load == nil || d.Notifications == nil || d.TwilioReceipt == nil {
		return nil, errors.New("responses: a part is missing")
	}
	d.PublicURL = strings.TrimRight(d.PublicURL, "/")
	d.Log = d.Log.Named("responses")
	return &Responses{d: d}, nil
}

// Routes mounts the links, the relay's public routes and those for relays.
func (s *Responses) Routes(r chi.Router) {
	r.Get("/ack/{token}", s.showLink)
	r.Head("/ack/{token}", s.showLink) // mail scanners
	r.Post("/ack/{token}", s.followLink)
	r.Post("/api/v0/slack/messages/relay", s.slack)
	r.Group(func(r chi.Router) {
		r.Use(s.twilioOnly)
		r.Post("/api/v0/twilio/messages/relay", s.sms)
		r.Post("/api/v0/twilio/calls/gather", s.gather)
		r.Get("/api/v0/twilio/calls/say", s.say)
		r.Post("/api/v0/twilio/calls/say", s.say)
		r.Post("/api/v0/twilio/calls/relay", s.key)
		r.Post("/api/v0/twilio/status", s.twilioStatus)
	})
	r.Get("/api/v0/slack/authenticate", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		_, _ = w.Write([]byte("Message Received"))
	})
	r.Post("/api/v0/gmail-oneclick/relay", s.oneClick)
	s.signedRoutes(r)
}

// keep records an answer. Losing the record must not undo what the person did, so a failure is only logged.
func (s *Responses) keep(ctx context.Context, a messages.Answer) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if err := s.d.Pages.Record(ctx, a); err != nil {
		s.d.Log.Error("an answer could not be recorded", zap.Int64("message_id", int64(a.MessageID)), zap.Int64("incident_id", int64(a.IncidentID)), zap.Error(err))
	}
}
