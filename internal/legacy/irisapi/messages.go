package irisapi

import (
	"context"
	"net/http"
	"slices"
	"unicode/utf8"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/kit/filters"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/notifications"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/routing"
)

// MessageStore reads messages. For a message that does not exist, Get returns a NotFound fault, and Changes an empty
// list.
type MessageStore interface {
	List(ctx context.Context, q filters.Query) ([]messages.Message, error)
	Get(ctx context.Context, id messages.ID) (messages.Message, error)
	Changes(ctx context.Context, id messages.ID) ([]messages.Change, error)
	// ReceiptStatus returns the last status that a vendor reported for a message; "" = none.
	ReceiptStatus(ctx context.Context, id messages.ID, vendor string) (string, error)
}

// Queues counts the messages that wait for delivery.
type Queues interface {
	Depths(ctx context.Context) ([]messages.QueueDepth, error)
}

// MessagesDeps are the parts that the routes work on. All are required.
type MessagesDeps struct {
	Messages MessageStore
	Queues   Queues
	Acceptor *notifications.Acceptor
	// Refused counts a notification that is refused because too much of the application waits.
	Refused func()
	// Wake wakes the processors of changed buckets; it never blocks.
	Wake func(context.Context, buckets.Set)
}

// The routes by resource.
type (
	messagesReads    struct{ MessagesDeps }
	queues           struct{ MessagesDeps }
	messagesIncoming struct{ MessagesDeps }
)

// MessagesRoutes returns the routes on the parts.
func MessagesRoutes(d MessagesDeps) []routing.Route {
	read, queue, in := messagesReads{d}, queues{d}, messagesIncoming{d}
	return []routing.Route{
		routing.Get("/v0/messages", routing.Read, read.list),
		routing.Get("/v0/messages/{id}", routing.Read, WithID(messagesInvalidID, read.get)),
		routing.Get("/v0/messages/{id}/auditlog", routing.Read, WithID(messagesInvalidID, read.changes)),
		routing.Get("/v0/queues", routing.Someone, queue.list),
		routing.Post("/v0/notifications", routing.Write, in.notify).ForRecent(),
	}
}

const messagesInvalidID = "Invalid message id"

var messagesColumns = Columns[messages.Message]{
	{"id", func(m messages.Message) any { return m.ID }},
	{"active", func(m messages.Message) any { return Flag(waiting(m)) }},
	{"batch", func(m messages.Message) any { return OrNull(m.Batch) }},
	{"created", func(m messages.Message) any { return Unix(m.CreatedAt) }},
	{"sent", func(m messages.Message) any { return Unix(m.SentAt) }},
	{"destination", func(m messages.Message) any { return OrNull(m.Destination) }},
	{"subject", func(m messages.Message) any { return rendered(m, m.Subject) }},
	{"incident_id", func(m messages.Message) any { return OrNull(m.IncidentID) }},
	{"mode", func(m messages.Message) any { return m.Mode }},
	{"application", func(m messages.Message) any { return m.Application }},
	{"priority", func(m messages.Message) any { return OrNull(m.Priority) }},
	{"target", func(m messages.Message) any { return m.Target }},
	{"body", func(m messages.Message) any { return rendered(m, m.Body) }},
	{"mode_changed", func(m messages.Message) any { return Flag(m.ModeChanged) }},
	{"target_changed", func(m messages.Message) any { return Flag(m.TargetChanged) }},
}

var messagesRows = Rows[messages.Message]{Query: List{Schema: messages.FilterSchema, Limited: true},
	Columns:  messagesColumns,
	TooBroad: "Message query too broad, add limit or filter"}

// waiting reports whether a message is "active" on the wire: not sent yet, and not failed or cancelled.
func waiting(m messages.Message) bool {
	return m.State == messages.Aggregated && m.Batch == "" || m.State == messages.Pending ||
		m.State == messages.Taken || m.State == messages.Sending
}

// rendered is nil until a message is rendered.
func rendered(m messages.Message, text string) any {
	if text == "" && m.SentAt.IsZero() {
		return nil
	}
	return text
}

func (a messagesReads) list(w http.ResponseWriter, r *http.Request) error {
	return messagesRows.Answer(w, r, Tags{}, a.Messages.List, nil)
}

func (a messagesReads) get(w http.ResponseWriter, r *http.Request, id messages.ID) error {
	m, err := a.Messages.Get(r.Context(), id)
	if err != nil {
		return err
	}
	onlyInLists := func(part Member) bool { return part.Name == "mode_changed" || part.Name == "target_changed" }
	page := slices.DeleteFunc(messagesColumns.Record(m), onlyInLists)
	status, err := a.Messages.ReceiptStatus(r.Context(), m.ID, "twilio")
	page = append(page, Member{"twilio_delivery_status", OrNull(status)},
		Member{"generic_message_sent_status", sentStatus(m)})
	return Answer(w, page, err)
}

// sentStatus is 1 for a message that was sent and 0 for one that failed. It is nil for other messages, and for SMS and
// calls, whose status is twilio_delivery_status.
func sentStatus(m messages.Message) any {
	if m.Mode == users.SMS || m.Mode == users.Call {
		return nil
	}
	switch m.State {
	case messages.Sent, messages.Delivered:
		return 1
	case messages.Failed:
		return 0
	case messages.Pending, messages.Taken, messages.Sending, messages.Cancelled, messages.Aggregated, messages.Dropped:
	}
	return nil
}

var changeColumns = Columns[messages.Change]{
	{"id", func(c messages.Change) any { return c.ID }},
	{"date", func(c messages.Change) any { return Unix(c.At) }},
	{"old", func(c messages.Change) any { return cutChange(c.Old) }},
	{"new", func(c messages.Change) any { return cutChange(c.New) }},
	{"change_type", func(c messages.Change) any { return c.Type }},
	{"description", func(c messages.Change) any { return cutChange(c.Description) }},
}

// maxChange is the longest text of the audit log on the wire, in characters. The timeline of the incident has the whole
// text.
const maxChange = 250

func cutChange(text string) string {
	if utf8.RuneCountInString(text) <= maxChange {
		return text
	}
	return string([]rune(text)[:maxChange])
}

func (a messagesReads) changes(w http.ResponseWriter, r *http.Request, id messages.ID) error {
	changes, err := a.Messages.Changes(r.Context(), id)
	return Answer(w, changeColumns.Records(changes), err)
}

// classes are the names of the classes of messages.
var classes = map[messages.Class]string{messages.ClassUrgent: "urgent", messages.ClassRoutine: "routine",
	messages.ClassOutOfBand: "out-of-band"}

var queueColumns = Columns[messages.QueueDepth]{
	{"mode", func(d messages.QueueDepth) any { return d.Mode }},
	{"application", func(d messages.QueueDepth) any { return d.Application }},
	{"class", func(d messages.QueueDepth) any { return classes[d.Class] }},
	{"waiting", func(d messages.QueueDepth) any { return d.Waiting }},
	{"in_flight", func(d messages.QueueDepth) any { return d.InFlight }},
	{"oldest_seconds", func(d messages.QueueDepth) any { return float64(d.OldestAge.Milliseconds()) / 1000 }},
}

// list answers with the number of waiting messages by mode, application and class. Iris had no such route.
func (a queues) list(w http.ResponseWriter, r *http.Request) error {
	depths, err := a.Queues.Depths(r.Context())
	return Answer(w, queueColumns.Records(depths), err)
}
