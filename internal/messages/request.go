package messages

import (
	"context"
	"encoding/json"
	"time"

	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/users"
)

// Request asks to render one message, in the mode in which it is about to be sent. It holds the data of the queue row;
// Loader reads the rest, once per batch.
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
	AckURL      string // signed acknowledgement link, "" if there is nothing to acknowledge
	IncidentURL string // page of the incident, "" when unknown
	// Batch is set for a digest: its id, the number of its pages, the name of their application and the sender address
	// of its e-mails.
	Batch       string
	BatchSize   int
	Application string
	Sender      string
	// Override, if not empty, is the whole text of an SMS, in place of the template's (for a carrier that blocks it).
	Override string
	// Prefix is put before the text of an SMS (a legal notice).
	Prefix string
	// Note says why this recipient gets the message; it is put before the body. Usually empty. In a message of purpose
	// Fallback it says for whom the message was and why it does not go there.
	Note string
	// Plain asks for the built-in text in place of the template (two processes died while rendering it, or an operator
	// asked for it).
	Plain bool
}

// Content is a rendered message, shaped for its mode and safe to store and to send: valid UTF-8 without NUL, subject at
// most 255 characters and on one line, body at most 40,000 characters.
//
// For sms and call, Body is the whole text to send or say: subject, body and how to acknowledge, cut to the mode's
// limit; Subject is for the record only. For e-mail, EmailHTML is always filled. For e-mail and Slack, Body ends with
// the acknowledgement link if there is one, unless the template printed it. For webhook and drop, nothing is added.
type Content struct {
	Subject     string
	Body        string
	EmailHTML   string
	Application string
	Plan        string
	ShownTo     string // e-mail: recipients to name, separated by commas; "" = only the destination
	Sender      string // sender address in place of the vendor's configured one; "" = none
	Slack       SlackText
	// Problem says why the template's text is not used (missing, failing, too big, suspended): a sentence for the
	// timeline and for message_contents.render_error. Then the content is the built-in text. "" = the template's text
	// is used.
	Problem string
	// Replaced: the text is Request.Override.
	Replaced bool
}

// IncidentData is what templates and the built-in text may show of an incident.
type IncidentData struct {
	Context       json.RawMessage // in the sender's key order
	CreatedAt     time.Time
	PlanID        int64
	Application   string
	TitleVariable string // the application's; "" = none
	Owner         string // who acknowledged it; "" = nobody
	Sender        string // sender address of its e-mails; "" = the configured one
	Markup        bool   // the application's contexts contain markup on purpose: nothing is escaped
}

// RequestData is an accepted out-of-band notification.
type RequestData struct {
	Application string
	Subject     string
	Body        string
	EmailHTML   string
	Template    string
	Context     json.RawMessage // nil = none
	Sender      string          // sender address of its e-mails; "" = the configured one
	Bare        bool            // the subject stays as it is
	Markup      bool            // the application's texts contain markup on purpose: nothing is escaped
	ShownTo     string          // recipients that mails name, separated by commas; "" = only their own
}

// PlanData is what rendering needs of one immutable plan version.
type PlanData struct {
	Name     string
	Tracking json.RawMessage // application -> {email_subject, email_text, email_html} or {body}; nil = none
	Dynamic  []StepPosition  // notifications whose target is given by the incident
}

// StepPosition identifies a notification within a plan.
type StepPosition struct{ Step, Position int }

// TemplateKey identifies the content of a template for one application and mode. Names are compared case-insensitively.
type TemplateKey struct {
	Template    string
	Application string
	Mode        users.Mode
}

// TemplateContent is the content of a template's active version.
type TemplateContent struct {
	Subject   string
	Body      string
	EmailHTML string
}

// Found says how far the look-up of a TemplateKey got, so that a problem can name what is missing.
type Found struct {
	Template    bool // an active template of that name exists
	Application bool // it has some content for the application
	Mode        bool // it has content for the mode: Content is filled
	Content     TemplateContent
}

// Loader reads the data for rendering, one query per kind and batch. The result leaves out what does not exist. It is
// called from several goroutines; the caller does not change the results.
type Loader interface {
	Incidents(ctx context.Context, ids []incidents.ID) (map[incidents.ID]IncidentData, error)
	Requests(ctx context.Context, ids []int64) (map[int64]RequestData, error)
	Plans(ctx context.Context, ids []int64) (map[int64]PlanData, error)
	Templates(ctx context.Context, keys []TemplateKey) (map[TemplateKey]Found, error)
	// Detours returns why messages go to another recipient than planned: their last change of target.
	Detours(ctx context.Context, ids []ID) (map[ID]Change, error)
}
