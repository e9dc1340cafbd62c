package iris

import (
	"context"
	"fmt"
	"time"

	"github.com/iris-oncall/iris/internal/imports"
)

// messages imports messages into the history, with their audit log, the receipts of vendors and the answers of people. After
// that the progress of incidents is known, and active incidents continue to escalate.
func (im *importer) messages(ctx context.Context) error {
	for _, part := range []func(context.Context) error{im.messageRows, im.changes, im.receipts, im.responses} {
		if err := part(ctx); err != nil {
			return err
		}
	}
	n, err := im.store.Resume(ctx, !im.options.StopActive)
	if err != nil || n == 0 {
		return err
	}
	words := "still escalate there and go on here from where they stand"
	if im.options.StopActive {
		words = "still escalate there and do not here, as asked"
	}
	im.report.Class("incidents").AddReason(imports.Reason{Kind: imports.Note, Text: words, Rows: n})
	return nil
}

func (im *importer) messageRows(ctx context.Context) error {
	failed, err := im.failedMessages(ctx)
	if err != nil {
		return err
	}
	class := im.report.Class("messages")
	f := from{"messages", "message", "id", []string{"id", "batch", "created", "sent", "application_id", "target_id", "destination", "mode_id",
		"plan_id", "priority_id", "subject", "body", "incident_id", "plan_notification_id", "active", "template_id"}}
	out, err := im.store.LoadMessages(ctx, im.records(ctx, f, func(row *imports.Row) ([]any, bool) {
		return im.message(row, failed), true
	}))
	class.AddOutcome(out)
	if err != nil {
		return fmt.Errorf("messages: %w", err)
	}
	return nil
}

// failedMessages reads which messages a vendor other than Twilio did not accept. There are few of them.
func (im *importer) failedMessages(ctx context.Context) (map[int64]bool, error) {
	failed := map[int64]bool{}
	err := im.each(ctx, from{"delivery states", "generic_message_sent_status", "", []string{"message_id", "status"}}, func(row *imports.Row) {
		if !row.Bool("status") {
			failed[row.Int("message_id")] = true
		}
	})
	if err != nil || !im.source.Has("generic_message_sent_status") || !im.source.Has("message") {
		return failed, err
	}
	lost, err := im.source.Count(ctx, "generic_message_sent_status", "message_id not in (select id from message)")
	if lost > 0 {
		class := im.report.Class("delivery states")
		class.Read += lost
		class.AddReason(imports.Reason{Kind: imports.NotTaken, Text: "its message_id is not there", Rows: lost, Whole: true})
	}
	return failed, err
}

func (im *importer) message(row *imports.Row, failed map[int64]bool) []any {
	id := row.Int("id")
	row.Label = fmt.Sprintf("message %d", id)
	sent, wasSent := row.Time("sent")
	if !wasSent && row.Text("sent") != "" {
		row.Note("sent is a zero date: it counts as not sent")
	}
	batch := row.TextOrNil("batch")
	if batch == "" {
		batch = nil
	}
	created := row.TimeOr("created", "sent")
	if im.options.Retention > 0 && created.Before(im.now.Add(-im.options.Retention)) {
		row.Note("is older than history.retention (%dd): the next cleaning of a message-processor throws it away; raise that first to keep it",
			im.options.Retention/(24*time.Hour))
	}
	// History keeps the names of modes and priorities that do not exist here.
	mode, known := im.modes[row.Int("mode_id")]
	if !known && !row.Null("mode_id") {
		row.LoseValue("its mode_id is not there; the rest was taken")
	}
	if ours, ok := im.ourMode(mode); ok {
		mode = ours
	}
	var priority any
	if p, ok := im.priorities[row.Int("priority_id")]; ok {
		priority = p
	} else {
		row.LoseValue("its priority_id is not there; the rest was taken")
	}
	var target any
	if t, ok := im.targets[row.Int("target_id")]; ok {
		target = t.name
	}
	delivery := ""
	if failed[id] {
		delivery = "failed"
	}
	return []any{id, created, instant(sent, wasSent), row.Int("application_id"), row.Int("target_id"), target, row.Text("destination"), mode,
		row.IntOrNil("plan_id"), priority, row.Text("subject"), row.Text("body"), row.IntOrNil("incident_id"),
		row.IntOrNil("plan_notification_id"), row.Bool("active"), row.IntOrNil("template_id"), batch, delivery}
}

