package messages

import (
	"context"
	"net/http"
	"time"

	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/filters"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/users"
)

// MessageInList is a message as lists show it.
type MessageInList struct {
	ID             ID             `json:"id"`
	State          State          `json:"state"`
	IncidentID     *incidents.ID  `json:"incident_id"`
	NotificationID *int64         `json:"notification_id"`
	Application    string         `json:"application"`
	Target         string         `json:"target"`
	Plan           operation.Text `json:"plan"`
	Mode           users.Mode     `json:"mode"`
	Priority       operation.Text `json:"priority"`
	Step           int            `json:"step"`
	Destination    operation.Text `json:"destination" doc:"null = not known yet, or hidden from the caller. Of webhooks and push devices, only the person and administrators see all; others see the host and a fingerprint. Callers who may only read see destinations of people who are on call now."`
	Subject        string         `json:"subject"`
	Body           string         `json:"body"`
	CreatedAt      time.Time      `json:"created_at"`
	SentAt         *time.Time     `json:"sent_at"`
}

// MessageDetail is a message with all that is known of it.
type MessageDetail struct {
	MessageInList
	Purpose     Purpose        `json:"purpose" doc:"Why it exists: primary, copy, fallback, tracking, direct, digest, follow-up and its number, resolved-notice, owner-notice, update."`
	Repeat      int            `json:"repeat" doc:"The round of the notification, from 0."`
	Template    operation.Text `json:"template" doc:"null = the built-in text."`
	Batch       operation.Text `json:"batch" doc:"The digest that it belongs to or is."`
	ModeChanged bool           `json:"mode_changed" doc:"It was sent by another mode than the one that was chosen first."`
	EmailHTML   operation.Text `json:"email_html"`
	Attempts    []Call         `json:"attempts" doc:"Calls of vendors."`
	Changes     []Change       `json:"changes" doc:"Newest first."`
}

// Call is one call of a vendor.
type Call struct {
	Vendor     string         `json:"vendor"`
	Account    string         `json:"account"`
	Mode       users.Mode     `json:"mode"`
	Outcome    operation.Text `json:"outcome"`
	InDoubt    bool           `json:"in_doubt"`
	Detail     operation.Text `json:"detail"`
	StartedAt  time.Time      `json:"started_at"`
	FinishedAt *time.Time     `json:"finished_at"`
	VendorID   operation.Text `json:"vendor_message_id"`
	Receipt    operation.Text `json:"receipt" doc:"The last status of the vendor, in its words."`
}

// One names a message.
type One struct {
	ID ID `path:"id" json:"id"`
}

// Filter selects messages.
type Filter struct {
	operation.Paging
	operation.Period
	Application    string `query:"application" json:"application,omitempty" doc:"The name of an application."`
	Target         string `query:"target" json:"target,omitempty" doc:"Who the message is for."`
	Mode           string `query:"mode" json:"mode,omitempty" doc:"A mode, such as email or sms."`
	Priority       string `query:"priority" json:"priority,omitempty" doc:"A priority, such as high."`
	Plan           string `query:"plan" json:"plan,omitempty" doc:"The name of a plan."`
	State          string `query:"state" json:"state,omitempty" doc:"A state: pending, taken, sending, sent, delivered, failed, cancelled, aggregated or dropped."`
	Purpose        string `query:"purpose" json:"purpose,omitempty" doc:"A purpose, such as fallback."`
	Vendor         string `query:"vendor" json:"vendor,omitempty" doc:"The name of a vendor that was called, such as twilio."`
	Batch          string `query:"batch" json:"batch,omitempty" doc:"The name of a digest."`
	Subject        string `query:"subject" json:"subject,omitempty" doc:"A part of the subject, in any case."`
	Text           string `query:"body" json:"body,omitempty" doc:"A part of the text, in any case."`
	Destination    string `query:"destination" json:"destination,omitempty" doc:"A part of the address or number, in any case."`
	IncidentID     int64  `query:"incident_id" json:"incident_id,omitempty" minimum:"1" doc:"The number of an incident."`
	NotificationID int64  `query:"notification_id" json:"notification_id,omitempty" minimum:"1" doc:"The number of a notification."`
}

// OfIncident selects the messages of an incident.
type OfIncident struct {
	ID incidents.ID `path:"id" json:"id"`
	operation.Paging
}

// The operations on messages.
var (
	List = operation.Define[Filter, operation.Page[MessageInList]](operation.Doc{Name: "message.list", Method: http.MethodGet,
		Path: "/v1/messages", Needs: operation.Reader, Summary: "Messages, newest first",
		Note: "With filters, a page may have fewer items than limit and still a next: go on until next is null. A search by destination finds only messages whose destination the caller sees. 403: callers who may only read cannot search by destination."})
	Get = operation.Define[One, MessageDetail](operation.Doc{Name: "message.get", Method: http.MethodGet,
		Path: "/v1/messages/{id}", Needs: operation.Reader, Rule: operation.Confined,
		Summary: "A message with the calls of vendors"})
	ListOfIncident = operation.Define[OfIncident, operation.Page[MessageInList]](operation.Doc{Name: "incident.messages",
		Method: http.MethodGet, Path: "/v1/incidents/{id}/messages", Needs: operation.Reader,
		Rule: operation.Confined, Summary: "The messages of an incident, newest first"})
)

