package irisapi

import (
	"net/http"
	"unicode/utf8"

	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/wire"
)

var messageColumns = columns[messages.Message]{
	{"id", func(m messages.Message) any { return m.ID }},
	{"active", func(m messages.Message) any { return flag(waiting(m)) }},
	{"batch", func(m messages.Message) any { return orNull(m.Batch) }},
	{"created", func(m messages.Message) any { return unix(m.CreatedAt) }},
	{"sent", func(m messages.Message) any { return unix(m.SentAt) }},
	{"destination", func(m messages.Message) any { return orNull(m.Destination) }},
	{"subject", func(m messages.Message) any { return words(m, m.Subject) }},
	{"incident_id", func(m messages.Message) any { return orNull(m.IncidentID) }},
	{"mode", func(m messages.Message) any { return m.Mode }},
	{"application", func(m messages.Message) any { return m.Application }},
	{"priority", func(m messages.Message) any { return orNull(m.Priority) }},
	{"target", func(m messages.Message) any { return m.Target }},
	{"body", func(m messages.Message) any { return words(m, m.Body) }},
	{"mode_changed", func(m messages.Message) any { return flag(m.ModeChanged) }},
	{"target_changed", func(m messages.Message) any { return flag(m.TargetChanged) }},
}

var messageList = list{schema: messages.FilterSchema, columns: messageColumns.names(), limited: true}

// waiting is "active" on the wire: not sent yet, and not given up.
func waiting(m messages.Message) bool {
	return m.State == messages.Aggregated && m.Batch == "" || m.State == messages.Pending || m.State == messages.Taken || m.State == messages.Sending
}

// words is null as long as a message was never rendered.
func words(m messages.Message, text string) any {
	if text == "" && m.SentAt.IsZero() {
		return nil
	}
	return text
}

func (a *API) listMessages(w http.ResponseWriter, r *http.Request) error {
	q, err := messageList.read(w, r)
	if err != nil {
		return err
	}
	if len(q.Conditions) == 0 && q.Limit == 0 {
		return fault.New(fault.Invalid, "Message query too broad, add limit or filter")
	}
	found, err := a.Messages.List(r.Context(), q)
	if err != nil {
		return err
	}
	wire.JSON(w, http.StatusOK, records(messageColumns.pick(q.Fields), found))
	return nil
}

func (a *API) getMessage(w http.ResponseWriter, r *http.Request) error {
	id, ok := pathID(r, "id")
	if !ok {
		return fault.New(fault.Invalid, "Invalid message id")
	}
	m, err := a.Messages.Get(r.Context(), messages.ID(id))
	if err != nil {
		return err
	}
	var page record
	for _, part := range messageColumns.record(m) {
		if part.name != "mode_changed" && part.name != "target_changed" {
			page = append(page, part)
		}
	}
	status, err := a.Messages.ReceiptStatus(r.Context(), m.ID, "twilio")
	if err != nil {
		return err
	}
	page = append(page, member{"twilio_delivery_status", orNull(status)}, member{"generic_message_sent_status", sentStatus(m)})
	wire.JSON(w, http.StatusOK, page)
	return nil
}

// sentStatus is 1 or 0 for what left or failed by another way than Twilio, null otherwise.
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

var changeColumns = columns[messages.Change]{
	{"id", func(c messages.Change) any { return c.ID }},
	{"date", func(c messages.Change) any { return unix(c.At) }},
	{"old", func(c messages.Change) any { return cutChange(c.Old) }},
	{"new", func(c messages.Change) any { return cutChange(c.New) }},
	{"change_type", func(c messages.Change) any { return c.Type }},
	{"description", func(c messages.Change) any { return cutChange(c.Description) }},
}

// maxChange is how long a text of the audit log is on the wire, in characters. The timeline of the incident has the whole.
const maxChange = 250

func cutChange(text string) string {
	if utf8.RuneCountInString(text) <= maxChange {
		return text
	}
	return string([]rune(text)[:maxChange])
}

func (a *API) messageChanges(w http.ResponseWriter, r *http.Request) error {
	id, ok := pathID(r, "id")
	if !ok {
		return fault.New(fault.Invalid, "Invalid message id")
	}
	changes, err := a.Messages.Changes(r.Context(), messages.ID(id))
	if err != nil {
		return err
	}
	wire.JSON(w, http.StatusOK, records(changeColumns, changes))
	return nil
}

// classes are the classes of messages in words.
var classes = map[messages.Class]string{messages.ClassUrgent: "urgent", messages.ClassRoutine: "routine",
	messages.ClassOutOfBand: "out-of-band"}

var queueColumns = columns[messages.QueueDepth]{
	{"mode", func(d messages.QueueDepth) any { return d.Mode }},
	{"application", func(d messages.QueueDepth) any { return d.Application }},
	{"class", func(d messages.QueueDepth) any { return classes[d.Class] }},
	{"waiting", func(d messages.QueueDepth) any { return d.Waiting }},
	{"in_flight", func(d messages.QueueDepth) any { return d.InFlight }},
	{"oldest_seconds", func(d messages.QueueDepth) any { return float64(d.OldestAge.Milliseconds()) / 1000 }},
}

// listQueues tells what waits per mode, application and class. It is ours: Iris kept its queues in memory.
func (a *API) listQueues(w http.ResponseWriter, r *http.Request) error {
	depths, err := a.Queues.Depths(r.Context())
	if err != nil {
		return err
	}
	wire.JSON(w, http.StatusOK, records(queueColumns, depths))
	return nil
}