func (im *importer) changes(ctx context.Context) error {
	table := imports.Table{Name: "message_changes", Key: []string{"id"}, Columns: []imports.Column{
		{Name: "id", Type: "bigint"}, {Name: "message_id", Type: "bigint", Ref: toMessage}, {Name: "at", Type: "timestamptz"},
		{Name: "change_type", Type: "text"}, {Name: "old", Type: "text"}, {Name: "new", Type: "text"}, {Name: "description", Type: "text"},
	}}
	return im.load(ctx, from{"audit log of messages", "message_changelog", "id", []string{"id", "date", "message_id", "change_type", "old", "new", "description"}}, table,
		func(row *imports.Row) ([]any, bool) {
			row.Label = fmt.Sprintf("change %d of message %d", row.Int("id"), row.Int("message_id"))
			return []any{row.Int("id"), row.Int("message_id"), row.TimeOr("date"), row.Text("change_type"), row.Text("old"), row.Text("new"),
				row.Text("description")}, true
		})
}

// outcomes maps Twilio's final states. A message in another state was still in flight.
var outcomes = map[string]string{"delivered": "delivered", "completed": "delivered", "sent": "sent", "failed": "rejected",
	"undelivered": "rejected", "busy": "unavailable", "no-answer": "unavailable", "canceled": "cancelled"}

// receipts imports Twilio's last status of each message.
func (im *importer) receipts(ctx context.Context) error {
	table := imports.Table{Name: "receipts", Key: []string{"vendor", "vendor_message_id", "message_id"}, Columns: []imports.Column{
		{Name: "vendor", Type: "text"}, {Name: "vendor_message_id", Type: "text"}, {Name: "status", Type: "text", State: true},
		{Name: "outcome", Type: "text", State: true}, {Name: "message_id", Type: "bigint", Ref: toMessage},
	}}
	return im.load(ctx, from{"Twilio's delivery states", "twilio_delivery_status", "twilio_sid", []string{"twilio_sid", "message_id", "status"}}, table,
		func(row *imports.Row) ([]any, bool) {
			sid, status := row.Text("twilio_sid"), row.Text("status")
			row.Label = "state " + sid + " of message " + row.Text("message_id")
			if row.Null("message_id") {
				row.Label = "state " + sid
				row.Skip("it belongs to no message")
				return nil, false
			}
			if status == "" {
				row.Skip("Twilio has said nothing")
				return nil, false
			}
			outcome, ok := outcomes[status]
			if !ok {
				outcome = "sent"
			}
			return []any{"twilio", sid, status, outcome, row.Int("message_id")}, true
		})
}

func (im *importer) responses(ctx context.Context) error {
	table := imports.Table{Name: "responses", Key: []string{"id"}, Columns: []imports.Column{
		{Name: "id", Type: "bigint"}, {Name: "at", Type: "timestamptz"}, {Name: "mode", Type: "text"}, {Name: "source", Type: "text"},
		{Name: "message_id", Type: "bigint", Ref: toMessage}, {Name: "content", Type: "text", Hidden: true}, {Name: "result", Type: "text"},
	}}
	return im.load(ctx, from{"responses", "response", "id", []string{"id", "created", "message_id", "content", "source"}}, table,
		func(row *imports.Row) ([]any, bool) {
			row.Label = fmt.Sprintf("response %d to message %d", row.Int("id"), row.Int("message_id"))
			return []any{row.Int("id"), row.TimeOr("created"), row.Text("source"), "reply", row.Int("message_id"), row.Text("content"),
				"imported from Iris"}, true
		})
}
