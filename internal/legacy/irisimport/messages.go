package irisimport

import (
	"cmp"
	"context"
	"time"

	"github.com/iris-oncall/iris/internal/legacy/imports"
)

// messages imports messages into the history, with their audit log, the receipts of vendors and the answers of people.
// After that the progress of incidents is known, and active incidents continue to escalate.
func (im *importer) messages(ctx context.Context) error {
	failed, err := im.failedMessages(ctx)
	if err != nil {
		return err
	}
	if err := im.Load(ctx, append([]imports.Table{im.messageTable(failed)}, messageParts()...)...); err != nil {
		return err
	}
	n, err := im.store.Resume(ctx, !im.options.StopActive)
	if err != nil || n == 0 {
		return err
	}
	text := "still escalate in Iris and continue here in their step"
	if im.options.StopActive {
		text = "still escalate in Iris and do not here, because of --active stop"
	}
	im.Report.Class("incidents").AddReason(imports.Reason{Kind: imports.Note, Text: text, Rows: n})
	return nil
}

// failedMessages reads which messages a vendor other than Twilio did not accept. There are few of them.
func (im *importer) failedMessages(ctx context.Context) (map[int64]bool, error) {
	failed := map[int64]bool{}
	const table = "generic_message_sent_status"
	err := im.Each(ctx, imports.From{Class: "delivery states", Table: table, Columns: "message_id status"}, func(row *imports.Row) {
		if !row.Bool("status") {
			failed[row.Int("message_id")] = true
		}
	})
	if err != nil || !im.Source.Has(table) || !im.Source.Has("message") {
		return failed, err
	}
	lost, err := im.Source.Count(ctx, table, "message_id not in (select id from message)")
	if lost > 0 {
		class := im.Report.Class("delivery states")
		class.Read += lost
		class.AddReason(imports.Reason{Kind: imports.NotTaken,
			Text: "its message_id refers to a row that does not exist", Rows: lost, Whole: true})
	}
	return failed, err
}

// messageTable describes messages. The store computes the other values of the history, such as step and state.
func (im *importer) messageTable(failed map[int64]bool) imports.Table {
	return imports.Table{
		Class: "messages", From: "message", Order: "id", Label: "message $id", Name: "message_history", Columns: []imports.Column{
			idColumn(), {Name: "created_at", Type: "timestamptz", From: "created", Value: im.created},
			{Name: "sent_at", Type: "timestamptz", From: "sent", Value: sent}, // null = not sent
			{Name: "application_id", Type: "bigint"}, {Name: "target_id", Type: "bigint"},
			{Name: "target", From: "target_id", Value: im.former}, // null = does not exist
			{Name: "destination"}, {Name: "mode", From: "mode_id", Value: im.formerMode}, // "" = not decided
			{Name: "plan_id", Type: "bigint"}, // null = out of band
			{Name: "priority", From: "priority_id", Value: func(row *imports.Row, column string) any {
				name := im.former(row, column)
				if name == nil {
					row.LoseValue("its priority_id refers to a row that does not exist; the rest was taken")
				}
				return name
			}},
			{Name: "subject"}, {Name: "body"}, {Name: "incident_id", Type: "bigint"}, // null = out of band
			{Name: "notification_id", Type: "bigint", From: "plan_notification_id"},
			{Name: "waiting", Type: "boolean",
				From: "active"}, // neither sent nor cancelled
			{Name: "template_id", Type: "bigint"}, {Name: "batch", Value: imports.FilledOrNil}, // null = not aggregated
			{Name: "failed", Type: "boolean", From: "id",
				Value: func(row *imports.Row, column string) any { return failed[row.Int(column)] }},
		},
	}
}

func (im *importer) created(row *imports.Row, _ string) any {
	created := row.TimeOr("created", "sent")
	if im.options.Retention > 0 && created.Before(im.now.Add(-im.options.Retention)) {
		row.Note("it is older than history.retention (%dd): a message-processor will delete it; to keep it, raise history.retention first",
			im.options.Retention/(24*time.Hour))
	}
	return created
}

func sent(row *imports.Row, column string) any {
	if t, ok := row.Time(column); ok {
		return t
	}
	if row.Text(column) != "" {
		row.Note("sent is a zero date: it counts as not sent")
	}
	return nil
}

// former returns the name of an object, which may have no row here; nil = the source has none.
func (im *importer) former(row *imports.Row, column string) any {
	if name := im.NameOf(row, column); name != "" {
		return name
	}
	return nil
}

// formerMode returns the mode of a message. History keeps the names of modes that do not exist here.
func (im *importer) formerMode(row *imports.Row, column string) any {
	mode := im.NameOf(row, column)
	if mode == "" && !row.Null(column) {
		row.LoseValue("its mode_id refers to a row that does not exist; the rest was taken")
	}
	ours, _ := im.Modes.Ours(mode)
	return ours
}

// outcomes maps Twilio's final states. A message in another state was still in flight.
var outcomes = map[string]string{"delivered": "delivered", "completed": "delivered", "sent": "sent",
	"failed":      "rejected",
	"undelivered": "rejected", "busy": "unavailable", "no-answer": "unavailable", "canceled": "cancelled"}

// messageParts describes changes of messages, Twilio's last status of each message, and answers.
func messageParts() []imports.Table {
	constant := func(name, value string) imports.Column {
		return imports.Column{Name: name, Value: func(*imports.Row, string) any { return value }}
	}
	message := imports.Column{Name: "message_id", Ref: toMessage}
	return []imports.Table{{
		Class: "audit log of messages", From: "message_changelog", Order: "id", Label: "change $id of message $message_id",
		Name: "message_changes", Columns: []imports.Column{
			idColumn(), message, {Name: "at", Type: "timestamptz", From: "date"},
			{Name: "change_type"}, {Name: "old"}, {Name: "new"}, {Name: "description"},
		},
	}, {
		Class: "Twilio's delivery states", From: "twilio_delivery_status", Order: "twilio_sid", Label: "state $twilio_sid of message $message_id",
		Name: "receipts", Key: []string{"vendor", "vendor_message_id", "message_id"}, Columns: []imports.Column{
			constant("vendor", "twilio"), {Name: "vendor_message_id", From: "twilio_sid"},
			{Name: "status", State: true, Value: func(row *imports.Row, column string) any {
				status := row.Text(column)
				switch {
				case row.Null("message_id"):
					row.Skip("it belongs to no message")
				case status == "":
					row.Skip("Twilio has sent no status")
				}
				return status
			}},
			{Name: "outcome", State: true, From: "status", Value: func(row *imports.Row, column string) any {
				return cmp.Or(outcomes[row.Text(column)], "sent")
			}}, message,
		},
	}, {
		Class: "responses", From: "response", Order: "id", Label: "response $id to message $message_id", Name: "responses",
		Columns: []imports.Column{
			idColumn(), {Name: "at", Type: "timestamptz", From: "created"}, {Name: "mode",
				From: "source"}, constant("source", "reply"), message,
			{Name: "content", Hidden: true}, constant("result", "imported from Iris"),
		},
	}}
}
