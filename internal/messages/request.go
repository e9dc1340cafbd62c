package messages

import (
	"context"
	"encoding/json"
	"time"

	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/users"
)

// Request asks for the words of one message, in the mode it is about to leave by. It carries what the queue row knows;
// everything else is loaded through Words, once per batch.
type Request struct {
	MessageID   ID
	IncidentID  incidents.ID // 0 = out of band
	RequestID   int64        // 0 = of an incident
	PlanID      int64        // of the incident; 0 = out of band
	Step        int
	Position    int
	Purpose     Purpose
	Mode        users.Mode
	Priority    users.Priority
	Target      string // name of the recipient, or the literal destination
	Template    string // name; "" = none
	AckURL      string // signed acknowledgement link, "" when nothing can be acknowledged
	IncidentURL string // page of the incident, "" when unknown
	// Batch is set for a digest: its number, how many pages it stands for, the name of their application and the address from
	// which its e-mails come.
	Batch       string
	BatchSize   int
	Application string
	Sender      string
	// Override, when not empty, is the whole text of an SMS instead of what the template says (a carrier blocks it).
	Override string
	// Prefix stands before the text of an SMS (a legal notice).
	Prefix string
	// Note explains why this recipient gets the message; it stands before the body. Empty for most: a message of purpose
	// Fallback says whom it was meant for and why it does not go there.
	Note string
	// Plain asks for the built-in text instead of the template (two processes died over it, or an operator wants so).
	Plain bool
}

// Content is the words of a message, shaped for its mode and safe to store and to hand to a vendor: valid UTF-8
// without NUL, subject at most 255 characters and on one line, body at most 40,000 characters.
//
// For sms and call, Body is the whole text to send or say: subject, body and how to acknowledge, cut to what the mode
// carries; Subject is for the record only. For e-mail, EmailHTML is always filled. For e-mail and Slack, Body ends with
// the acknowledgement link when there is one, unless the template printed it itself. For webhook and drop, nothing is
// added.
type Content struct {
	Subject     string
	Body        string
	EmailHTML   string
	Application string
	Plan        string
	ShownTo     string // e-mail: recipients to be named, separated by commas; "" = the destination alone
	Sender      string // sender address instead of the vendor's configured one; "" = that
	Slack       SlackWords
	// Problem says why the template did not give these words (missing, failing, too big, quarantined) in a sentence for
	// the timeline and for message_contents.render_error; then they are the built-in plain text. "" = the template did.
	Problem string
	// Replaced tells that the text is Request.Override.
	Replaced bool
}

// IncidentWords is what templates and the built-in text may say of an incident.
type IncidentWords struct {
	Context       json.RawMessage // in the sender's key order
	CreatedAt     time.Time
	PlanID        int64
	Application   string
	TitleVariable string // the application's; "" = none
	Sender        string // address from which its e-mails come; "" = the configured one
	Markup        bool   // the application's contexts contain markup on purpose: nothing is escaped
}

// RequestWords is an accepted out-of-band notification.
type RequestWords struct {
	Application string
	Subject     string
	Body        string
	EmailHTML   string
	Template    string
	Context     json.RawMessage // nil = none
	Sender      string          // address from which e-mails come; "" = the configured one
	Bare        bool            // the subject stays as it is
	Markup      bool            // the application's texts contain markup on purpose: nothing is escaped
	ShownTo     string          // recipients that mails name, separated by commas; "" = their own
}

// PlanWords is what rendering needs of one immutable plan version.
type PlanWords struct {
	Name     string
	Tracking json.RawMessage // application -> {email_subject, email_text, email_html} or {body}; nil = none
	Dynamic  []StepPosition  // notifications whose target came with the incident
}

// StepPosition names a notification within a plan.
type StepPosition struct{ Step, Position int }

// TemplateKey names the content of a template for one application and mode. Names are compared case-insensitively.
type TemplateKey struct {
	Template    string
	Application string
	Mode        users.Mode
}

// TemplateContent is what the active version of a template says.
type TemplateContent struct {
	Subject   string
	Body      string
	EmailHTML string
}

// Found tells how far the look-up of a TemplateKey came, so that a problem can name what is missing.
type Found struct {
	Template    bool // an active template of that name exists
	Application bool // it has some content for the application
	Mode        bool // it has content for the mode: Content is filled
	Content     TemplateContent
}

// Words loads what rendering needs, one query per kind and batch. What does not exist is absent from the result.
// Implementations are called from several goroutines at once; the results are not modified by the caller.
type Words interface {
	Incidents(ctx context.Context, ids []incidents.ID) (map[incidents.ID]IncidentWords, error)
	Requests(ctx context.Context, ids []int64) (map[int64]RequestWords, error)
	Plans(ctx context.Context, ids []int64) (map[int64]PlanWords, error)
	Templates(ctx context.Context, keys []TemplateKey) (map[TemplateKey]Found, error)
	// Detours returns why messages went to somebody else than they were meant for: their last change of target.
	Detours(ctx context.Context, ids []ID) (map[ID]Change, error)
}