// Messages are the operations on messages. They are safe for concurrent use.
type Messages struct {
	List           operation.Op[Filter, operation.Page[MessageInList]]
	Get            operation.Op[One, MessageDetail]
	ListOfIncident operation.Op[OfIncident, operation.Page[MessageInList]]

	seen     Seen
	incident func(ctx context.Context, id incidents.ID) (incidents.Incident, error)
}

// NewMessages returns the operations. incident reads an incident; one that does not exist is a NotFound fault.
func NewMessages(s Seen, incident func(ctx context.Context, id incidents.ID) (incidents.Incident, error)) *Messages {
	m := &Messages{seen: s, incident: incident}
	m.List, m.Get, m.ListOfIncident = List.By(m.list), Get.By(m.get), ListOfIncident.By(m.ofIncident)
	return m
}

func row(m Message) MessageInList {
	return MessageInList{ID: m.ID, State: m.State, IncidentID: operation.OrNull(m.IncidentID),
		NotificationID: operation.OrNull(m.RequestID), Application: m.Application, Target: m.Target,
		Plan: operation.Text(m.Plan), Mode: m.Mode, Priority: operation.Text(m.Priority), Step: m.Step,
		Destination: operation.Text(m.Destination), Subject: m.Subject, Body: m.Body, CreatedAt: m.CreatedAt.UTC(),
		SentAt: operation.OrNull(m.SentAt.UTC())}
}

func place(m Message) filters.Place { return filters.Place{At: m.CreatedAt, ID: int64(m.ID)} }

func (m *Messages) reader(by operation.Actor) filters.Reader[Message] {
	return func(ctx context.Context, q filters.Query) ([]Message, error) { return m.seen.List(ctx, by, q) }
}

func (m *Messages) list(ctx context.Context, by operation.Actor, f Filter) (out operation.Page[MessageInList], err error) {
	var q filters.Query
	for field, text := range map[string]string{"application": f.Application, "target": f.Target, "mode": f.Mode,
		"priority": f.Priority, "plan": f.Plan, "state": f.State, "purpose": f.Purpose, "vendor": f.Vendor,
		"batch": f.Batch} {
		q.Add(field, filters.Eq, text)
	}
	for field, part := range map[string]string{"subject": f.Subject, "body": f.Text, "destination": f.Destination} {
		q.Add(field, filters.Contains, part)
	}
	q.Add("incident_id", filters.Eq, f.IncidentID)
	q.Add("request_id", filters.Eq, f.NotificationID)
	f.Period.Add(&q)
	if err := f.Newest(&q); err != nil {
		return out, err
	}
	found, next, err := m.reader(by).Search(ctx, q, place)
	return operation.PageTo(found, next, row), err
}

// ofIncident reads the incident only for a confined caller, and for a number that none has.
func (m *Messages) ofIncident(ctx context.Context, by operation.Actor, of OfIncident) (out operation.Page[MessageInList], err error) {
	if by.Application != 0 || of.ID <= 0 {
		found, err := m.incident(ctx, of.ID)
		if err := by.Reached(found.Application, err); err != nil {
			return out, err
		}
	}
	q := filters.Query{Conditions: []filters.Condition{filters.Equal("incident_id", int64(of.ID))}}
	if err := of.Newest(&q); err != nil {
		return out, err
	}
	found, next, err := m.reader(by).Page(ctx, q, place)
	return operation.PageTo(found, next, row), err
}

func (m *Messages) get(ctx context.Context, by operation.Actor, one One) (out MessageDetail, err error) {
	found, err := m.seen.Get(ctx, by, one.ID)
	if err != nil {
		return out, err
	}
	out = MessageDetail{MessageInList: row(found), Purpose: found.Purpose, Repeat: found.Repeat,
		Template: operation.Text(found.Template), Batch: operation.Text(found.Batch), ModeChanged: found.ModeChanged,
		EmailHTML: operation.Text(found.EmailHTML), Attempts: make([]Call, len(found.Attempts)), Changes: []Change{}}
	changes, err := m.seen.Store.Changes(ctx, one.ID)
	if err != nil {
		return out, err
	}
	for _, c := range changes {
		c.At = c.At.UTC()
		out.Changes = append(out.Changes, c)
	}
	receipts := map[string]string{} // by vendor
	for i, a := range found.Attempts {
		if _, known := receipts[a.Vendor]; !known {
			if receipts[a.Vendor], err = m.seen.Store.ReceiptStatus(ctx, one.ID, a.Vendor); err != nil {
				return out, err
			}
		}
		out.Attempts[i] = Call{Vendor: a.Vendor, Account: a.Account, Mode: a.Mode, Outcome: operation.Text(a.Outcome),
			InDoubt: a.InDoubt, Detail: operation.Text(a.Detail), StartedAt: a.StartedAt.UTC(),
			FinishedAt: operation.OrNull(a.FinishedAt.UTC()), VendorID: operation.Text(a.VendorMessageID),
			Receipt: operation.Text(receipts[a.Vendor])}
	}
	return out, nil
}
