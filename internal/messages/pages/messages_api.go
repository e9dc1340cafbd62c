// This file serves the messages and notifications of /v1. A notification is an out-of-band request of an application. A
// message goes to one recipient, for an incident or a notification.

package pages

import (
	"context"
	"net/http"
	"slices"
	"strconv"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/filters"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/notifications"
	"github.com/iris-oncall/iris/internal/web/listing"
	"github.com/iris-oncall/iris/internal/web/routing"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// Messages reads messages of the queue and of history. A message that does not exist is a NotFound fault.
type Messages interface {
	List(ctx context.Context, q filters.Query) ([]messages.Message, error)
	Get(ctx context.Context, id messages.ID) (messages.Message, error)
	// Changes returns what changed about a message, newest first.
	Changes(ctx context.Context, id messages.ID) ([]messages.Change, error)
	// ReceiptStatus returns the last status in the words of the vendor; "" = there is no receipt.
	ReceiptStatus(ctx context.Context, id messages.ID, vendor string) (string, error)
}

// Notifications reads notifications. A notification that does not exist is a NotFound fault.
type Notifications interface {
	List(ctx context.Context, q filters.Query) ([]messages.Accepted, error)
	Get(ctx context.Context, id int64) (messages.Accepted, error)
}

// Deps are the parts that the routes work on. All are required.
type Deps struct {
	Messages      Messages
	Notifications Notifications
	Acceptor      *notifications.Acceptor
	// Reached returns a NotFound fault if the caller does not reach the incidents.
	Reached func(ctx context.Context, ids ...incidents.ID) error
	// Wake wakes the processors of changed buckets; it never blocks.
	Wake func(context.Context, buckets.Set)
}

// The routes by resource.
type (
	sent     struct{ Deps }
	requests struct{ Deps }
)

// Routes returns the routes on the parts.
func Routes(d Deps) []routing.Route {
	return slices.Concat(sent{d}.routes(), requests{d}.routes())
}

func (a sent) routes() []routing.Route {
	return []routing.Route{
		routing.Get("/v1/messages", routing.Someone, a.all().Answer),
		routing.Get("/v1/messages/{id}", routing.Someone, a.get),
		routing.Get("/v1/incidents/{id}/messages", routing.Someone, a.ofIncident),
	}
}

// object is a message on the wire.
type object struct {
	ID             messages.ID `json:"id"`
	State          string      `json:"state"`
	IncidentID     *int64      `json:"incident_id"`
	NotificationID *int64      `json:"notification_id"`
	Application    string      `json:"application"`
	Target         string      `json:"target"`
	Plan           *string     `json:"plan"`
	Mode           string      `json:"mode"`
	Priority       *string     `json:"priority"`
	Step           int         `json:"step"`
	Destination    *string     `json:"destination"`
	Subject        string      `json:"subject"`
	Body           string      `json:"body"`
	CreatedAt      *string     `json:"created_at"`
	SentAt         *string     `json:"sent_at"`
}

// whole is a message as its own route shows it.
type whole struct {
	object
	Purpose     string       `json:"purpose"`
	Repeat      int          `json:"repeat"`
	Template    *string      `json:"template"`
	Batch       *string      `json:"batch"`
	ModeChanged bool         `json:"mode_changed"`
	EmailHTML   *string      `json:"email_html"`
	Attempts    []apiAttempt `json:"attempts"`
	Changes     []apiChange  `json:"changes"`
}

// apiChange is a change of the mode, the target, the text or the outcome.
type apiChange struct {
	At          *string `json:"at"`
	Type        string  `json:"type"`
	Old         string  `json:"old"`
	New         string  `json:"new"`
	Description string  `json:"description"`
}

// apiAttempt is one call of a vendor.
type apiAttempt struct {
	Vendor     string  `json:"vendor"`
	Account    string  `json:"account"`
	Mode       string  `json:"mode"`
	Outcome    *string `json:"outcome"`
	InDoubt    bool    `json:"in_doubt"`
	Detail     *string `json:"detail"`
	StartedAt  *string `json:"started_at"`
	FinishedAt *string `json:"finished_at"`
	VendorID   *string `json:"vendor_message_id"`
	Receipt    *string `json:"receipt"`
}

func show(m messages.Message) object {
	return object{ID: m.ID, State: string(m.State), IncidentID: listing.OrNull(int64(m.IncidentID)),
		NotificationID: listing.OrNull(m.RequestID),
		Application:    m.Application, Target: m.Target, Plan: listing.OrNull(m.Plan), Mode: string(m.Mode), Priority: listing.OrNull(string(m.Priority)), Step: m.Step,
		Destination: listing.OrNull(m.Destination), Subject: m.Subject, Body: m.Body, CreatedAt: listing.Time(m.CreatedAt), SentAt: listing.Time(m.SentAt)}
}

func (a sent) all() listing.List[messages.Message] {
	return listing.List[messages.Message]{
		Read: a.Messages.List, Texts: []string{"application", "target", "mode", "priority", "plan", "state", "purpose",
			"vendor", "batch"}, More: []string{"incident_id", "notification_id", "subject", "body", "destination"},
		Further: further, Endless: true, Show: func(m messages.Message) any { return show(m) },
		Place: func(m messages.Message) filters.Place { return filters.Place{At: m.CreatedAt, ID: int64(m.ID)} },
	}
}

// further adds the conditions of the parameters with numbers, and of those with a part of a text.
func further(q listing.Query, to *filters.Query) error {
	for _, name := range []string{"subject", "body", "destination"} {
		part, err := q.StorableText(name)
		if err != nil {
			return err
		}
		if part != "" {
			to.Conditions = append(to.Conditions, filters.Condition{Field: name, Op: filters.Contains,
				Values: []any{part}})
		}
	}
	for name, field := range map[string]string{"incident_id": "incident_id", "notification_id": "request_id"} {
		n, ok, err := q.Number(name)
		if err != nil {
			return err
		}
		if ok {
			to.Conditions = append(to.Conditions, listing.Equal(field, n))
		}
	}
	return nil
}

func (a sent) ofIncident(w http.ResponseWriter, r *http.Request) error {
	n, err := number(r)
	if err != nil {
		return err
	}
	if err := a.Reached(r.Context(), incidents.ID(n)); err != nil {
		return err
	}
	return a.all().AnswerWhere(w, r, listing.Equal("incident_id", n))
}

func (a sent) get(w http.ResponseWriter, r *http.Request) error {
	n, err := number(r)
	if err != nil {
		return err
	}
	m, err := a.Messages.Get(r.Context(), messages.ID(n))
	if err != nil {
		return err
	}
	changes, err := a.Messages.Changes(r.Context(), messages.ID(n))
	if err != nil {
		return err
	}
	body := whole{object: show(m), Purpose: string(m.Purpose), Repeat: m.Repeat, Template: listing.OrNull(m.Template),
		Batch: listing.OrNull(m.Batch), ModeChanged: m.ModeChanged,
		EmailHTML: listing.OrNull(m.EmailHTML), Attempts: make([]apiAttempt,
			len(m.Attempts)), Changes: make([]apiChange, len(changes))}
	for i, c := range changes {
		body.Changes[i] = apiChange{listing.Time(c.At), c.Type, c.Old, c.New, c.Description}
	}
	receipts := map[string]string{} // by vendor
	for _, t := range m.Attempts {
		if _, known := receipts[t.Vendor]; !known {
			if receipts[t.Vendor], err = a.Messages.ReceiptStatus(r.Context(), m.ID, t.Vendor); err != nil {
				return err
			}
		}
	}
	for i, t := range m.Attempts {
		body.Attempts[i] = apiAttempt{Vendor: t.Vendor, Account: t.Account,
			VendorID: listing.OrNull(t.VendorMessageID), Receipt: listing.OrNull(receipts[t.Vendor]), Mode: string(t.Mode), Outcome: listing.OrNull(string(t.Outcome)), InDoubt: t.InDoubt,
			Detail: listing.OrNull(t.Detail), StartedAt: listing.Time(t.StartedAt), FinishedAt: listing.Time(t.FinishedAt)}
	}
	return routing.Answer(w, http.StatusOK, body)
}

// number returns the number in the path. A text that is not a number is a NotFound fault.
func number(r *http.Request) (int64, error) {
	n, err := strconv.ParseInt(wire.Param(r, "id"), 10, 64)
	if err != nil || n <= 0 {
		return 0, fault.New(fault.NotFound, "there is nothing with this number")
	}
	return n, nil
}

func (a requests) routes() []routing.Route {
	return []routing.Route{
		routing.Get("/v1/notifications", routing.Someone, a.all().Answer),
		routing.Post("/v1/notifications", routing.Write, a.send),
		routing.Get("/v1/notifications/{id}", routing.Someone, a.get),
	}
}

// notification is a notification on the wire.
type notification struct {
	ID          int64   `json:"id"`
	Application string  `json:"application"`
	Subject     string  `json:"subject"`
	Template    *string `json:"template"`
	CreatedAt   *string `json:"created_at"`
}

func showRequest(n messages.Accepted) any {
	return notification{ID: n.ID, Application: n.Application, Subject: n.Subject, Template: listing.OrNull(n.Template),
		CreatedAt: listing.Time(n.CreatedAt)}
}

func (a requests) all() listing.List[messages.Accepted] {
	return listing.List[messages.Accepted]{
		Read: a.Notifications.List, Texts: []string{"application"}, Show: showRequest, Endless: true,
		Place: func(n messages.Accepted) filters.Place { return filters.Place{At: n.CreatedAt, ID: n.ID} },
	}
}

func (a requests) get(w http.ResponseWriter, r *http.Request) error {
	n, err := number(r)
	if err != nil {
		return err
	}
	found, err := a.Notifications.Get(r.Context(), n)
	if err != nil {
		return err
	}
	return routing.Answer(w, http.StatusOK, showRequest(found))
}
